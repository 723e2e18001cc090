package engine

import (
	"encoding/binary"
	"math/bits"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
)

// A route that many events take gets an index of its own: matchers that look only
// for the predicates that the route's rules use. Results do not change. An index
// costs memory and some milliseconds, so only the first few busy routes of a set
// get one. Events use the matchers of the set until the index is built, and when
// building it fails.

const (
	maxRouteIndexes = 8
	indexAfter      = 8192 // events of a route seen by one worker
)

// routeIndex holds the matchers for the events of one route.
type routeIndex struct {
	number   uint32 // from 1; part of the keys of the value cache
	matchers []*matcher
	preds    []uint64 // bits: those the matchers look for
}

// routeIndexes are the indexes of a set, by the rules they leave out. One index is
// built at a time.
type routeIndexes struct {
	after   int
	stopped atomic.Bool // no further index is built

	mu       sync.Mutex // guards what follows
	slots    map[string]*indexSlot
	waiting  []*indexSlot
	building bool
}

// indexSlot holds an index once it is built.
type indexSlot struct {
	number   uint32
	conflict []uint64 // the rules it leaves out
	built    atomic.Pointer[routeIndex]

	// The index of the same rules in the set before, nil for none, and the fields, by
	// number, for which other predicates are early since. Whoever builds takes it over.
	before  *routeIndex
	touched []bool
	queued  bool
}

// slot returns the slot of the index that leaves out the rules in conflict: nil
// when there are maxRouteIndexes already, or building has stopped, or only a known one is
// wanted and it is not. The caller that gets build must build the waiting slots.
func (f *routeIndexes) slot(conflict []uint64, known bool) (slot *indexSlot, build bool) {
	key := make([]byte, 0, 8*len(conflict))
	for _, word := range conflict {
		key = binary.LittleEndian.AppendUint64(key, word)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.slots[string(key)]
	switch {
	case s != nil && s.queued:
		return s, false
	case s == nil && known, f.stopped.Load():
		return nil, false
	case s == nil && len(f.slots) == maxRouteIndexes:
		return nil, false
	case s == nil:
		if f.slots == nil {
			f.slots = make(map[string]*indexSlot)
		}
		s = &indexSlot{number: uint32(len(f.slots)) + 1, conflict: conflict}
		f.slots[string(key)] = s
	}
	s.queued = true
	f.waiting = append(f.waiting, s)
	build, f.building = !f.building, true
	return s, build
}

// inherit gives the indexes of the set before to this one, in which other predicates of
// some fields are early. They are built as soon as an event takes their route.
func (f *routeIndexes) inherit(before *routeIndexes, touched []bool) {
	f.after = before.after
	before.mu.Lock()
	defer before.mu.Unlock()
	for key, old := range before.slots {
		s := &indexSlot{number: old.number, conflict: old.conflict, before: old.built.Load(), touched: touched}
		if s.before == nil && old.before != nil {
			s.before, s.touched = old.before, slices.Clone(touched)
			for field, is := range old.touched {
				s.touched[field] = s.touched[field] || is
			}
		}
		if f.slots == nil {
			f.slots = make(map[string]*indexSlot)
		}
		f.slots[key] = s
	}
}

// next takes the slot that has waited longest. When there is none, building ends.
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

// routeIndex returns the index of a route, nil while it has none.
func (s *Set) routeIndex(r *route) *routeIndex {
	if r.slot != nil {
		return r.slot.built.Load()
	}
	r.events++
	first := r.events == 1 && s.inherits
	if !first && r.events != s.indexes.after || 8*r.pruned < len(s.handles) {
		return nil
	}
	slot, build := s.indexes.slot(r.conflict, first && s.indexes.after > 1)
	r.slot = slot
	switch {
	case build && s.options.Background != nil:
		s.options.Background(s.buildRouteIndexes)
	case build:
		s.buildRouteIndexes()
	}
	return nil
}

// buildRouteIndexes builds the waiting indexes.
func (s *Set) buildRouteIndexes() {
	for slot := s.indexes.next(); slot != nil; slot = s.indexes.next() {
		s.buildRouteIndex(slot)
	}
}

// buildRouteIndex builds one index. It recovers from a panic, because the goroutine
// belongs to the caller and the set works without the index. After a panic no
// further index is built.
func (s *Set) buildRouteIndex(slot *indexSlot) {
	defer func() {
		if p := recover(); p != nil {
			s.Retire()
			if s.options.OnPanic != nil {
				s.options.OnPanic(p, debug.Stack())
			}
		}
	}()
	want := wanted{preds: s.plan.Needed(slot.conflict), stopped: s.indexes.stopped.Load}
	s.indexes.mu.Lock()
	before, touched := slot.before, slot.touched
	s.indexes.mu.Unlock()
	if before != nil {
		want.before, want.fields = before.matchers, s.others(want.preds, before.preds, touched)
	}
	if m := newMatchers(s.plan, want); m != nil {
		slot.built.Store(&routeIndex{slot.number, m, want.preds})
		s.indexes.mu.Lock()
		slot.before, slot.touched = nil, nil
		s.indexes.mu.Unlock()
	}
}

// others returns the fields that are touched, or of which matchers look for other early
// predicates now than before.
func (s *Set) others(now, before []uint64, touched []bool) []bool {
	out := slices.Clone(touched)
	for i, word := range now {
		if i < len(before) {
			word ^= before[i]
		}
		for ; word != 0; word &= word - 1 {
			if p := &s.plan.Preds[i*64+bits.TrailingZeros64(word)]; p.Early {
				out[p.Field] = true
			}
		}
	}
	return out
}

// Retire tells the set that few events will follow: background work ends soon and
// none is started. Results do not change. Any goroutine may call it.
func (s *Set) Retire() { s.indexes.stopped.Store(true) }
