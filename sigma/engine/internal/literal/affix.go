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

// crowd is how many literals a slot holds at most before it becomes a table of its
// own.
const crowd = 64

// crowds takes the literals of at least least bytes out of the slots that hold more
// than a few, and returns the others in rest; nil crowded means that there are none.
func (t *table) crowds(least int) (crowded, rest []Literal) {
	for i := range t.slots {
		s := &t.slots[i]
		if s.end-s.start <= crowd {
			continue
		}
		for _, l := range t.literals[s.start:s.end] {
			if len(l.Text) >= least {
				crowded = append(crowded, l)
			}
		}
	}
	if crowded == nil {
		return nil, nil
	}
	for i := range t.slots {
		s := &t.slots[i]
		for _, l := range t.literals[s.start:s.end] {
			if s.end-s.start <= crowd || len(l.Text) < least {
				rest = append(rest, l)
			}
		}
	}
	return crowded, rest
}

// affixTable files prefixes or suffixes under their outermost eight bytes.
type affixTable struct {
	table
	lengths uint16 // bit n: some literal has a key of n bytes
	last    bool   // suffixes
	empty   []uint32
	deeper  map[uint64]*affixTable // what is left of many literals with the same outermost eight bytes, by these
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
	key := func(s string) uint64 { return t.key([]byte(s), min(len(s), 8)) }
	t.table = newTable(rest, key)
	crowded, rest := t.crowds(8)
	if crowded == nil {
		return t
	}
	groups := make(map[uint64][]Literal)
	for _, l := range crowded {
		outer, inner := t.cut([]byte(l.Text))
		groups[outer] = append(groups[outer], Literal{string(inner), l.ID})
	}
	t.deeper = make(map[uint64]*affixTable, len(groups))
	for outer, group := range groups {
		inner := newAffixTable(group, last)
		t.deeper[outer] = &inner
	}
	t.table, t.lengths = newTable(rest, key), 0
	for _, l := range rest {
		t.lengths |= 1 << min(len(l.Text), 8)
	}
	return t
}

// cut returns the outermost eight bytes of a text, folded, and the rest of it.
func (t *affixTable) cut(text []byte) (outer uint64, inner []byte) {
	n := len(text) - 8
	if t.last {
		return lower(load(text, n)), text[:n]
	}
	return lower(load(text, 0)), text[8:]
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
	if t.deeper != nil && len(text) >= 8 {
		if outer, inner := t.cut(text); t.deeper[outer] != nil {
			dst = t.deeper[outer].find(dst, inner)
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
	lengths uint64  // bit n: some literal is n bytes long; bit 63: 63 or more
	crowded table   // by a hash of all bytes: literals that share a slot with many
	filter  *filter // of many literals, asked first: it fits a nearer cache than the table
}

func newExactTable(literals []Literal) exactTable {
	var t exactTable
	for _, l := range literals {
		t.lengths |= 1 << min(len(l.Text), 63)
	}
	key := func(s string) uint64 { return whole([]byte(s)) }
	t.table = newTable(literals, key)
	if crowded, rest := t.crowds(0); crowded != nil {
		t.crowded = newTable(crowded, func(s string) uint64 { return everyByte([]byte(s)) })
		t.table = newTable(rest, key)
	}
	if len(literals) >= filtered {
		t.filter = newFilter(len(literals))
		for _, l := range literals {
			t.filter.add(key(l.Text))
		}
	}
	return t
}

func (t *exactTable) find(dst []uint32, text []byte) []uint32 {
	if t.lengths>>min(len(text), 63)&1 == 0 {
		return dst
	}
	key := whole(text)
	if t.filter != nil && !t.filter.may(key) {
		return dst
	}
	if t.slots != nil {
		dst = t.equal(dst, text, key)
	}
	if t.crowded.slots != nil {
		dst = t.crowded.equal(dst, text, everyByte(text))
	}
	return dst
}

// equal appends the literals filed under a key that the text equals.
func (t *table) equal(dst []uint32, text []byte, key uint64) []uint32 {
	for _, l := range t.get(key) {
		if len(text) == len(l.Text) && stands(text, 0, l.Text) {
			dst = append(dst, l.ID)
		}
	}
	return dst
}

// everyByte hashes all bytes of a text, whatever the case of its ASCII letters.
func everyByte(text []byte) uint64 {
	h := uint64(len(text))
	for ; len(text) >= 8; text = text[8:] {
		h = (h ^ lower(load(text, 0))) * multiplier
		h ^= h >> 29
	}
	for _, c := range text {
		h = (h ^ lower(uint64(c))) * multiplier
		h ^= h >> 29
	}
	return h
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
