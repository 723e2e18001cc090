package engine

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/sluicehq/sluice/sigma/engine/scan"
	"github.com/sluicehq/sluice/sigma/event"
)

// cache remembers which early predicates a value satisfied. It is direct-mapped
// and compares the whole value, so a wrong answer is impossible. Fields whose
// values do not repeat stop using it for a while.
type cache struct {
	seed    uint64
	pending uint64 // hash for the slot that get returned
	slots   []cacheSlot
	spills  []cacheSpill // by slot: what does not fit into it
	fields  []cacheField
	others  [64]cacheField // cells without field, by their place in the event
}

// cacheSlot is two cache lines. Most values and their predicates fit.
type cacheSlot struct {
	hash  uint64 // of value and field; 0 for an empty slot
	field uint32 // with bits for how its values are looked at
	size  uint16 // of the value; more than fits is in the spill
	count uint16 // of predicates, likewise
	ids   [inlineIDs]uint32
	raw   [inlineRaw]byte
}

type cacheSpill struct {
	raw []byte
	ids []uint32
}

// cacheField counts the luck of one field.
type cacheField struct {
	tries, hits uint16
	rest        uint16 // lookups to go without the cache
}

const (
	cacheSlots = 4096
	inlineIDs  = 6
	inlineRaw  = 88
	maxCached  = 512  // longer values seldom repeat
	maxIDs     = 256  // longer lists are not kept
	cacheTrial = 256  // lookups after which a field is judged
	cacheRest  = 8192 // lookups that an unlucky field does without
	cacheLuck  = 64   // hits among a trial that are worth it

	withKeyword   = 1 << 31
	withoutQuotes = 1 << 30
	focusShift    = 24
	noSlot        = -1
)

func (c *cache) init(fields int) {
	c.seed = rand.Uint64()
	c.slots = make([]cacheSlot, cacheSlots)
	c.spills = make([]cacheSpill, cacheSlots)
	c.fields = make([]cacheField, fields)
}

// get returns what is remembered of the value of cell i. On a miss it returns
// the slot that put fills, or noSlot when the value is not to be kept.
func (c *cache) get(cell *scan.Cell, i int32, doc []byte, keyword bool, focus uint32) (slot int, ids []uint32, hit bool) {
	raw := doc[cell.Start:cell.End]
	f := &c.fields[cell.Field]
	if cell.Field == 0 {
		f = &c.others[i%int32(len(c.others))]
	}
	if f.rest > 0 || len(raw) > maxCached {
		f.rest = max(f.rest, 1) - 1
		return noSlot, nil, false
	}
	field := cell.Field | focus<<focusShift
	if keyword {
		field |= withKeyword
	}
	if cell.Type == event.Text { // may look like a quoted string
		field |= withoutQuotes
	}
	h := c.hash(raw, field)
	slot = int(h % cacheSlots)
	s := &c.slots[slot]
	f.tries++
	if s.hash == h && s.field == field && int(s.size) == len(raw) && string(c.raw(slot)) == string(raw) {
		f.hits++
		return noSlot, c.ids(slot), true
	}
	if f.tries >= cacheTrial {
		if f.hits < cacheLuck {
			f.rest = cacheRest
		}
		f.tries, f.hits = 0, 0
	}
	// The slot stays empty until put: whoever panics between leaves no answer.
	c.pending = h
	s.hash, s.field, s.size = 0, field, uint16(len(raw))
	if len(raw) <= inlineRaw {
		copy(s.raw[:], raw)
	} else {
		c.spills[slot].raw = append(c.spills[slot].raw[:0], raw...)
	}
	return slot, nil, false
}

func (c *cache) raw(slot int) []byte {
	if s := &c.slots[slot]; s.size <= inlineRaw {
		return s.raw[:s.size]
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
	s.hash, s.count = c.pending, uint16(len(ids))
}

// hash samples a value. What it overlooks costs a slot, never an answer.
func (c *cache) hash(raw []byte, field uint32) uint64 {
	const k = 0x9E3779B97F4A7C15
	n := len(raw)
	h := c.seed ^ uint64(field)<<32 ^ uint64(n)
	if n < 8 {
		for _, b := range raw {
			h = (h ^ uint64(b)) * k
		}
		return (h ^ h>>29) | 1<<63
	}
	h = (h ^ binary.LittleEndian.Uint64(raw)) * k
	h ^= h >> 32
	h = (h ^ binary.LittleEndian.Uint64(raw[n-8:])) * k
	h ^= h >> 32
	if n > 16 {
		h = (h ^ binary.LittleEndian.Uint64(raw[n/2-4:])) * k
		h ^= h >> 32
	}
	if n > 32 {
		h = (h ^ binary.LittleEndian.Uint64(raw[n-n/4-8:])) * k
		h ^= h >> 32
	}
	return h | 1<<63
}
