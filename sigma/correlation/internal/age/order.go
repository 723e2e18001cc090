// Package age orders slots by a second.
package age

import (
	"container/heap"
	"iter"
	"math"
	"slices"
)

// Order keeps slots, small numbers that are used again, by a second each. The zero
// value is empty.
//
// A second that has grown need not be told: whoever looks for the oldest brings a
// function that knows, and what has grown moves on when it is come upon. So a
// slot that is touched all the time costs nothing until then, and at most one
// move for each look. The oldest second is found in time logarithmic in the
// number of distinct seconds.
type Order struct {
	links   []link           // by slot
	heads   map[int64]uint32 // first slot of each second
	seconds secondHeap       // every second of heads, and some that are gone
}

type link struct {
	prev, next uint32
	at         int64
}

// none ends a list of slots.
const none = math.MaxUint32

// Oldest comes before every other second, Newest behind.
const (
	Oldest = math.MinInt64
	Newest = math.MaxInt64
)

// Insert enters a slot that is in no list.
func (a *Order) Insert(slot uint32, at int64) {
	for int(slot) >= len(a.links) {
		a.links = append(a.links, link{prev: none, next: none})
	}
	head, known := a.heads[at]
	if !known {
		if a.heads == nil {
			a.heads = make(map[int64]uint32)
		}
		a.heads[at] = slot
		a.links[slot] = link{prev: none, next: none, at: at}
		a.remember(at)
		return
	}
	// Behind the head, so that the map stays as it is.
	after := a.links[head].next
	a.links[slot] = link{prev: head, next: after, at: at}
	a.links[head].next = slot
	if after != none {
		a.links[after].prev = slot
	}
}

func (a *Order) remember(at int64) {
	if len(a.seconds) > 2*len(a.heads)+64 {
		a.seconds = a.seconds[:0]
		for s := range a.heads {
			a.seconds = append(a.seconds, s)
		}
		heap.Init(&a.seconds)
		return
	}
	heap.Push(&a.seconds, at)
}

// Remove takes out a slot that was inserted.
func (a *Order) Remove(slot uint32) {
	l := a.links[slot]
	if l.next != none {
		a.links[l.next].prev = l.prev
	}
	switch {
	case l.prev != none:
		a.links[l.prev].next = l.next
	case l.next != none:
		a.heads[l.at] = l.next
	default:
		delete(a.heads, l.at)
	}
}

// Lower tells that the second of a slot may have become an earlier one.
func (a *Order) Lower(slot uint32, at int64) {
	if a.links[slot].at > at {
		a.Move(slot, at)
	}
}

// Move tells the second of a slot: from then on Of yields it for that one.
func (a *Order) Move(slot uint32, at int64) {
	a.Remove(slot)
	a.Insert(slot, at)
}

// First returns the oldest second that has a slot. now gives a slot's second.
func (a *Order) First(now func(slot uint32) int64) (int64, bool) {
	for len(a.seconds) > 0 {
		at := a.seconds[0]
		for range a.Of(at, now) {
			return at, true
		}
		if a.seconds[0] == at { // and not forgotten on the way
			heap.Pop(&a.seconds)
		}
	}
	return 0, false
}

// Of yields the slots known to be of a second: all of them when no other second comes
// before it. now gives a slot's second. The slot yielded may be removed.
func (a *Order) Of(at int64, now func(slot uint32) int64) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		slot, ok := a.heads[at]
		for ok && slot != none {
			next := a.links[slot].next
			if is := now(slot); is != at {
				a.Move(slot, is)
			} else if !yield(slot) {
				return
			}
			slot = next
		}
	}
}

// Sorted returns those slots, sorted by compare.
func (a *Order) Sorted(at int64, now func(slot uint32) int64, compare func(a, b uint32) int) []uint32 {
	slots := slices.Collect(a.Of(at, now))
	slices.SortFunc(slots, compare)
	return slots
}

type secondHeap []int64

func (h secondHeap) Len() int           { return len(h) }
func (h secondHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h secondHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *secondHeap) Push(x any)        { *h = append(*h, x.(int64)) }
func (h *secondHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
