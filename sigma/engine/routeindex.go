package engine

import (
	"encoding/binary"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// A route that many events take gets matchers of its own: they look only for the
// predicates that its rules ask about. Answers are the same, since nobody asks
// for the others. The few busiest routes of a set have them, because each costs
// memory and some milliseconds. Until they are there, and when building them fails,
// the set's own serve.

const (
	maxRouteIndexes = 8
	indexAfter      = 8192 // events of a route seen by one worker
)

// focus is what a route's events are searched with.
type routeIndex struct {
	number   uint32 // from 1, tells remembered values apart
	matchers []*matcher
}

// focuses are those of a set, by the rules they leave out. One is built at a
// time.
type routeIndexes struct {
	after   int
	stopped atomic.Bool // no other is built

	mu       sync.Mutex // guards what follows
	slots    map[string]*indexSlot
	waiting  []*indexSlot
	building bool
}

// focusSlot is the place of a focus that was asked for.
type indexSlot struct {
	number   uint32
	conflict []uint64 // the rules it leaves out
	built    atomic.Pointer[routeIndex]
}

// slot returns the place of the focus that leaves out the rules in conflict, nil
// when there are too many already or no other is built. Build is true for the one who has to see to it
// that what waits is built.
func (f *routeIndexes) slot(conflict []uint64) (slot *indexSlot, build bool) {
	key := make([]byte, 0, 8*len(conflict))
	for _, word := range conflict {
		key = binary.LittleEndian.AppendUint64(key, word)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.slots[string(key)]; s != nil {
		return s, false
	}
	if len(f.slots) == maxRouteIndexes || f.stopped.Load() {
		return nil, false
	}
	if f.slots == nil {
		f.slots = make(map[string]*indexSlot)
	}
	s := &indexSlot{number: uint32(len(f.slots)) + 1, conflict: conflict}
	f.slots[string(key)] = s
	f.waiting = append(f.waiting, s)
	build, f.building = !f.building, true
	return s, build
}

// next takes the slot that waits longest. Without one, building has ended.
func (f *routeIndexes) next() *indexSlot {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.waiting) == 0 || f.stopped.Load() {
		f.waiting, f.building = nil, false
		return nil
	}
	s := f.waiting[0]
	f.waiting = f.waiting[1:]
	return s
}

// focus returns what the events of a route are searched with, nil for
// everything the set looks for.
func (s *Set) routeIndex(r *route) *routeIndex {
	if r.slot != nil {
		return r.slot.built.Load()
	}
	if r.events++; r.events != s.indexes.after || 8*r.pruned < len(s.handles) {
		return nil
	}
	slot, build := s.indexes.slot(r.conflict)
	r.slot = slot
	switch {
	case build && s.options.Background != nil:
		s.options.Background(s.buildRouteIndexes)
	case build:
		s.buildRouteIndexes()
	}
	return nil
}

// buildFocuses builds what waits.
func (s *Set) buildRouteIndexes() {
	for slot := s.indexes.next(); slot != nil; slot = s.indexes.next() {
		s.buildRouteIndex(slot)
	}
}

// buildFocus contains a panic, since the goroutine is not ours and nothing is missing
// without a focus. What panicked once is not tried with another route.
func (s *Set) buildRouteIndex(slot *indexSlot) {
	defer func() {
		if p := recover(); p != nil {
			s.Retire()
			if s.options.OnPanic != nil {
				s.options.OnPanic(p, debug.Stack())
			}
		}
	}()
	if m := newMatchers(s.plan, s.plan.Needed(slot.conflict), nil, s.indexes.stopped.Load); m != nil {
		slot.built.Store(&routeIndex{slot.number, m})
	}
}

// Retire tells the set that it will evaluate hardly any more events. Work beside the
// evaluating ends soon and no other is given away; answers stay the same. It may be
// called from any goroutine.
func (s *Set) Retire() { s.indexes.stopped.Store(true) }
