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

// closeString goes on with a string, and notes its line breaks. It returns the position behind the quote that ends a string of which b has
// the rest from i on, or one more than b is long when the string goes on behind b.
func (s *Scanner) closeString(b []byte, i int) int {
	if s.escaped && i < len(b) {
		s.escaped = false
		s.broken = s.broken || b[i] < ' '
		i++
	}
	for {
		for i <= len(b)-word {
			if m := stops(binary.LittleEndian.Uint64(b[i:])); m != 0 {
				i += bits.TrailingZeros64(m) / 8
				goto found
			}
			i += word
		}
		for ; i < len(b); i++ {
			if c := b[i]; c == '"' || c == '\\' || c < ' ' {
				goto found
			}
		}
		s.escaped = i > len(b)
		return len(b) + 1
	found:
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			i++
			s.broken = s.broken || i < len(b) && b[i] < ' '
		case '\n', '\r':
			s.broken = true
		}
		i++
	}
}
