package literal

import "math/bits"

// filtered is how many whole texts get a filter in front of their table.
const filtered = 1 << 10

// filter is a set of keys that may claim to have others, about one in fifty: a Bloom
// filter of two bits for each key.
type filter struct {
	words []uint64
	shift uint // from a hash to a word
}

// keysPerWord is the logarithm of how many keys share a word of 64 bits.
const keysPerWord = 2

func newFilter(keys int) *filter {
	size := max(bits.Len(uint(keys-1))-keysPerWord, 1)
	return &filter{make([]uint64, 1<<size), uint(64 - size)}
}

// place returns the word of a key, and its bits in it.
func (f *filter) place(key uint64) (word, mask uint64) {
	h := key * multiplier
	return h >> (f.shift & 63), 1<<(h&63) | 1<<(h>>6&63)
}

func (f *filter) add(key uint64) {
	word, mask := f.place(key)
	f.words[word] |= mask
}

// may reports whether a key may be one of those that were added.
func (f *filter) may(key uint64) bool {
	word, mask := f.place(key)
	return f.words[word]&mask == mask
}
