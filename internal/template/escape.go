package template

import (
	"unicode"
	"unicode/utf8"

	"github.com/sluicehq/sluice/sigma/event"
)

const (
	upperHex = "0123456789ABCDEF"
	lowerHex = "0123456789abcdef"
)

// escapeString makes dst[at:] the inside of a JSON string.
func escapeString(dst []byte, at int) []byte {
	if !needs(dst[at:], func(c byte) bool { return c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf }) {
		return dst
	}
	end := len(dst)
	dst = event.AppendQuoted(dst, dst[at:end])
	return dst[:at+copy(dst[at:], dst[end+1:len(dst)-1])]
}

// escapeURL makes dst[at:] a path segment.
func escapeURL(dst []byte, at int) []byte {
	end := len(dst)
	for _, c := range dst[at:end] {
		if !unreserved(c) {
			dst = append(dst, "  "...)
		}
	}
	for to := len(dst); to > end; {
		end--
		c := dst[end]
		if unreserved(c) {
			to--
			dst[to] = c
			continue
		}
		to -= 3
		dst[to], dst[to+1], dst[to+2] = '%', upperHex[c>>4], upperHex[c&15]
	}
	return dst
}

// unreserved reports whether c means nothing in a URL but itself (RFC 3986, section
// 2.3).
func unreserved(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

// escapeExpression makes dst[at:] the inside of a string of jq, JSONPath or CEL.
func escapeExpression(dst []byte, at int) []byte {
	if !needs(dst[at:], func(c byte) bool { return c < ' ' || c == '"' || c == '\'' || c == '\\' || c >= 0x7F }) {
		return dst
	}
	end := len(dst)
	for i := at; i < end; {
		r, n := utf8.DecodeRune(dst[i:end])
		i += n
		if r == '"' || r == '\'' || r == '\\' || unicode.IsControl(r) {
			dst = append(dst, '\\', 'u', '0', '0', lowerHex[r>>4&15], lowerHex[r&15])
		} else {
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst[:at+copy(dst[at:], dst[end:])]
}

// needs reports whether text has a byte that is special.
func needs(text []byte, special func(byte) bool) bool {
	for _, c := range text {
		if special(c) {
			return true
		}
	}
	return false
}
