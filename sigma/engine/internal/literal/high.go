package literal

import (
	"unicode/utf8"
)

// highIndex finds literals with characters outside ASCII, of any length. Each
// is filed under the first such character, and only texts with such characters
// are looked at.
type highIndex struct {
	bitmap  [64]uint64 // of hashed characters
	entries map[rune][]entry
}

func newHighIndex(literals []Literal) *highIndex {
	if len(literals) == 0 {
		return nil
	}
	x := &highIndex{entries: make(map[rune][]entry)}
	for _, l := range literals {
		for i, r := range l.Text {
			if r < utf8.RuneSelf {
				continue
			}
			x.entries[r] = append(x.entries[r], entry{id: l.ID, text: l.Text, offset: uint32(i)})
			h := runeHash(r)
			x.bitmap[h>>6] |= 1 << (h & 63)
			break
		}
	}
	return x
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
		if h := runeHash(r); x.bitmap[h>>6]>>(h&63)&1 != 0 {
			for _, e := range x.entries[r] {
				dst = e.verify(dst, text, i)
			}
		}
		i += n
	}
	return dst
}
