package literal

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// Index finds literals inside texts. Each is filed under some of its windows of
// four bytes. A bitmap of hashed windows, small enough for the first-level
// cache, is asked at every second or fourth position of a text; what it lets
// pass is looked up and compared.
type Index struct {
	bitmap   []uint64          // a power of two of words
	wide     bool              // every fourth position is enough
	kinds    *[kindSlots]uint8 // by hashed window: which of the tables have it
	contexts entryTable        // by a window and what follows it
	windows  entryTable        // by a window at the end of its literal
	tiny     *tinyTable        // literals shorter than minNarrow, nil for none
	shortest int               // length of the shortest literal
}

const (
	minWords    = 1 << 8
	cachedWords = 1 << 12 // 32 KiB fit the first-level cache
	maxWords    = 1 << 16 // 512 KiB fit the second-level cache
	window      = 4
	narrow      = 2 // positions between two looks
	wide        = 4

	// The shortest literals an Index can find: their windows must cover every
	// alignment.
	minNarrow = window + narrow - 1
	minWide   = window + wide - 1
)

// hash expects the case bits to be set.
func hash(w uint32) uint32 { return w * 0x9E3779B1 }

const windowCase = caseBits & (1<<32 - 1)

// newIndex files the literals, and tiny ones where every second position is
// looked at; nil when there are none.
func newIndex(literals, tiny []Literal, rarity Rarity, stride int) *Index {
	if len(literals)+len(tiny) == 0 {
		return nil
	}
	x := &Index{bitmap: make([]uint64, bitmapSize(stride*len(literals)+marksOf(tiny))), wide: stride == wide, kinds: new([kindSlots]uint8)}
	x.shortest = shortest(literals, tiny)
	contexts, windows := make([]entry, 0, stride*len(literals)), []entry(nil)
	crowd := newCrowds(stride * len(literals))
	for _, l := range literals {
		for phase := range stride {
			e := fileLiteral(l, phase, stride, rarity, crowd)
			if _, ok := e.context(); ok {
				x.mark(e.window, inContexts)
				contexts = append(contexts, e)
			} else {
				x.mark(e.window, inWindows)
				windows = append(windows, e)
			}
		}
	}
	x.contexts = newEntryTable(contexts, func(e *entry) uint64 { k, _ := e.context(); return k })
	x.windows = newEntryTable(windows, func(e *entry) uint64 { return uint64(e.window) })
	if len(tiny) > 0 {
		x.tiny = newTinyTable(tiny, func(w uint32) { x.mark(w, inTiny) })
	}
	return x
}

func shortest(lists ...[]Literal) int {
	n := math.MaxInt
	for _, l := range slices.Concat(lists...) {
		n = min(n, len(l.Text))
	}
	return n
}

// bitmapSize returns the words of a bitmap for some windows: sparse as long as it
// stays small.
func bitmapSize(windows int) int {
	words := minWords
	for words < cachedWords && words < windows || words < maxWords && words < windows/6 {
		words *= 2
	}
	return words
}

// What a window may be found in.
const (
	inContexts = 1 << iota
	inWindows
	inTiny

	kindBits  = 13
	kindSlots = 1 << kindBits
)

func (x *Index) mark(w uint32, kind uint8) {
	h := hash(w)
	x.kinds[h>>(32-kindBits)] |= kind
	x.bitmap[int(h>>16)&(len(x.bitmap)-1)] |= 1 << (h >> 10 & 63)
}

// marked reports whether a window of the hash may be filed. Mask is the number
// of words less one.
func marked(bitmap []uint64, mask, h uint32) bool {
	return word(bitmap, h>>16&mask)&(1<<(h>>10&63)) != 0
}

// mark is 1 for a window that may be filed, else 0.
func mark(bitmap []uint64, mask, h uint32) uint32 {
	return uint32(word(bitmap, h>>16&mask) >> (h >> 10 & 63) & 1)
}

// crowding is what a literal already filed under the same key adds to the rarity
// of a window: one look at a common window may cost less than many comparisons at
// a rare one.
const crowding = 400

// crowds counts the literals filed under a key. Keys of one hash count together,
// which makes a window look dearer than it is and nothing else.
type crowds struct {
	counts []uint16
	shift  int
}

func newCrowds(keys int) crowds {
	size := bits.Len(uint(8 * keys))
	return crowds{make([]uint16, 1<<size), 64 - size}
}

func (c crowds) of(key uint64) *uint16 { return &c.counts[key*multiplier>>c.shift] }

