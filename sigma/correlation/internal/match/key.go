package match

import (
	"encoding/binary"
	"hash/maphash"
	"iter"
)

// seed differs from process to process, so that nobody outside can choose
// values whose keys collide. Hashes are therefore never stored.
var seed = maphash.MakeSeed()

// Hash returns the hash of an encoded key, the same throughout the process.
func Hash(key []byte) uint64 { return maphash.Bytes(seed, key) }

// HashString is Hash of a text.
func HashString(key string) uint64 { return maphash.String(seed, key) }

// AppendPart appends one part of a key or tuple.
func AppendPart[T string | []byte](dst []byte, part T) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(part))+1)
	return append(dst, part...)
}

// AppendMissing appends a part without value, which differs from the empty text.
func AppendMissing(dst []byte) []byte { return append(dst, 0) }

// Parts yields the parts of an encoded key; ok is false for a missing one.
func Parts(key string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		for key != "" {
			part, ok, rest := Cut(key)
			if !yield(part, ok) {
				return
			}
			key = rest
		}
	}
}

// Part returns part i of an encoded key.
func Part(key string, i int) (string, bool) {
	for ; key != ""; i-- {
		part, ok, rest := Cut(key)
		if i == 0 {
			return part, ok
		}
		key = rest
	}
	return "", false
}

// ValidKey reports whether key is the encoding of n parts.
func ValidKey(key string, n int) bool {
	for ; n > 0; n-- {
		size, used := uvarint(key)
		if used <= 0 || size > 0 && size-1 > uint64(len(key)-used) {
			return false
		}
		key = key[used+max(0, int(size)-1):]
	}
	return key == ""
}

// Cut returns the first part of an encoded key, ok being false for a missing one,
// and what follows it.
func Cut(key string) (part string, ok bool, rest string) {
	size, used := uvarint(key)
	if used <= 0 || size > 0 && size-1 > uint64(len(key)-used) {
		return "", false, ""
	}
	if size == 0 {
		return "", false, key[used:]
	}
	return key[used : used+int(size)-1], true, key[used+int(size)-1:]
}

// uvarint is binary.Uvarint for strings.
func uvarint(s string) (v uint64, n int) {
	for i := 0; i < len(s) && i < binary.MaxVarintLen64; i++ {
		v |= uint64(s[i]&0x7f) << (7 * i)
		if s[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
