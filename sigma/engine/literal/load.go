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

// word returns word i of a bitmap. The caller has masked i with the number of
// words less one, a power of two, which the compiler cannot know.
func word(bitmap []uint64, i uint32) uint64 {
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(bitmap)), uintptr(i)*8))
}
