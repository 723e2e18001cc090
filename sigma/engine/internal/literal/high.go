package literal

import (
	"unicode/utf8"
)

// highIndex finds literals with characters outside ASCII, of any length. Each
// is filed under the first such character, and only texts with such characters
// are looked at.
type highIndex struct {
	bitmap  [64]uint64 // of hashed characters
	entries map[rune]*highEntries
}

// highEntries are the literals filed under one character. Many of them are looked up
// by what stands from the character on, or by what stands up to it.
type highEntries struct {
	list   []entry // the offset is that of the character
	after  affixTable
	before affixTable
	filed  bool // in the tables, whose ids are positions in the list
}

func newHighIndex(literals []Literal) *highIndex {
	if len(literals) == 0 {
		return nil
	}
	x := &highIndex{entries: make(map[rune]*highEntries)}
	for _, l := range literals {
		for i, r := range l.Text {
			if r < utf8.RuneSelf {
				continue
			}
			if x.entries[r] == nil {
				x.entries[r] = new(highEntries)
			}
			x.entries[r].list = append(x.entries[r].list, entry{id: l.ID, text: l.Text, offset: uint32(i)})
			h := runeHash(r)
			x.bitmap[h>>6] |= 1 << (h & 63)
			break
		}
	}
	for _, e := range x.entries {
		if len(e.list) > crowd {
			e.file()
		}
	}
	return x
}

// file puts every literal into the table of the side that fewer others share.
func (x *highEntries) file() {
	heads, tails := make(map[string]int), make(map[string]int)
	for i := range x.list {
		e := &x.list[i]
		heads[e.text[:e.offset]]++
		tails[e.text[e.offset:]]++
	}
	var after, before []Literal
	for i := range x.list {
		e := &x.list[i]
		if head, tail := e.text[:e.offset], e.text[e.offset:]; tails[tail] <= heads[head] {
			after = append(after, Literal{tail, uint32(i)})
		} else {
			before = append(before, Literal{head, uint32(i)})
		}
	}
	x.after, x.before, x.filed = newAffixTable(after, false), newAffixTable(before, true), true
}

func runeHash(r rune) uint32 { return uint32(r) * 0x9E3779B1 >> 20 }

// find appends the ids of the literals that the text contains.
func (x *highIndex) find(dst []uint32, text []byte) []uint32 {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if h := runeHash(r); x.bitmap[h>>6]>>(h&63)&1 != 0 && x.entries[r] != nil {
			dst = x.entries[r].find(dst, text, i)
		}
		i += n
	}
	return dst
}

// find appends the ids of the literals whose character stands at position at.
func (x *highEntries) find(dst []uint32, text []byte, at int) []uint32 {
	if !x.filed {
		for i := range x.list {
			dst = x.list[i].verify(dst, text, at)
		}
		return dst
	}
	from := len(dst)
	dst = x.after.find(dst, text[at:])
	dst = x.before.find(dst, text[:at])
	found := dst[from:]
	dst = dst[:from]
	for _, i := range found { // at most one id for each position read
		dst = x.list[i].verify(dst, text, at)
	}
	return dst
}
