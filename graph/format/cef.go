package format

import (
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/sigma/event"
)

var cefHeader = [...]string{
	"cef_version", "deviceVendor", "deviceProduct", "deviceVersion", "signatureId", "name", "severity",
}

// cef reads a Common Event Format record, wherever it begins in the line. It
// fails without the marker, with fewer than seven header fields, and for a
// version that is no number.
func cef(s string) (pairs []event.Pair, ok bool) {
	at := strings.Index(s, "CEF:")
	if at < 0 {
		return nil, false
	}
	s = s[at+len("CEF:"):]
	for _, key := range cefHeader {
		i := unescaped(s, '|')
		if i < 0 {
			return nil, false
		}
		pairs = append(pairs, event.Pair{Key: key, Value: unescape(s[:i], `|\`, "")})
		s = s[i+1:]
	}
	version := strings.TrimSpace(pairs[0].Value)
	if _, err := strconv.ParseUint(version, 10, 32); err != nil {
		return nil, false
	}
	pairs[0].Value = version
	return cefExtension(pairs, s), true
}

// cefExtension appends the pairs of an extension. A key is the last word before
// an equals sign; one without a word before it belongs to the value it is in.
func cefExtension(pairs []event.Pair, s string) []event.Pair {
	key, begin := "", -1 // of the value at hand
	start := 0           // of the last word so far
	for from := 0; ; {
		i := unescaped(s[from:], '=')
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
			pairs = append(pairs, event.Pair{Key: key, Value: cefValue(s[begin:start])})
		}
		key, begin = s[start:i], i+1
	}
	if begin >= 0 {
		pairs = append(pairs, event.Pair{Key: key, Value: cefValue(s[begin:])})
	}
	return pairs
}

func cefValue(s string) string { return unescape(strings.TrimSpace(s), `=\`, "nr") }

// unescaped is the position of the first c that no backslash escapes, or -1.
func unescaped(s string, c byte) int {
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

// unescape removes backslashes before the characters of plain and turns those
// before the letters n and r, where controls names them, into what they stand for.
func unescape(s, plain, controls string) string {
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
