package format

import (
	"strings"

	"github.com/sluicehq/sluice/sigma/event"
)

// logfmt reads pairs separated by blanks. A key alone is true.
func logfmt(s string) (pairs []event.Pair) {
	for {
		s = strings.TrimLeft(s, " \t")
		if s == "" {
			return pairs
		}
		i := strings.IndexAny(s, "= \t")
		switch {
		case i < 0:
			return append(pairs, event.Pair{Key: s, Value: "true"})
		case i == 0: // a value without a key
			s = s[word(s):]
			continue
		case s[i] != '=':
			pairs = append(pairs, event.Pair{Key: s[:i], Value: "true"})
			s = s[i:]
			continue
		}
		key := s[:i]
		s = s[i+1:]
		var value string
		if strings.HasPrefix(s, `"`) {
			value, s = logfmtQuoted(s[1:])
		} else {
			n := word(s)
			value, s = s[:n], s[n:]
		}
		pairs = append(pairs, event.Pair{Key: key, Value: value})
	}
}

// word is the length of the run of non-blanks at the start of s.
func word(s string) int {
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return i
	}
	return len(s)
}

// logfmtQuoted reads up to the next quote that is not escaped, or the end.
func logfmtQuoted(s string) (value, rest string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:]
		case c == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}
