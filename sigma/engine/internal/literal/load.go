package literal

import (
	"encoding/binary"
	"unsafe"
)

// load reads eight bytes of text at i, which the caller has checked to be there.
// The bounds check that this leaves out costs a fifth of a search.
func load(text []byte, i int) uint64 {
	p := (*[8]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(text)), i))
	return binary.LittleEndian.Uint64(p[:])
}

// window4 returns the window at i, which the caller has checked to be there.
func window4(text []byte, i int) uint32 {
	p := (*[window]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(text)), i))
	return binary.LittleEndian.Uint32(p[:]) | windowCase
}

// Texts come with letters of any case. A window of a text is filed and looked up
// with a bit set that tells the cases of a letter apart; a few other characters
// then look alike, too, until a literal is compared as a whole.
const (
	caseBits = 0x2020202020202020

	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// lower folds the ASCII letters among eight bytes.
func lower(x uint64) uint64 {
	low := x &^ highs
	upper := (low + ones*(0x80-'A')) &^ (low + ones*(0x80-'Z'-1)) &^ x & highs
	return x | upper>>2
}

// stands reports whether text has the literal at from, whatever the case of its
// ASCII letters.
func stands(text []byte, from int, literal string) bool {
	n := len(literal)
	if from < 0 || from+n > len(text) {
		return false
	}
	l := unsafe.Slice(unsafe.StringData(literal), n)
	if n < 8 {
		for i, c := range l {
			t := text[from+i]
			if 'A' <= t && t <= 'Z' {
				t += 'a' - 'A'
			}
			if t != c {
				return false
			}
		}
		return true
	}
	for i := 0; i+8 < n; i += 8 {
		if lower(load(text, from+i)) != load(l, i) {
			return false
		}
	}
	return lower(load(text, from+n-8)) == load(l, n-8)
}

// word returns word i of a bitmap. The caller has masked i with the number of
// words less one, a power of two, which the compiler cannot know.
func word(bitmap []uint64, i uint32) uint64 {
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(bitmap)), uintptr(i)*8))
}
