package binding

import (
	"strconv"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/event"
)

type title struct{}

func (title) AppendText(dst []byte, r *graph.Result) []byte { return append(dst, r.Title()...) }
func (title) AppendJSON(dst []byte, r *graph.Result) []byte {
	return event.AppendQuoted(dst, r.Title())
}

type id struct{}

func (id) AppendText(dst []byte, r *graph.Result) []byte { return append(dst, r.RuleID()...) }
func (id) AppendJSON(dst []byte, r *graph.Result) []byte {
	if id := r.RuleID(); id != "" {
		return event.AppendQuoted(dst, id)
	}
	return append(dst, null...)
}

type level struct{}

func (level) AppendText(dst []byte, r *graph.Result) []byte {
	return append(dst, r.Level().String()...)
}

func (level) AppendJSON(dst []byte, r *graph.Result) []byte {
	if l := r.Level(); l != ast.LevelNone {
		return event.AppendQuoted(dst, l.String())
	}
	return append(dst, null...)
}

type tags struct{}

func (tags) AppendText(dst []byte, r *graph.Result) []byte {
	for i, tag := range r.Tags() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, tag...)
	}
	return dst
}

func (t tags) AppendJSON(dst []byte, r *graph.Result) []byte {
	at := len(dst)
	return quote(t.AppendText(dst, r), at)
}

// quote makes the text dst[at:] a JSON string.
func quote(dst []byte, at int) []byte {
	end := len(dst)
	dst = event.AppendQuoted(dst, dst[at:end])
	return dst[:at+copy(dst[at:], dst[end:])]
}

type correlationType struct{}

func (correlationType) AppendText(dst []byte, r *graph.Result) []byte {
	return append(dst, r.Correlation.Rule.Type...)
}

func (correlationType) AppendJSON(dst []byte, r *graph.Result) []byte {
	return event.AppendQuoted(dst, string(r.Correlation.Rule.Type))
}

type timespan struct{}

func (timespan) AppendText(dst []byte, r *graph.Result) []byte {
	return strconv.AppendInt(dst, r.Correlation.Rule.Timespan, 10)
}

func (t timespan) AppendJSON(dst []byte, r *graph.Result) []byte { return t.AppendText(dst, r) }

type aggregate struct{}

// wholeBelow is the magnitude up to which integers are written as such.
const wholeBelow = 1e15

// AppendText writes the shortest decimal that reads back the same, never with an
// exponent.
func (aggregate) AppendText(dst []byte, r *graph.Result) []byte {
	v := r.Correlation.Value
	if i := int64(v); v > -wholeBelow && v < wholeBelow && float64(i) == v {
		return strconv.AppendInt(dst, i, 10)
	}
	return strconv.AppendFloat(dst, v, 'f', -1, 64)
}

func (a aggregate) AppendJSON(dst []byte, r *graph.Result) []byte { return a.AppendText(dst, r) }

type groupKey struct{}

func (groupKey) AppendText(dst []byte, r *graph.Result) []byte {
	for i := range r.Correlation.Key {
		if i > 0 {
			dst = append(dst, ',')
		}
		p := &r.Correlation.Key[i]
		dst = append(append(append(dst, p.Field...), '='), p.Value...)
	}
	return dst
}

func (g groupKey) AppendJSON(dst []byte, r *graph.Result) []byte {
	at := len(dst)
	return quote(g.AppendText(dst, r), at)
}

type groupValue struct{ field string }

func (g groupValue) AppendText(dst []byte, r *graph.Result) []byte {
	v, _ := r.GroupValue(g.field)
	return append(dst, v...)
}

func (g groupValue) AppendJSON(dst []byte, r *graph.Result) []byte {
	if v, ok := r.GroupValue(g.field); ok {
		return event.AppendQuoted(dst, v)
	}
	return append(dst, null...)
}
