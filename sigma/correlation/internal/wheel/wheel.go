// Package wheel keeps items until the second they are due.
//
// A Wheel is a hierarchical timing wheel: 64 slots a level, each level 64 times
// coarser than the one below. Adding an item costs the same however far away it
// is due, an item moves down at most once per level, and a jump of the clock
// over empty seconds costs nothing.
package wheel

import (
	"math"
	"math/bits"
	"slices"
)

const (
	slotBits = 6
	slots    = 1 << slotBits
	levels   = (63 + slotBits - 1) / slotBits
)

type item[T any] struct {
	due   int64
	value T
}

// Wheel holds items of type T. The zero value is empty and stands at second 0.
type Wheel[T any] struct {
	now      int64
	occupied [levels]uint64
	slots    [levels][slots][]item[T]
	hand     []item[T] // a slot's items that Advance has not got to yet, behind those it has
	handled  int
	n        int
}

// Len returns how many items wait.
func (w *Wheel[T]) Len() int { return w.n }

// Add keeps value until due. An item due at or before the wheel's second comes
// out with the next Advance past it.
func (w *Wheel[T]) Add(due int64, value T) {
	w.n++
	w.place(item[T]{max(due, w.now+1), value})
}

// Prune drops every item that keep does not want.
func (w *Wheel[T]) Prune(keep func(T) bool) {
	w.n = 0
	for level := range w.slots {
		for slot, items := range w.slots[level] {
			if len(items) == 0 {
				continue
			}
			items = slices.DeleteFunc(items, func(it item[T]) bool { return !keep(it.value) })
			if len(items) == 0 {
				items = nil
				w.occupied[level] &^= 1 << slot
			}
			w.slots[level][slot] = items
			w.n += len(items)
		}
	}
	w.hand = slices.DeleteFunc(w.hand[w.handled:], func(it item[T]) bool { return !keep(it.value) })
	w.handled = 0
	w.n += len(w.hand)
}

func (w *Wheel[T]) place(it item[T]) {
	level := (bits.Len64(uint64(it.due^w.now)|1) - 1) / slotBits
	slot := it.due >> (level * slotBits) & (slots - 1)
	w.slots[level][slot] = append(w.slots[level][slot], it)
	w.occupied[level] |= 1 << slot
}

// Advance moves the wheel to now and calls due for every item due by then,
// earliest second first. due may add items. The wheel never moves back.
func (w *Wheel[T]) Advance(now int64, due func(T)) { w.AdvanceSome(now, math.MaxInt, due) }

// AdvanceSome is Advance for somebody who has little time: it looks at limit items
// at most, those that only move down a level included, and reports whether the
// wheel is at now. If not, the next call goes on.
func (w *Wheel[T]) AdvanceSome(now int64, limit int, due func(T)) (there bool) {
	for {
		for ; w.handled < len(w.hand); limit-- {
			if limit <= 0 {
				return false
			}
			it := w.hand[w.handled]
			w.hand[w.handled] = item[T]{}
			w.handled++
			if it.due <= w.now {
				w.n--
				due(it.value)
			} else {
				w.place(it)
			}
		}
		w.hand, w.handled = w.hand[:0], 0
		if w.n == 0 {
			break
		}
		level, slot, start := w.next()
		if start > now {
			break
		}
		w.now = start
		w.hand, w.slots[level][slot] = w.slots[level][slot], w.hand
		w.occupied[level] &^= 1 << slot
	}
	w.now = max(w.now, now)
	return true
}

// next finds the first slot that is not empty. A lower level always comes
// before a higher one, since a higher slot begins where the lower level ends.
func (w *Wheel[T]) next() (level int, slot int64, start int64) {
	for level = range levels {
		if w.occupied[level] == 0 {
			continue
		}
		slot = int64(bits.TrailingZeros64(w.occupied[level]))
		shift := level * slotBits
		start = w.now>>shift>>slotBits<<slotBits<<shift | slot<<shift
		return level, slot, start
	}
	return 0, 0, 0
}
