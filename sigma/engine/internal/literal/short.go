package literal

import "math/bits"

// shortIndex finds literals too short for an Index. It looks at windows of three
// bytes at every second position. A literal of three bytes that begins between
// two looks is met by its last two, so it is filed under these with every byte
// behind.
type shortIndex struct {
	bitmap  *[shortWords]uint64 // of hashed windows
	windows entryTable          // by a window
	pairs   entryTable          // literals of three bytes, by their last two; nil entries for none
}

const (
	shortWords  = 1024 // 8 KiB
	shortWindow = 3
	shortMask   = 1<<24 - 1
	shortCase   = caseBits & shortMask
	pairMask    = 1<<16 - 1
	pairCase    = caseBits & pairMask

	// MinShort is the length of the shortest literal a Set finds inside texts.
	MinShort = shortWindow
)

// shortHash expects the case bits to be set.
func shortHash(w uint32) uint32 { return (w & shortMask) * 0x9E3779B1 >> 16 }

// newShortIndex files the literals; nil when there are none.
func newShortIndex(literals []Literal, rarity Rarity) *shortIndex {
	if len(literals) == 0 {
		return nil
	}
	x := &shortIndex{bitmap: new([shortWords]uint64)}
	var windows, pairs []entry
	for _, l := range literals {
		windows = append(windows, x.file(l, 0, rarity))
		if len(l.Text) > shortWindow {
			windows = append(windows, x.file(l, 1, rarity))
			continue
		}
		pair := uint32(l.Text[1]) | uint32(l.Text[2])<<8 | pairCase
		pairs = append(pairs, entry{id: l.ID, text: l.Text, window: pair, offset: 1})
		for c := range uint32(256) {
			x.mark(pair | c<<16 | shortCase)
		}
	}
	key := func(e *entry) uint64 { return uint64(e.window) }
	x.windows, x.pairs = newEntryTable(windows, key), newEntryTable(pairs, key)
	return x
}

// file chooses the rarest window of a literal at offsets of one parity.
func (x *shortIndex) file(l Literal, phase int, rarity Rarity) entry {
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
	x.mark(e.window)
	return e
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
	if x.windows.may(uint64(w)) {
		dst = x.windows.check(dst, text, at, uint64(w))
	}
	if pair := uint64(w & pairMask); x.pairs.entries != nil && x.pairs.may(pair) {
		dst = x.pairs.check(dst, text, at, pair)
	}
	return dst
}