// fileLiteral chooses the rarest window of a literal among those of one phase, the
// offsets that a look at every stride-th position meets together.
func fileLiteral(l Literal, phase, stride int, rarity Rarity, crowd crowds) entry {
	filed := func(at uint32) (e entry, w uint32) {
		w = binary.LittleEndian.Uint32([]byte(l.Text[at : at+window]))
		return entry{window: w | windowCase, offset: at, id: l.ID, text: l.Text}, w
	}
	var best entry
	var bestKey uint64
	least := -1
	for at := phase; at+window <= len(l.Text); at += stride {
		e, w := filed(uint32(at))
		key, ok := e.context()
		if !ok {
			key = uint64(e.window)
		}
		if r := rarity(w) + crowding*int(*crowd.of(key)); least < 0 || r < least {
			least, best, bestKey = r, e, key
		}
	}
	if n := crowd.of(bestKey); *n < math.MaxUint16 {
		*n++
	}
	return best
}

// Find appends the ids of the literals that the text contains, some perhaps
// several times.
func (x *Index) Find(dst []uint32, text []byte) []uint32 {
	if len(text) < x.shortest {
		return dst
	}
	i, stride := 0, narrow
	var met uint32
	if x.wide {
		stride = wide
		for i, met = skipWide(x.bitmap, text, 0); met != 0; i, met = skipWide(x.bitmap, text, i+wideBlock) {
			dst = x.checkAll(dst, text, i, met)
		}
	} else {
		for i, met = skipNarrow(x.bitmap, text, 0); met != 0; i, met = skipNarrow(x.bitmap, text, i+narrowBlock) {
			dst = x.checkAll(dst, text, i, met)
		}
	}
	for ; i <= len(text)-window; i += stride { // what is left is less than a block
		if marked(x.bitmap, uint32(len(x.bitmap)-1), hash(window4(text, i))) {
			dst = x.checkAll(dst, text, i, 1)
		}
	}
	if x.tiny != nil {
		dst = x.tiny.atEnd(dst, text)
	}
	return dst
}

// checkAll compares the literals filed under the windows that stand at the
// offsets met from i on.
func (x *Index) checkAll(dst []uint32, text []byte, i int, met uint32) []uint32 {
	for ; met != 0; met &= met - 1 {
		at := i + bits.TrailingZeros32(met)
		w := window4(text, at)
		kinds := x.kinds[hash(w)>>(32-kindBits)]
		if kinds&inContexts != 0 && at+contextBytes <= len(text) {
			if key := load(text, at) | caseBits; x.contexts.may(key) {
				dst = x.contexts.check(dst, text, at, key)
			}
		}
		if kinds&inWindows != 0 && x.windows.may(uint64(w)) {
			dst = x.windows.check(dst, text, at, uint64(w))
		}
		if kinds&inTiny != 0 {
			dst = x.tiny.check(dst, text, at, w)
		}
	}
	return dst
}

// The bytes that skipping takes at once, and those it needs.
const (
	narrowBlock, narrowNeed = 6, 8
	wideBlock, wideNeed     = 16, 16
)

// skipNarrow returns the first position from i on, in steps of a block, where one
// of three windows is in the bitmap, and at which offsets: as bits. None means
// that less than a block is left. It and its like call nothing, so that all they
// need stays in registers.
func skipNarrow(bitmap []uint64, text []byte, i int) (at int, met uint32) {
	mask := uint32(len(bitmap) - 1)
	for ; i <= len(text)-narrowNeed; i += narrowBlock {
		v := load(text, i) | caseBits
		h0, h1, h2 := hash(uint32(v)), hash(uint32(v>>16)), hash(uint32(v>>32))
		if marked(bitmap, mask, h0) || marked(bitmap, mask, h1) || marked(bitmap, mask, h2) {
			return i, mark(bitmap, mask, h0) | mark(bitmap, mask, h1)<<2 | mark(bitmap, mask, h2)<<4
		}
	}
	return i, 0
}

// skipWide is the same for every fourth position.
func skipWide(bitmap []uint64, text []byte, i int) (at int, met uint32) {
	mask := uint32(len(bitmap) - 1)
	for ; i <= len(text)-wideNeed; i += wideBlock {
		v, u := load(text, i)|caseBits, load(text, i+8)|caseBits
		h0, h1, h2, h3 := hash(uint32(v)), hash(uint32(v>>32)), hash(uint32(u)), hash(uint32(u>>32))
		if marked(bitmap, mask, h0) || marked(bitmap, mask, h1) || marked(bitmap, mask, h2) || marked(bitmap, mask, h3) {
			return i, mark(bitmap, mask, h0) | mark(bitmap, mask, h1)<<4 | mark(bitmap, mask, h2)<<8 | mark(bitmap, mask, h3)<<12
		}
	}
	return i, 0
}
