package format

import (
	"strconv"
	"strings"
)

var refCEFHeader = [...]string{
	"cef_version", "deviceVendor", "deviceProduct", "deviceVersion", "signatureId", "name", "severity",
}

// refCef reads a Common Event Format record, wherever it begins in the line. It
// fails without the marker, with fewer than seven header fields, and for a
// version that is no number.
func refCef(s string) (pairs []pair, ok bool) {
	at := strings.Index(s, "CEF:")
	if at < 0 {
		return nil, false
	}
	s = s[at+len("CEF:"):]
	for _, key := range refCEFHeader {
		i := refUnescaped(s, '|')
		if i < 0 {
			return nil, false
		}
		pairs = append(pairs, pair{Key: key, Value: refUnescape(s[:i], `|\`, "")})
		s = s[i+1:]
	}
	version := strings.TrimSpace(pairs[0].Value)
	if _, err := strconv.ParseUint(version, 10, 32); err != nil {
		return nil, false
	}
	pairs[0].Value = version
	return refCefExtension(pairs, s), true
}

// refCefExtension appends the pairs of an extension. A key is the last word before
// an equals sign; one without a word before it belongs to the value it is in.
func refCefExtension(pairs []pair, s string) []pair {
	key, begin := "", -1 // of the value at hand
	start := 0           // of the last word so far
	for from := 0; ; {
		i := refUnescaped(s[from:], '=')
		if i < 0 {
			break
		}
		i += from
		if blank := strings.LastIndexByte(s[from:i], ' '); blank >= 0 {
			start = from + blank + 1
		}
		from = i + 1
		if start == i || start < begin {
			continue // no word of its own in front
		}
		if begin >= 0 {
			pairs = append(pairs, pair{Key: key, Value: refCefValue(s[begin:start])})
		}
		key, begin = s[start:i], i+1
	}
	if begin >= 0 {
		pairs = append(pairs, pair{Key: key, Value: refCefValue(s[begin:])})
	}
	return pairs
}

func refCefValue(s string) string { return refUnescape(strings.TrimSpace(s), `=\`, "nr") }

// refUnescaped is the position of the first c that no backslash escapes, or -1.
func refUnescaped(s string, c byte) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case c:
			return i
		}
	}
	return -1
}

// refUnescape removes backslashes before the characters of plain and turns those
// before the letters n and r, where controls names them, into what they stand for.
func refUnescape(s, plain, controls string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch c := s[i+1]; {
			case strings.IndexByte(plain, c) >= 0:
				i++
				b.WriteByte(c)
				continue
			case strings.IndexByte(controls, c) >= 0:
				i++
				b.WriteByte(map[byte]byte{'n': '\n', 'r': '\r'}[c])
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// refLogfmt reads pairs separated by blanks. A key alone is true.
func refLogfmt(s string) (pairs []pair) {
	for {
		s = strings.TrimLeft(s, " \t")
		if s == "" {
			return pairs
		}
		i := strings.IndexAny(s, "= \t")
		switch {
		case i < 0:
			return append(pairs, pair{Key: s, Value: "true"})
		case i == 0: // a value without a key
			s = s[refWord(s):]
			continue
		case s[i] != '=':
			pairs = append(pairs, pair{Key: s[:i], Value: "true"})
			s = s[i:]
			continue
		}
		key := s[:i]
		s = s[i+1:]
		var value string
		if strings.HasPrefix(s, `"`) {
			value, s = refLogfmtQuoted(s[1:])
		} else {
			n := refWord(s)
			value, s = s[:n], s[n:]
		}
		pairs = append(pairs, pair{Key: key, Value: value})
	}
}

// refWord is the length of the run of non-blanks at the start of s.
func refWord(s string) int {
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return i
	}
	return len(s)
}

// refLogfmtQuoted reads up to the next quote that is not escaped, or the end.
func refLogfmtQuoted(s string) (value, rest string) {
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
