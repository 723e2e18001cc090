package event

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendUnquoted decodes a JSON string, quotes included. Lone surrogates and
// bytes that are not UTF-8 become U+FFFD.
func AppendUnquoted(dst, quoted []byte) []byte {
	s := quoted[1 : len(quoted)-1]
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 {
			return AppendValid(dst, s)
		}
		dst = AppendValid(dst, s[:i])
		var r rune
		var n int
		r, n = UnescapeRune(s[i:])
		dst = utf8.AppendRune(dst, r)
		s = s[i+n:]
	}
}

// UnescapeRune reads the escape sequence at the start of s, a surrogate pair
// included, and returns its character and length.
func UnescapeRune(s []byte) (rune, int) {
	switch s[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
	default:
		return rune(s[1]), 2
	}
	r := hex4(s[2:6])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if full := utf16.DecodeRune(r, hex4(s[8:12])); full != utf8.RuneError {
			return full, 12
		}
	}
	return utf8.RuneError, 6
}

func hex4(s []byte) rune {
	var r rune
	for _, c := range s[:4] {
		switch {
		case c <= '9':
			c -= '0'
		case c <= 'F':
			c -= 'A' - 10
		default:
			c -= 'a' - 10
		}
		r = r<<4 | rune(c)
	}
	return r
}

// AppendValid appends s with every byte that is not part of a UTF-8 sequence
// replaced by U+FFFD.
func AppendValid(dst, s []byte) []byte {
	if utf8.Valid(s) {
		return append(dst, s...)
	}
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		dst = utf8.AppendRune(dst, r)
		s = s[n:]
	}
	return dst
}

// AppendQuoted appends s as a JSON string. Nothing is escaped that JSON does not
// demand, so < and & stay as they are.
func AppendQuoted[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	start := 0
	for i := plainPrefix(s); i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			end := min(len(s), i+utf8.UTFMax)
			r, n := utf8.DecodeRuneInString(string(s[i:end]))
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[start:i]...), "\uFFFD"...)
				start = i + 1
			}
			i += n
			continue
		}
		dst = appendEscape(append(dst, s[start:i]...), c)
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

// plainPrefix returns how many leading bytes of s need no escape in a JSON string.
// It looks at eight bytes at a time and may stop early.
func plainPrefix[T string | []byte](s T) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		if special(w) {
			break
		}
	}
	return i
}

// special reports whether one of eight bytes is below ' ', a quote, a backslash or
// beyond ASCII.
func special(w uint64) bool {
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	// The highest bit of such a byte is set; above one it may be set for no reason.
	return ((w-ones*' ')|(quote-ones)|(slash-ones)|w)&highs != 0
}

// IsPlain reports whether s is ASCII that stands in a JSON string as it is.
func IsPlain(s []byte) bool {
	n := len(s)
	if n < 8 {
		var w uint64
		switch {
		case n == 0:
			return true
		case n < 4: // twice the same byte does no harm
			w = ones*' '&^0xffffff | uint64(s[n-1])<<16 | uint64(s[n/2])<<8 | uint64(s[0])
		default:
			w = uint64(binary.LittleEndian.Uint32(s[n-4:]))<<32 | uint64(binary.LittleEndian.Uint32(s))
		}
		return !special(w)
	}
	for i := 0; i < n-8; i += 8 {
		if special(binary.LittleEndian.Uint64(s[i:])) {
			return false
		}
	}
	return !special(binary.LittleEndian.Uint64(s[n-8:]))
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// AppendCompact appends valid JSON text as received, without insignificant
// white space and with U+FFFD for bytes that are not UTF-8.
func AppendCompact(dst, json []byte) []byte {
	start := len(dst)
	for i := 0; i < len(json); {
		switch json[i] {
		case ' ', '\t', '\n', '\r':
			i++
		case '"':
			end := skipString(json, i)
			dst = append(dst, json[i:end]...)
			i = end
		default:
			dst = append(dst, json[i])
			i++
		}
	}
	if utf8.Valid(dst[start:]) {
		return dst
	}
	fixed := AppendValid(nil, dst[start:])
	return append(dst[:start], fixed...)
}
