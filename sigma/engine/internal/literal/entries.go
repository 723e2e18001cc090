package literal

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// entry is a literal filed under one of its windows.
type entry struct {
	window uint32 // with caseBits
	offset uint32 // of the window in the literal
	id     uint32
	text   string
}

// context returns the window and the four bytes behind it, when the literal has
// them.
func (e *entry) context() (uint64, bool) {
	if int(e.offset)+contextBytes > len(e.text) {
		return 0, false
	}
	return binary.LittleEndian.Uint64([]byte(e.text[e.offset:e.offset+contextBytes])) | caseBits, true
}

// verify appends the literal's id when it stands around its window, which was
// met at position at.
func (e *entry) verify(dst []uint32, text []byte, at int) []uint32 {
	if stands(text, at-int(e.offset), e.text) {
		dst = append(dst, e.id)
	}
	return dst
}

// contextBytes tell most literals of one window apart.
const contextBytes = 8

// entryTable is a hash table of entries by a key. Entries of one bucket stand
// together.
type entryTable struct {
	filter  []uint64 // bits of hashed keys, a fraction of the rest: most looks end here
	starts  []uint32 // by bucket, into keys and entries
	sift    uint     // shift from a hash to a bit of the filter
	shift   uint     // and to a bucket
	keys    []uint64
	entries []entry
}

// filterBits is the logarithm of how many bits a filter has for an entry.
const filterBits = 3

func newEntryTable(entries []entry, key func(*entry) uint64) entryTable {
	if len(entries) == 0 {
		return entryTable{}
	}
	size := bits.Len(uint(2 * len(entries)))
	filter := bits.Len(uint(len(entries)-1)|63) + filterBits
	t := entryTable{
		filter: make([]uint64, 1<<filter/64), sift: uint(64 - filter),
		shift: uint(64 - size), starts: make([]uint32, 1<<size+1),
		keys: make([]uint64, len(entries)), entries: make([]entry, len(entries)),
	}
	for i := range entries {
		t.starts[t.bucket(key(&entries[i]))+1]++
	}
	for i := range len(t.starts) - 1 {
		t.starts[i+1] += t.starts[i]
	}
	free := slices.Clone(t.starts)
	for i := range entries {
		k := key(&entries[i])
		at := free[t.bucket(k)]
		free[t.bucket(k)]++
		t.keys[at], t.entries[at] = k, entries[i]
		bit := k * multiplier >> t.sift
		t.filter[bit/64] |= 1 << (bit % 64)
	}
	return t
}

func (t *entryTable) bucket(key uint64) uint64 { return key * multiplier >> (t.shift & 63) }

// may reports whether some entry could have the key.
func (t *entryTable) may(key uint64) bool {
	bit := key * multiplier >> (t.sift & 63)
	return t.filter[bit/64]&(1<<(bit%64)) != 0
}

// check appends the literals of a key that stand around position at.
func (t *entryTable) check(dst []uint32, text []byte, at int, key uint64) []uint32 {
	starts := t.starts[t.bucket(key):]
	for n, end := starts[0], starts[1]; n < end; n++ {
		if t.keys[n] == key {
			dst = t.entries[n].verify(dst, text, at)
		}
	}
	return dst
}
