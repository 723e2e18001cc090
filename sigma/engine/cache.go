package engine

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"

	"github.com/sluicehq/sluice/sigma/engine/internal/scan"
	"github.com/sluicehq/sluice/sigma/event"
)

// cache maps a value to the early predicates that hold for it. It is direct-mapped
// and compares the whole value, so a wrong answer is impossible. Fields whose
// values do not repeat stop using it for a while.
type cache struct {
	seed        uint64
	pending     uint64 // tag of the slot that get returned last
	slots       []cacheSlot
	spills      []cacheSpill // by slot: what does not fit into it
	scores      []int16      // hit score by field; negative: lookups left to skip
	otherScores [64]int16    // of cells without field, by their position in the event
}

// cacheSlot is two cache lines. Most values and their predicates fit.
type cacheSlot struct {
	tag   uint64 // what the value is and how long; 0 for an empty slot
	count uint16 // of predicates; more than fit are in the spill, as is a longer value
	ids   [inlineIDs]uint32
	raw   [inlineRaw]byte
}

type cacheSpill struct {
	raw []byte
	ids []uint32
}

const (
	cacheSlots = 4096
	inlineIDs  = 6
	inlineRaw  = 92
	maxCached  = 512 // longer values seldom repeat
	maxIDs     = 256 // longer lists are not kept

	// A hit adds to the score of a field and a miss takes one off, so that a field
	// in which more than a quarter of the values repeat keeps using the cache.
	scoreOfHit   = 3
	maxScore     = 768
	cachePause   = 8192 // lookups that a field skips when its score is used up
	initialScore = 192

	// A tag is the size of the value, its field, the number of the route index and
	// two flags.
	fieldShift    = 16
	indexShift    = 48
	withKeyword   = 1 << 63
	withoutQuotes = 1 << 62
	noSlot        = -1
)

func (c *cache) init(fields int) {
	c.seed = rand.Uint64()
	c.slots = make([]cacheSlot, cacheSlots)
	c.spills = make([]cacheSpill, cacheSlots)
	c.scores = make([]int16, fields)
	for i := range c.scores {
		c.scores[i] = initialScore
	}
	for i := range c.otherScores {
		c.otherScores[i] = initialScore
	}
}

// get returns the slot of the value of cell i, and whether it holds the answer. If
// not, put must fill the slot, which may be noSlot.
func (c *cache) get(cell *scan.Cell, i int, doc []byte, keyword bool, index uint32) (slot int, known bool) {
	score := &c.scores[cell.Field]
	if cell.Field == 0 {
		score = &c.otherScores[i%len(c.otherScores)]
	}
	if *score < 0 {
		if *score++; *score == 0 {
			*score = initialScore
		}
		return noSlot, false
	}
	raw := doc[cell.Start:cell.End]
	if len(raw) > maxCached {
		return noSlot, false
	}
	tag := uint64(len(raw)) | uint64(cell.Field)<<fieldShift | uint64(index)<<indexShift
	if keyword {
		tag |= withKeyword
	}
	if cell.Type == event.Text { // may look like a quoted string
		tag |= withoutQuotes
	}
	slot = int(c.hash(raw, tag) % cacheSlots)
	if c.slots[slot].tag == tag && string(c.raw(slot, len(raw))) == string(raw) {
		if *score < maxScore {
			*score += scoreOfHit
		}
		return slot, true
	}
	if *score--; *score < 0 {
		*score = -cachePause
	}
	c.reserve(slot, raw, tag)
	return slot, false
}

// reserve puts a value into a slot. The slot stays empty until put, so a panic in
// between leaves no wrong answer.
func (c *cache) reserve(slot int, raw []byte, tag uint64) {
	c.pending = tag
	s := &c.slots[slot]
	s.tag = 0
	if len(raw) <= inlineRaw {
		copy(s.raw[:], raw)
		return
	}
	c.spills[slot].raw = append(c.spills[slot].raw[:0], raw...)
}

// raw returns the value in a slot that is size bytes long.
func (c *cache) raw(slot, size int) []byte {
	if size <= inlineRaw {
		return c.slots[slot].raw[:size]
	}
	return c.spills[slot].raw
}

func (c *cache) ids(slot int) []uint32 {
	if s := &c.slots[slot]; s.count <= inlineIDs {
		return s.ids[:s.count]
	}
	return c.spills[slot].ids
}

// put completes a slot that get returned.
func (c *cache) put(slot int, ids []uint32) {
	if slot == noSlot {
		return
	}
	s := &c.slots[slot]
	switch {
	case len(ids) > maxIDs:
		return
	case len(ids) <= inlineIDs:
		copy(s.ids[:], ids)
	default:
		c.spills[slot].ids = append(c.spills[slot].ids[:0], ids...)
	}
	s.tag, s.count = c.pending, uint16(len(ids))
}

// hash samples a value. A collision costs a slot, never a wrong answer.
func (c *cache) hash(raw []byte, tag uint64) uint64 {
	n := len(raw)
	a, b := c.seed^tag, uint64(multiplier)
	switch le := binary.LittleEndian; {
	case n >= 8:
		a ^= le.Uint64(raw)
		b ^= le.Uint64(raw[n-8:])
		if n > 16 {
			a ^= bits.RotateLeft64(le.Uint64(raw[n/2-4:]), 23)
			b ^= bits.RotateLeft64(le.Uint64(raw[n-n/4-8:]), 41)
		}
	case n >= 4:
		b ^= uint64(le.Uint32(raw)) | uint64(le.Uint32(raw[n-4:]))<<32
	default:
		for _, c := range raw {
			b = b<<8 ^ uint64(c)
		}
	}
	high, low := bits.Mul64(a, b)
	return high ^ low
}

const multiplier = 0x9E3779B97F4A7C15
