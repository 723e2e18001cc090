package literal

import (
	"math/bits"
	"slices"
)

// shortIndex finds literals too short for an Index. It looks at windows of three
// bytes at every second position. A literal of three bytes that begins between
// two looks is met by its last two, so it is filed under these with every byte
// behind.
type shortIndex struct {
	bitmap  *[shortWords]uint64       // of hashed windows
	starts  *[shortBuckets + 1]uint16 // by the upper bits of a window's hash, into entries
	entries []entry

	pairStarts *[pairBuckets + 1]uint16 // by a hash of two bytes, into pairs
	pairs      []entry                  // literals of three bytes, filed under their last two
}

const (
	shortWords   = 1024 // 8 KiB
	shortBuckets = 1 << 10
	pairBuckets  = 1 << 8
	shortWindow  = 3
	shortMask    = 1<<24 - 1
	shortCase    = caseBits & shortMask
	pairMask     = 1<<16 - 1
	pairCase     = caseBits & pairMask

	// MinShort is the length of the shortest literal a Set finds inside texts.
	MinShort = shortWindow
)

// shortHash expects the case bits to be set.
func shortHash(w uint32) uint32 { return (w & shortMask) * 0x9E3779B1 >> 16 }

func pairHash(w uint32) uint32 { return (w & pairMask) * 0x9E3779B1 >> 24 }

// newShortIndex files the literals, at most 30,000; nil when there are none.
func newShortIndex(literals []Literal, rarity Rarity) *shortIndex {
	if len(literals) == 0 {
		return nil
	}
	x := &shortIndex{bitmap: new([shortWords]uint64), starts: new([shortBuckets + 1]uint16), pairStarts: new([pairBuckets + 1]uint16)}
	for _, l := range literals {
		x.file(l, 0, rarity)
		if len(l.Text) > shortWindow {
			x.file(l, 1, rarity)
			continue
		}
		pair := uint32(l.Text[1]) | uint32(l.Text[2])<<8 | pairCase
		x.pairs = append(x.pairs, entry{id: l.ID, text: l.Text, window: pair, offset: 1})
		x.pairStarts[pairHash(pair)+1]++
		for c := range uint32(256) {
			x.mark(pair | c<<16 | shortCase)
		}
	}
	for i := range shortBuckets {
		x.starts[i+1] += x.starts[i]
	}
	for i := range pairBuckets {
		x.pairStarts[i+1] += x.pairStarts[i]
	}
	bucket := func(e entry) int { return int(shortHash(e.window) >> 6) }
	slices.SortStableFunc(x.entries, func(a, b entry) int { return bucket(a) - bucket(b) })
	slices.SortStableFunc(x.pairs, func(a, b entry) int { return int(pairHash(a.window)) - int(pairHash(b.window)) })
	return x
}

// file chooses the rarest window of a literal at offsets of one parity.
func (x *shortIndex) file(l Literal, phase int, rarity Rarity) {
	windowAt := func(at uint32) uint32 {
		return uint32(l.Text[at]) | uint32(l.Text[at+1])<<8 | uint32(l.Text[at+2])<<16
	}
	offset := uint32(phase)
	for at, least := uint32(phase), -1; int(at)+shortWindow <= len(l.Text); at += narrow {
		if r := rarity(windowAt(at)); least < 0 || r < least {
			least, offset = r, at
		}
	}
	e := entry{id: l.ID, text: l.Text, window: windowAt(offset) | shortCase, offset: offset}
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
	i, met := skipShort(x.bitmap, text, 0)
	for met != 0 {
		v := load(text, i) | caseBits
		for ; met != 0; met &= met - 1 {
			n := bits.TrailingZeros32(met)
			dst = x.check(dst, text, i+n, uint32(v>>(8*n))&shortMask)
		}
		i, met = skipShort(x.bitmap, text, i+narrowBlock)
	}
	for ; i+2 <= len(text); i += 2 { // a pair may end the text
		w := uint32(text[i]) | uint32(text[i+1])<<8 | shortCase
		if i+2 < len(text) {
			w |= uint32(text[i+2]) << 16
		}
		if x.marked(shortHash(w)) != 0 {
			dst = x.check(dst, text, i, w)
		}
	}
	return dst
}

func (x *shortIndex) marked(h uint32) uint64 { return x.bitmap[h>>6] >> (h & 63) & 1 }

// skipShort is skipNarrow for windows of three bytes.
func skipShort(bitmap *[shortWords]uint64, text []byte, i int) (at int, met uint32) {
	for ; i <= len(text)-narrowNeed; i += narrowBlock {
		v := load(text, i) | caseBits
		h0, h1, h2 := shortHash(uint32(v)), shortHash(uint32(v>>16)), shortHash(uint32(v>>32))
		if bitmap[h0>>6]>>(h0&63)&1 != 0 || bitmap[h1>>6]>>(h1&63)&1 != 0 || bitmap[h2>>6]>>(h2&63)&1 != 0 {
			m0, m1, m2 := bitmap[h0>>6]>>(h0&63)&1, bitmap[h1>>6]>>(h1&63)&1, bitmap[h2>>6]>>(h2&63)&1
			return i, uint32(m0 | m1<<2 | m2<<4)
		}
	}
	return i, 0
}

func (x *shortIndex) check(dst []uint32, text []byte, at int, w uint32) []uint32 {
	h := shortHash(w)
	for n := x.starts[h>>6]; n < x.starts[h>>6+1]; n++ {
		if e := &x.entries[n]; e.window == w {
			dst = e.verify(dst, text, at)
		}
	}
	h = pairHash(w)
	for n := x.pairStarts[h]; n < x.pairStarts[h+1]; n++ {
		if e := &x.pairs[n]; e.window == w&pairMask {
			dst = e.verify(dst, text, at)
		}
	}
	return dst
}
