package literal

import "math/bits"

// table is a hash table from 64-bit keys to runs of literals. It has at least
// twice as many slots as keys.
type table struct {
	slots    []slot
	shift    uint
	literals []Literal
}

type slot struct {
	key        uint64
	start, end uint32 // empty when equal
}

const multiplier = 0x9E3779B97F4A7C15

func newTable(literals []Literal, key func(string) uint64) table {
	if len(literals) == 0 {
		return table{}
	}
	size := bits.Len(uint(2*len(literals) - 1))
	t := table{slots: make([]slot, 1<<size), shift: uint(64 - size), literals: make([]Literal, len(literals))}
	slots := make([]*slot, len(literals)) // by literal
	for i, l := range literals {
		slots[i] = t.slot(key(l.Text))
		slots[i].end++ // counts, until all are known
	}
	end := uint32(0)
	for i := range t.slots {
		s := &t.slots[i]
		s.start, s.end, end = end, end, end+s.end
	}
	for i, s := range slots {
		t.literals[s.end] = literals[i]
		s.end++
	}
	return t
}

// slot returns the slot of a key, a free one when the key is new.
func (t *table) slot(key uint64) *slot {
	for at := key * multiplier >> t.shift; ; at = (at + 1) & uint64(len(t.slots)-1) {
		s := &t.slots[at]
		if s.end == 0 {
			s.key = key
		}
		if s.key == key {
			return s
		}
	}
}

// get returns the literals filed under a key.
func (t *table) get(key uint64) []Literal {
	for at := key * multiplier >> t.shift; ; at = (at + 1) & uint64(len(t.slots)-1) {
		s := &t.slots[at]
		if s.start == s.end {
			return nil
		}
		if s.key == key {
			return t.literals[s.start:s.end]
		}
	}
}

// affixTable files prefixes or suffixes under their outermost eight bytes.
type affixTable struct {
	table
	lengths uint16 // bit n: some literal has a key of n bytes
	last    bool   // suffixes
	empty   []uint32
}

func newAffixTable(literals []Literal, last bool) affixTable {
	t := affixTable{last: last}
	var rest []Literal
	for _, l := range literals {
		if l.Text == "" {
			t.empty = append(t.empty, l.ID)
			continue
		}
		rest = append(rest, l)
		t.lengths |= 1 << min(len(l.Text), 8)
	}
	t.table = newTable(rest, func(s string) uint64 { return t.key([]byte(s), min(len(s), 8)) })
	return t
}

// key packs the outermost n bytes of text.
func (t *affixTable) key(text []byte, n int) uint64 {
	if t.last {
		return lastBytes(text, n)
	}
	return firstBytes(text, n)
}

// has reports whether text begins or ends with s.
func (t *affixTable) has(text []byte, s string) bool {
	if t.last {
		return stands(text, len(text)-len(s), s)
	}
	return stands(text, 0, s)
}

func (t *affixTable) find(dst []uint32, text []byte) []uint32 {
	dst = append(dst, t.empty...)
	for lengths := t.lengths; lengths != 0; lengths &= lengths - 1 {
		n := bits.TrailingZeros16(lengths)
		if n > len(text) {
			break
		}
		for _, l := range t.get(t.key(text, n)) {
			if t.has(text, l.Text) {
				dst = append(dst, l.ID)
			}
		}
	}
	return dst
}

// firstBytes packs the first n bytes of text, n at most 8, with caseBits, so that
// texts of different n differ.
func firstBytes(text []byte, n int) uint64 {
	if len(text) >= 8 {
		return pack(load(text, 0), n)
	}
	var x uint64
	for i := n - 1; i >= 0; i-- {
		x = x<<8 | uint64(text[i])
	}
	return pack(x, n)
}

// lastBytes is the same for the last n bytes.
func lastBytes(text []byte, n int) uint64 {
	if len(text) < 8 {
		return firstBytes(text[len(text)-n:], n)
	}
	return pack(load(text, len(text)-8)>>(8*(8-n)), n)
}

// pack leaves the n lowest bytes of x and marks how many they are.
func pack(x uint64, n int) uint64 {
	x |= caseBits
	if n == 8 {
		return x
	}
	return x&(1<<(8*n)-1) | uint64(n)<<56
}

// exactTable files whole texts under a hash.
type exactTable struct {
	table
	lengths uint64 // bit n: some literal is n bytes long; bit 63: 63 or more
}

func newExactTable(literals []Literal) exactTable {
	var t exactTable
	for _, l := range literals {
		t.lengths |= 1 << min(len(l.Text), 63)
	}
	t.table = newTable(literals, func(s string) uint64 { return whole([]byte(s)) })
	return t
}

func (t *exactTable) find(dst []uint32, text []byte) []uint32 {
	if t.lengths>>min(len(text), 63)&1 == 0 {
		return dst
	}
	for _, l := range t.get(whole(text)) {
		if len(text) == len(l.Text) && stands(text, 0, l.Text) {
			dst = append(dst, l.ID)
		}
	}
	return dst
}

// whole hashes a text by its length and its outermost bytes. Texts that agree in
// all of them share a slot.
func whole(text []byte) uint64 {
	n := len(text)
	if n < 8 {
		return firstBytes(text, n)
	}
	h := (load(text, 0)|caseBits)*multiplier ^ uint64(n)
	h ^= h >> 29
	h = (h ^ (load(text, n-8) | caseBits)) * multiplier
	if n > 16 {
		h ^= h >> 31
		h = (h ^ (load(text, n/2-4) | caseBits)) * multiplier
	}
	return h
}
