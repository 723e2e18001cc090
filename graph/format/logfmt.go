package format

import (
	"github.com/sluicehq/sluice/sigma/engine"
)

// alone is the value of a key that stands alone.
var alone = []byte("true")

// logfmt adds pairs separated by blanks. A key alone is true.
func logfmt(p *engine.Pairs, s []byte) {
	for {
		for len(s) > 0 && blank(s[0]) {
			s = s[1:]
		}
		if len(s) == 0 {
			return
		}
		i := 0
		for i < len(s) && s[i] != '=' && !blank(s[i]) {
			i++
		}
		key, rest := s[:i], s[i:]
		switch {
		case i == 0: // a value without a key
			s = s[word(s):]
			continue
		case len(rest) == 0 || rest[0] != '=':
			p.Add(key, alone)
			s = rest
			continue
		}
		if s = rest[1:]; len(s) > 0 && s[0] == '"' {
			s = s[1:]
			end, escaped := unescaped(s, '"')
			after := end + 1
			if end < 0 {
				end, after = len(s), len(s)
			}
			if escaped || end == len(s) {
				p.AddUnescaped(key, s[:end], unescapeLogfmt)
			} else {
				p.Add(key, s[:end])
			}
			s = s[after:]
			continue
		}
		n := word(s)
		p.Add(key, s[:n])
		s = s[n:]
	}
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// word is the length of the run of non-blanks at the start of s.
func word(s []byte) int {
	if i := indexEither(s, ' ', '\t'); i >= 0 {
		return i
	}
	return len(s)
}

// unescapeLogfmt appends a quoted value without the backslashes before quotes and
// backslashes.
func unescapeLogfmt(dst, s []byte) []byte { return unescape(dst, s, `"\`, "") }
