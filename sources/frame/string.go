package frame

import (
	"encoding/binary"
	"math/bits"
)

const (
	word  = 8
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// stops marks, in the high bit of each byte, quotes, backslashes and control characters.
// The lowest mark is exact, marks above it may be false. Flipping one bit puts the quote
// just above the control characters, so that one subtraction finds both.
func stops(x uint64) uint64 {
	return ((x ^ ones*('"'^' ') - ones*(' '+1)) | (x ^ ones*'\\' - ones)) &^ x & highs
}

// closeString returns the position behind the quote that ends a string of which b has
// the rest from i on. Behind b it is one more than b is long, and one more still when the
// string goes on behind a backslash.
func closeString(b []byte, i int) int {
	for {
		for i <= len(b)-word {
			if m := stops(binary.LittleEndian.Uint64(b[i:])); m != 0 {
				i += bits.TrailingZeros64(m) / 8
				goto found
			}
			i += word
		}
		for ; i < len(b); i++ {
			if c := b[i]; c == '"' || c == '\\' {
				goto found
			}
		}
		return i + 1
	found:
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
		i++
	}
}
