package ingest

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

const (
	everyLow  = 0x0101010101010101
	everyHigh = 0x8080808080808080
)

// plain reports whether none of eight bytes needs a look: all are ASCII, and none is a
// control character, a quote or a backslash.
func plain(w uint64) bool {
	quote, slash := w^everyLow*'"', w^everyLow*'\\'
	return (w|w-everyLow*0x20|quote-everyLow|slash-everyLow)&everyHigh == 0
}

// appendText appends s as what stands between the quotes of a JSON string. Bytes that are
// no UTF-8 become U+FFFD.
func appendText(dst, s []byte) []byte {
	from, i := 0, 0
	for i < len(s) {
		if len(s)-i >= 8 && plain(binary.LittleEndian.Uint64(s[i:])) {
			i += 8
			continue
		}
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[from:i]...), "\uFFFD"...)
				from = i + 1
			}
			i += n
		case c == '"' || c == '\\':
			dst = append(append(dst, s[from:i]...), '\\', c)
			i++
			from = i
		case c < ' ':
			dst = appendControl(append(dst, s[from:i]...), c)
			i++
			from = i
		default:
			i++
		}
	}
	return append(dst, s[from:]...)
}

func appendControl(dst []byte, c byte) []byte {
	switch c {
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

// appendString appends s as a JSON string.
func appendString(dst, s []byte) []byte { return append(appendText(append(dst, '"'), s), '"') }

// appendHex appends s in hexadecimal digits, as a JSON string.
func appendHex(dst, s []byte) []byte { return append(hex.AppendEncode(append(dst, '"'), s), '"') }

// appendDouble appends v as encoding/json would, and null for what is no number.
func appendDouble(dst []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(dst, "null"...)
	}
	form := byte('f')
	if abs := math.Abs(v); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		form = 'e'
	}
	dst = strconv.AppendFloat(dst, v, form, -1, 64)
	if n := len(dst); form == 'e' && dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' {
		dst = append(dst[:n-2], dst[n-1]) // e-09
	}
	return dst
}

// clock writes times, and remembers the second of the last one.
type clock struct {
	second int64
	known  bool
	text   [len("2006-01-02T15:04:05.")]byte
}

// appendTime appends the time so many nanoseconds after 1970 as a JSON string.
func (c *clock) appendTime(dst []byte, nanos uint64) []byte {
	second := int64(nanos / 1e9)
	if !c.known || second != c.second {
		time.Unix(second, 0).UTC().AppendFormat(c.text[:0], "2006-01-02T15:04:05.")
		c.second, c.known = second, true
	}
	dst = append(append(dst, '"'), c.text[:]...)
	var fraction [9]byte
	rest := nanos % 1e9
	for i := len(fraction) - 1; i >= 0; i-- {
		fraction[i] = byte('0' + rest%10)
		rest /= 10
	}
	return append(append(dst, fraction[:]...), 'Z', '"')
}
