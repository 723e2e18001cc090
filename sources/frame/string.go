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

// quotes marks, in the high bit of each byte, quotes. The lowest mark is exact, marks
// above it may be false.
func quotes(x uint64) uint64 {
	x ^= ones * '"'
	return (x - ones) &^ x & highs
}

// controls marks control characters. There are none where it marks nothing.
func controls(x uint64) uint64 { return (x - ones*' ') &^ x & highs }

// closeString goes on with a string, and notes its line breaks. It returns the position
// behind the quote that ends a string of which b has the rest from i on, or one more than
// b is long when the string goes on behind b.
//
// It looks for quotes, and behind one for backslashes: strings that are paths and
// command lines have more of these.
func (s *Scanner) closeString(b []byte, i int) int {
	if s.escaped && i < len(b) {
		s.escaped = false
		s.broken = s.broken || b[i] < ' '
		i++
	}
	from, control := i, uint64(0)
	for {
		for i <= len(b)-word {
			x := binary.LittleEndian.Uint64(b[i:])
			control |= controls(x)
			if m := quotes(x); m != 0 {
				i += bits.TrailingZeros64(m) / 8
				goto found
			}
			i += word
		}
		for ; i < len(b); i++ {
			if b[i] < ' ' {
				control = 1
			}
			if b[i] == '"' {
				goto found
			}
		}
		s.broken = s.broken || control != 0
		s.escaped = endsEscaping(b[from:])
		return len(b) + 1
	found:
		if i == from || b[i-1] != '\\' || !endsEscaping(b[from:i]) {
			s.broken = s.broken || control != 0
			return i + 1
		}
		i++
		from = i
	}
}

// endsEscaping reports whether the last character of a piece of a string escapes what
// follows.
func endsEscaping(b []byte) bool {
	n := len(b)
	for n > 0 && b[n-1] == '\\' {
		n--
	}
	return (len(b)-n)%2 == 1
}
