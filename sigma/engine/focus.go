package engine

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
)

// A route that many events take gets matchers of its own: they look only for the
// predicates that its rules ask about. Answers are the same, since nobody asks
// for the others. The few busiest routes of a set have them, because each costs
// memory and some milliseconds.

const (
	maxFocuses = 8
	focusAfter = 8192 // events of a route seen by one worker
)

// focus is what a route's events are searched with.
type focus struct {
	number   uint32 // from 1, tells remembered values apart
	matchers []*matcher
}

// focuses are those of a set, by the rules they leave out.
type focuses struct {
	after int

	mu    sync.Mutex // guards slots
	slots map[string]*focusSlot
}

// focusSlot is empty until the worker that asked first has built the focus.
type focusSlot struct {
	built atomic.Pointer[focus]
}

// slot returns the place of the focus that leaves out the rules in conflict, nil
// when there are too many already. The first to get it fills it.
func (f *focuses) slot(conflict []uint64) (slot *focusSlot, number uint32, first bool) {
	key := make([]byte, 0, 8*len(conflict))
	for _, word := range conflict {
		key = binary.LittleEndian.AppendUint64(key, word)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.slots[string(key)]; s != nil {
		return s, 0, false
	}
	if len(f.slots) == maxFocuses {
		return nil, 0, false
	}
	if f.slots == nil {
		f.slots = make(map[string]*focusSlot)
	}
	s := new(focusSlot)
	f.slots[string(key)] = s
	return s, uint32(len(f.slots)), true
}

// focus returns what the events of a route are searched with, nil for
// everything the set looks for.
func (s *Set) focus(r *route) *focus {
	if r.slot != nil {
		return r.slot.built.Load()
	}
	if r.events++; r.events != s.focuses.after || 8*r.pruned < len(s.handles) {
		return nil
	}
	slot, number, first := s.focuses.slot(r.conflict)
	if first {
		slot.built.Store(&focus{number, newMatchers(s.plan, s.plan.Needed(r.conflict), nil)})
	}
	r.slot = slot
	return nil
}
