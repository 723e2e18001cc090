package literal

import "slices"

// tinyTable lets an Index that looks at every second position find literals of
// three and four bytes. A window covers their first three in either alignment;
// where its fourth byte may be any, all such windows are marked in the bitmap.
// The table is asked by three bytes.
type tinyTable struct {
	starts  *[tinyBuckets + 1]uint16 // by a hash of three bytes, into entries
	entries []entry
}

const (
	tinyBuckets = 256
	tinyBytes   = 3
	tinyMask    = 1<<24 - 1
	tinyCase    = caseBits & tinyMask

	// maxTinyMarks is how many windows may be marked before the bitmap lets too
	// much pass.
	maxTinyMarks = 4096
)

// marksOf returns how many windows the literals mark.
func marksOf(tiny []Literal) int { return len(tiny) * 2 * 128 }

func tinyHash(three uint32) uint32 { return three * 0x9E3779B1 >> 24 }

func newTinyTable(literals []Literal, mark func(window uint32)) *tinyTable {
	t := &tinyTable{starts: new([tinyBuckets + 1]uint16)}
	for _, l := range literals {
		first := threeBytes(l.Text)
		for c := range uint32(256) {
			if c|tinyCase&0xFF != c {
				continue // looks like one that has the case bit
			}
			mark(c | first<<8) // met one byte before
			if len(l.Text) == tinyBytes {
				mark(first | c<<24)
			}
		}
		if len(l.Text) > tinyBytes {
			mark(first | uint32(l.Text[tinyBytes])<<24 | windowCase)
		}
		t.entries = append(t.entries, entry{id: l.ID, text: l.Text, window: first})
		t.starts[tinyHash(first)+1]++
	}
	for i := range tinyBuckets {
		t.starts[i+1] += t.starts[i]
	}
	slices.SortStableFunc(t.entries, func(a, b entry) int { return int(tinyHash(a.window)) - int(tinyHash(b.window)) })
	return t
}

func threeBytes[T string | []byte](s T) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | tinyCase
}

// check compares the literals that begin at the window or one byte behind.
func (t *tinyTable) check(dst []uint32, text []byte, at int, w uint32) []uint32 {
	if t.may(w & tinyMask) {
		dst = t.beginning(dst, text, at, w&tinyMask)
	}
	if t.may(w >> 8) {
		dst = t.beginning(dst, text, at+1, w>>8)
	}
	return dst
}

// may reports whether some literal could begin with three bytes.
func (t *tinyTable) may(three uint32) bool {
	h := tinyHash(three)
	return t.starts[h] != t.starts[h+1]
}

func (t *tinyTable) beginning(dst []uint32, text []byte, at int, three uint32) []uint32 {
	h := tinyHash(three)
	for n, end := t.starts[h], t.starts[h+1]; n < end; n++ {
		if e := &t.entries[n]; e.window == three {
			dst = e.verify(dst, text, at)
		}
	}
	return dst
}

// atEnd looks at the last three bytes, where no window begins.
func (t *tinyTable) atEnd(dst []uint32, text []byte) []uint32 {
	at := len(text) - tinyBytes
	if at < 0 {
		return dst
	}
	if three := threeBytes(text[at:]); t.may(three) {
		dst = t.beginning(dst, text, at, three)
	}
	return dst
}
