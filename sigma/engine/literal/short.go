package literal

import (
	"slices"
)

// shortIndex finds literals too short for an Index. It looks at windows of three
// bytes at every second position. A literal of three bytes that begins between
// two looks is met by its last two, so it is filed under these with every byte
// behind.
type shortIndex struct {
	bitmap  *[shortWords]uint64 // of hashed windows
	starts  []uint16            // by the upper bits of a window's hash, into entries
	entries []entry
	pairs   []entry // literals of three bytes, ascending by their last two
}

const (
	shortWords   = 1024 // 8 KiB
	shortBuckets = 1 << 10
	shortWindow  = 3
	shortMask    = 1<<24 - 1

	// MinShort is the length of the shortest literal a Set finds inside texts.
	MinShort = shortWindow
)

func shortHash(w uint32) uint32 { return (w & shortMask) * 0x9E3779B1 >> 16 }

// newShortIndex files the literals, at most 30,000; nil when there are none.
func newShortIndex(literals []Literal, rarity Rarity) *shortIndex {
	if len(literals) == 0 {
		return nil
	}
	x := &shortIndex{bitmap: new([shortWords]uint64), starts: make([]uint16, shortBuckets+1)}
	for _, l := range literals {
		x.file(l, 0, rarity)
		if len(l.Text) > shortWindow {
			x.file(l, 1, rarity)
			continue
		}
		pair := uint32(l.Text[1]) | uint32(l.Text[2])<<8
		x.pairs = append(x.pairs, entry{id: l.ID, text: l.Text, window: pair, offset: 1})
		for c := range uint32(256) {
			x.mark(pair | c<<16)
		}
	}
	for i := range shortBuckets {
		x.starts[i+1] += x.starts[i]
	}
	bucket := func(e entry) int { return int(shortHash(e.window) >> 6) }
	slices.SortStableFunc(x.entries, func(a, b entry) int { return bucket(a) - bucket(b) })
	slices.SortStableFunc(x.pairs, func(a, b entry) int { return int(a.window) - int(b.window) })
	return x
}

// file chooses the rarest window of a literal at offsets of one parity.
func (x *shortIndex) file(l Literal, phase int, rarity Rarity) {
	e := entry{id: l.ID, text: l.Text}
	least := -1
	for at := phase; at+shortWindow <= len(l.Text); at += 2 {
		w := uint32(l.Text[at]) | uint32(l.Text[at+1])<<8 | uint32(l.Text[at+2])<<16
		if r := rarity(w); least < 0 || r < least {
			least, e.window, e.offset = r, w, uint32(at)
		}
	}
	x.entries = append(x.entries, e)
	x.starts[shortHash(e.window)>>6+1]++
	x.mark(e.window)
}

func (x *shortIndex) mark(w uint32) {
	h := shortHash(w)
	x.bitmap[h>>6] |= 1 << (h & 63)
}

// find appends the ids of the literals that the text contains.
func (x *shortIndex) find(dst []uint32, text []byte) []uint32 {
	i := 0
	for {
		i = skipShort(x.bitmap, text, i)
		if i+8 > len(text) {
			break
		}
		v := load(text, i)
		for n := range 3 {
			w := uint32(v>>(16*n)) & shortMask
			if h := shortHash(w); x.bitmap[h>>6]>>(h&63)&1 != 0 {
				dst = x.check(dst, text, i+2*n, w, h)
			}
		}
		i += 6
	}
	for ; i+2 <= len(text); i += 2 {
		w := uint32(text[i]) | uint32(text[i+1])<<8
		if i+2 < len(text) {
			w |= uint32(text[i+2]) << 16
		}
		if h := shortHash(w); x.bitmap[h>>6]>>(h&63)&1 != 0 {
			dst = x.check(dst, text, i, w, h)
		}
	}
	return dst
}

// skipShort returns the first position from i on, in steps of six, where one of
// three windows is in the bitmap, or where fewer than eight bytes are left. It
// calls nothing, so that all it needs stays in registers.
func skipShort(bitmap *[shortWords]uint64, text []byte, i int) int {
	for ; i <= len(text)-8; i += 6 {
		v := load(text, i)
		h0, h1, h2 := shortHash(uint32(v)), shortHash(uint32(v>>16)), shortHash(uint32(v>>32))
		if bitmap[h0>>6]>>(h0&63)&1 != 0 || bitmap[h1>>6]>>(h1&63)&1 != 0 || bitmap[h2>>6]>>(h2&63)&1 != 0 {
			break
		}
	}
	return i
}

func (x *shortIndex) check(dst []uint32, text []byte, at int, w, h uint32) []uint32 {
	for n := x.starts[h>>6]; n < x.starts[h>>6+1]; n++ {
		if e := &x.entries[n]; e.window == w {
			dst = e.verify(dst, text, at)
		}
	}
	if len(x.pairs) == 0 {
		return dst
	}
	pair := w & 0xFFFF
	n, _ := slices.BinarySearchFunc(x.pairs, pair, func(e entry, w uint32) int { return int(e.window) - int(w) })
	for ; n < len(x.pairs) && x.pairs[n].window == pair; n++ {
		dst = x.pairs[n].verify(dst, text, at)
	}
	return dst
}
