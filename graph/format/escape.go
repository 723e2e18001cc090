package format

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// unescaped is the position of the first c that no backslash escapes, and whether a
// backslash is before it. The position is negative where there is none.
func unescaped(s []byte, c byte) (at int, escaped bool) {
	for {
		n := indexEither(s[at:], c, '\\')
		if n < 0 {
			return -1, escaped
		}
		if at += n; s[at] == c {
			return at, escaped
		}
		escaped = true
		if at += 2; at >= len(s) {
			return -1, true
		}
	}
}

// indexEither is the position of the first a or b, or negative. It looks at eight bytes at
// a time.
func indexEither(s []byte, a, b byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	as, bs := ones*uint64(a), ones*uint64(b)
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := binary.LittleEndian.Uint64(s[i:])
		x, y := w^as, w^bs // of both, a byte that is found is zero
		if found := ((x-ones)&^x | (y-ones)&^y) & highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(s); i++ {
		if s[i] == a || s[i] == b {
			return i
		}
	}
	return -1
}

// unescape appends s without the backslashes before the characters of plain, and what
// those before the letters n and r, where controls names them, stand for.
func unescape(dst, s []byte, plain, controls string) []byte {
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 || i+1 == len(s) {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		switch c := s[i+1]; {
		case has(plain, c):
			dst = append(dst, c)
		case has(controls, c) && c == 'n':
			dst = append(dst, '\n')
		case has(controls, c):
			dst = append(dst, '\r')
		default: // no escape, and no backslash: those are in every plain
			dst = append(dst, '\\', c)
		}
		s = s[i+2:]
	}
}

func has(set string, c byte) bool {
	for i := range len(set) {
		if set[i] == c {
			return true
		}
	}
	return false
}
