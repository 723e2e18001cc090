package inhibit

import (
	"bytes"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/selector"
)

// Rule keeps targets back for Duration seconds behind each source with an equal key. Its
// name is that of its sources, and of no other rule.
type Rule struct {
	Name           string
	Source, Target selector.Matchers
	Equal          []selector.Selector
	Duration       int64
}

// readsEvent reports whether the rule looks at events, which samples do not have.
func (r *Rule) readsEvent() bool {
	for i := range r.Equal {
		if r.Equal[i].ReadsEvent() {
			return true
		}
	}
	return r.Source.ReadsEvent() || r.Target.ReadsEvent()
}

// separator stands in front of each text in a key.
const separator = 0x1F

// appendKey appends the key of a result: the texts of the values of Equal. An absent value
// is the empty text.
func (r *Rule) appendKey(dst []byte, of *graph.Result) []byte {
	for i := range r.Equal {
		dst = append(dst, separator)
		start := len(dst)
		dst, _ = r.Equal[i].AppendText(dst, of)
		dst = escape(dst, start)
	}
	return dst
}

// escape makes the text behind start free of separators, so that two lists of texts have
// one key only if they are equal. Other texts stay as they are.
func escape(dst []byte, start int) []byte {
	const mark = separator - 1
	if bytes.IndexByte(dst[start:], separator) < 0 && bytes.IndexByte(dst[start:], mark) < 0 {
		return dst
	}
	text := bytes.Clone(dst[start:])
	dst = dst[:start]
	for _, c := range text {
		switch c {
		case separator:
			dst = append(dst, mark, 's')
		case mark:
			dst = append(dst, mark, 'm')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
