package event

import (
	"encoding/binary"
	"math/bits"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// foldWord folds eight ASCII characters.
func foldWord(x uint64) uint64 {
	upper := (x + ones*(0x80-'A')) &^ (x + ones*(0x80-'Z'-1)) & highs
	return x | upper>>2
}

// AppendFoldedASCII appends the folded form of the inside of a JSON string whose
// characters are all ASCII and whose escapes are of two bytes each.
func AppendFoldedASCII(dst, inside []byte) []byte {
	at := len(dst)
	need := at + len(inside) + 8
	if cap(dst) < need {
		grown := make([]byte, at, max(need, 2*cap(dst)))
		copy(grown, dst)
		dst = grown
	}
	out := dst[:need]
	i := 0
	for i+8 <= len(inside) {
		x := binary.LittleEndian.Uint64(inside[i:])
		binary.LittleEndian.PutUint64(out[at:], foldWord(x))
		b := x ^ ones*'\\'
		m := (b - ones) &^ b & highs
		if m == 0 {
			i += 8
			at += 8
			continue
		}
		n := bits.TrailingZeros64(m) >> 3
		i += n
		at += n
		if i+1 >= len(inside) {
			break
		}
		out[at] = lowerByte(unescapeByte(inside[i+1]))
		i += 2
		at++
	}
	for i < len(inside) {
		c := inside[i]
		if c == '\\' && i+1 < len(inside) {
			i++
			c = unescapeByte(inside[i])
		}
		out[at] = lowerByte(c)
		i++
		at++
	}
	return out[:at]
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// unescapeByte returns what a backslash before c means.
func unescapeByte(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}
