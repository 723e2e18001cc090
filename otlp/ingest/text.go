package ingest

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

const (
	everyLow  = 0x0101010101010101
	everyHigh = 0x8080808080808080
	// spare is more than one step writes: eight bytes, or what stands for one.
	spare = 16
)

// odd marks, among eight bytes, those that need a look: what is no ASCII, control
// characters, quotes and backslashes. The lowest mark is right, others may be too many.
func odd(w uint64) uint64 {
	quote, slash := w^everyLow*'"', w^everyLow*'\\'
	return (w | (w - everyLow*0x20) | (quote - everyLow) | (slash - everyLow)) & everyHigh
}

// appendString appends s as a JSON string. Bytes that are no UTF-8 become U+FFFD.
func appendString(dst, s []byte) []byte {
	dst = slices.Grow(append(dst, '"'), len(s)+spare)
	out, o := dst[:cap(dst)], len(dst)
	seen := s[:cap(s)] // what lies behind s may be looked at
	var last [8]byte
	for i := 0; i < len(s); {
		if i+8 > len(seen) {
			var rest [8]byte // s may lie in last
			copy(rest[:], s[i:])
			last = rest
			seen, s, i = last[:], last[:len(s)-i], 0
		}
		w := binary.LittleEndian.Uint64(seen[i:])
		binary.LittleEndian.PutUint64(out[o:], w)
		n := min(bits.TrailingZeros64(odd(w))>>3, len(s)-i) // 8 when none is odd
		i, o = i+n, o+n
		if n == 8 || i == len(s) {
			continue
		}
		n = 1
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			var r rune
			if r, n = utf8.DecodeRune(s[i:]); r == utf8.RuneError { // it may be one that stands there
				o += copy(out[o:], "\uFFFD")
			} else {
				o += copy(out[o:], s[i:i+n])
			}
		case c == '"' || c == '\\':
			out[o], out[o+1] = '\\', c
			o += 2
		default:
			o = len(appendControl(out[:o], c))
		}
		if i += n; len(out)-o < len(s)-i+spare {
			dst = slices.Grow(out[:o], 2*(len(s)-i)+spare)
			out = dst[:cap(dst)]
		}
	}
	return append(out[:o], '"')
}

func appendControl(dst []byte, c byte) []byte {
	switch c {
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
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
