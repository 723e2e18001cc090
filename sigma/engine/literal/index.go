package literal

import "encoding/binary"

// Index finds literals inside texts. Each is filed under some of its windows of
// four bytes. A bitmap of hashed windows, small enough for the first-level
// cache, is asked at every second or fourth position of a text; what it lets
// pass is looked up and compared.
type Index struct {
	bitmap   []uint64   // a power of two of words
	wide     bool       // every fourth position is enough
	kinds    []uint8    // by hashed window: which of the tables have it
	contexts entryTable // by a window and what follows it
	windows  entryTable // by a window at the end of its literal
	tiny     *tinyTable // literals shorter than minNarrow, nil for none
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

func hash(w uint32) uint32 { return w * 0x9E3779B1 }

// newIndex files the literals, and tiny ones where every second position is
// looked at; nil when there are none.
func newIndex(literals, tiny []Literal, rarity Rarity, stride int) *Index {
	if len(literals)+len(tiny) == 0 {
		return nil
	}
	x := &Index{bitmap: make([]uint64, bitmapSize(stride*len(literals)+marksOf(tiny)/2)), wide: stride == wide, kinds: make([]uint8, kindSlots)}
	var contexts, windows []entry
	crowd := make(map[uint64]int)
	for _, l := range literals {
		for phase := range stride {
			e := file(l, phase, stride, rarity, crowd)
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

// bitmapSize returns the words of a bitmap for some windows: sparse as long as it
// stays small.
func bitmapSize(windows int) int {
	words := minWords
	for words < cachedWords && words < windows/2 || words < maxWords && words < windows/6 {
		words *= 2
	}
	return words
}

// What a window may be found in.
const (
	inContexts = 1 << iota
	inWindows
	inTiny

	kindSlots = 1 << 13
)

func (x *Index) mark(w uint32, kind uint8) {
	h := hash(w)
	x.kinds[h>>19] |= kind
	x.bitmap[int(h>>16)&(len(x.bitmap)-1)] |= 1 << (h >> 10 & 63)
}

// marked reports whether a window of the hash may be filed. Mask is the number
// of words less one.
func marked(bitmap []uint64, mask, h uint32) bool {
	return word(bitmap, h>>16&mask)>>(h>>10&63)&1 != 0
}

// crowding is what a literal already filed under the same key adds to the rarity
// of a window: one look at a common window may cost less than many comparisons at
// a rare one.
const crowding = 400

// file chooses the rarest window of a literal among those of one phase, the
// offsets that a look at every stride-th position meets together.
func file(l Literal, phase, stride int, rarity Rarity, crowd map[uint64]int) entry {
	best := entry{id: l.ID, text: l.Text}
	var bestKey uint64
	least := -1
	for at := phase; at+window <= len(l.Text); at += stride {
		e := entry{window: binary.LittleEndian.Uint32([]byte(l.Text[at : at+window])), offset: uint32(at), id: l.ID, text: l.Text}
		key, ok := e.context()
		if !ok {
			key = uint64(e.window)
		}
		if r := rarity(e.window) + crowding*crowd[key]; least < 0 || r < least {
			least, best, bestKey = r, e, key
		}
	}
	crowd[bestKey]++
	return best
}

// Find appends the ids of the literals that the text contains, some perhaps
// several times.
func (x *Index) Find(dst []uint32, text []byte) []uint32 {
	i, stride := 0, narrow
	if x.wide {
		stride = wide
		for {
			i = skipWide(x.bitmap, text, i)
			if i+16 > len(text) {
				break
			}
			dst = x.look(dst, text, i, 16, wide)
			i += 16
		}
	} else {
		for {
			i = skipNarrow(x.bitmap, text, i)
			if i+8 > len(text) {
				break
			}
			dst = x.look(dst, text, i, 6, narrow)
			i += 6
		}
	}
	dst = x.look(dst, text, i, len(text)-i, stride)
	if x.tiny != nil {
		dst = x.tiny.atEnd(dst, text)
	}
	return dst
}

// look checks the windows that begin in the n bytes from i on.
func (x *Index) look(dst []uint32, text []byte, i, n, stride int) []uint32 {
	for end := min(i+n, len(text)-window+1); i < end; i += stride {
		w := binary.LittleEndian.Uint32(text[i:])
		if h := hash(w); marked(x.bitmap, uint32(len(x.bitmap)-1), h) {
			dst = x.check(dst, text, i, w)
		}
	}
	return dst
}

// skipNarrow returns the first position from i on, in steps of six, where one of
// three windows is in the bitmap, or where fewer than eight bytes are left. It
// and its like call nothing, so that all they need stays in registers.
func skipNarrow(bitmap []uint64, text []byte, i int) int {
	mask := uint32(len(bitmap) - 1)
	for ; i <= len(text)-8; i += 6 {
		v := load(text, i)
		h0, h1, h2 := hash(uint32(v)), hash(uint32(v>>16)), hash(uint32(v>>32))
		if marked(bitmap, mask, h0) || marked(bitmap, mask, h1) ||
			marked(bitmap, mask, h2) {
			break
		}
	}
	return i
}

// skipWide is the same for every fourth position, sixteen bytes at a time.
func skipWide(bitmap []uint64, text []byte, i int) int {
	mask := uint32(len(bitmap) - 1)
	for ; i <= len(text)-16; i += 16 {
		v, u := load(text, i), load(text, i+8)
		h0, h1, h2, h3 := hash(uint32(v)), hash(uint32(v>>32)), hash(uint32(u)), hash(uint32(u>>32))
		if marked(bitmap, mask, h0) || marked(bitmap, mask, h1) ||
			marked(bitmap, mask, h2) || marked(bitmap, mask, h3) {
			break
		}
	}
	return i
}

// check compares the literals filed under the window that stands at position at.
func (x *Index) check(dst []uint32, text []byte, at int, w uint32) []uint32 {
	kinds := x.kinds[hash(w)>>19]
	if kinds&inContexts != 0 && at+contextBytes <= len(text) {
		dst = x.contexts.check(dst, text, at, load(text, at))
	}
	if kinds&inWindows != 0 {
		dst = x.windows.check(dst, text, at, uint64(w))
	}
	if kinds&inTiny != 0 {
		dst = x.tiny.check(dst, text, at, w)
	}
	return dst
}
