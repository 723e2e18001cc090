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

// AppendPart appends one part of a key or tuple, which is not long.
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

// Part returns part i of an encoded key, encoded; ok is false for a missing one.
func Part(key string, i int) (part string, ok bool) {
	for ; key != ""; i-- {
		size, n := split(key)
		if n == 0 {
			break
		}
		if i == 0 {
			return key[:n], size > 0
		}
		key = key[n:]
	}
	return "", false
}

// split returns the size of the first part of an encoded key, as it is written, and
// where the part ends; 0 for what is no key.
func split(key string) (size uint64, end int) {
	size, used := uvarint(key)
	n := max(size, 1) - 1
	if size > maxText+1 {
		n = hashedPart
	}
	if used <= 0 || n > uint64(len(key)-used) {
		return 0, 0
	}
	return size, used + int(n)
}

// ValidKey reports whether key is the encoding of n parts.
func ValidKey(key string, n int) bool {
	for ; n > 0; n-- {
		_, end := split(key)
		if end == 0 {
			return false
		}
		key = key[end:]
	}
	return key == ""
}

// Cut returns the first part of an encoded key, ok being false for a missing one,
// and what follows it. Of a long one it is what is shown.
func Cut(key string) (part string, ok bool, rest string) {
	switch size, end := split(key); {
	case end == 0:
		return "", false, ""
	case size == 0:
		return "", false, key[end:]
	case size > maxText+1:
		return showLong(size-1, key[end-hashedPart:end-hashText]), true, key[end:]
	default:
		return key[end-int(size)+1 : end], true, key[end:]
	}
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
