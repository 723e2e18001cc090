package scan

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// load reads eight bytes of b at i, which the caller has checked to be there.
// Checking once more costs a tenth of a scan.
func load(b []byte, i int) uint64 {
	p := (*[word]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))
	return binary.LittleEndian.Uint64(p[:])
}

// stop marks, in the high bit of each byte, quotes, backslashes and control
// characters. The lowest mark is exact, marks above it may be false. Flipping one
// bit puts the quote just above the control characters, so that one subtraction
// finds both.
func stop(x uint64) uint64 {
	return ((x ^ ones*('"'^' ') - ones*(' '+1)) | (x ^ ones*'\\' - ones)) &^ x & highs
}

// scanString reads the string whose opening quote is at i. It returns the
// position behind the closing quote and whether the string has escapes or bytes
// outside ASCII, or a negative position.
func scanString(b []byte, i int) (int, Flags) {
	var high uint64
	var flags Flags
	i++
	for {
		for i <= len(b)-2*word {
			x, y := load(b, i), load(b, i+word)
			if m := stop(x); m != 0 {
				high |= x & (m - 1) // what m has above its lowest mark, x has not
				i += bits.TrailingZeros64(m) >> 3
				goto found
			}
			high |= x
			if m := stop(y); m != 0 {
				high |= y & (m - 1)
				i += word + bits.TrailingZeros64(m)>>3
				goto found
			}
			high |= y
			i += 2 * word
		}
		for ; i < len(b); i++ {
			if c := b[i]; c == '"' || c == '\\' || c < ' ' {
				goto found
			}
			high |= uint64(b[i])
		}
		return -1, 0
	found:
		if b[i] == '"' {
			if high&highs != 0 {
				flags |= High
			}
			return i + 1, flags
		}
		if b[i] != '\\' {
			return -1, 0
		}
		flags |= Escaped
		if i+1 < len(b) && pairs[b[i+1]] {
			i += 2
			continue
		}
		if !unicodeEscape(b[i:]) {
			return -1, 0
		}
		high |= 0x80 // may be anything; looking is left to the slow path
		i += 6
	}
}

// pairs are the characters that make an escape sequence with a backslash alone.
var pairs = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// unicodeEscape reports whether b begins with an escape sequence of six bytes.
func unicodeEscape(b []byte) bool {
	if len(b) < 6 || b[1] != 'u' {
		return false
	}
	for _, c := range b[2:6] {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

// scanNumber reads the number at i, or returns a negative position.
func scanNumber(b []byte, i int) int {
	if i < len(b) && b[i] == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	case i < len(b) && '1' <= b[i] && b[i] <= '9':
		i = digits(b, i)
	default:
		return -1
	}
	if i < len(b) && b[i] == '.' {
		start := i + 1
		if i = digits(b, start); i == start {
			return -1
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		start := i
		if i = digits(b, start); i == start {
			return -1
		}
	}
	return i
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

// SkipSpace returns the first position of b from i on that has no white space.
func SkipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}
