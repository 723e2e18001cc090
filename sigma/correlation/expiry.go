package correlation

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/sigma/correlation/internal/age"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
)

// makeRoom removes groups when a limit is reached: those that are over, then
// far-future ones, then the oldest, until nine tenths of the limit are left.
func (e *Engine) makeRoom(now int64, o *Outcome) {
	defer func() {
		e.limitTombstones(o)
		e.pruneTimers()
		e.journal.note(e)
	}()
	before := e.live
	clock := e.clock.now(now)
	for _, st := range e.states {
		e.sweep(st, clock, now)
	}
	future := slices.DeleteFunc(e.futureGroups(), func(f future) bool {
		over := now-f.touched >= f.state.c.Horizon
		if over {
			e.remove(f.state, f.slot, now)
		}
		return over
	})
	o.Expired += before - e.live
	e.limitTombstones(o)
	if !e.full() {
		return
	}
	o.Before, o.Bytes = e.live, e.bytes
	swept, target := e.live, e.lowered()
	for _, f := range future {
		if e.within(target) {
			break
		}
		e.evictGroup(f.state, f.slot, now, o)
	}
	e.evict(target, now, o)
	o.Evicted += swept - e.live
}

// future is a far-future group.
type future struct {
	state   *correlationState
	slot    uint32
	touched int64
}

// futureGroups returns the far-future groups, those that have been idle for longest
// first.
func (e *Engine) futureGroups() []future {
	var list []future
	for _, st := range e.states {
		for slot := range st.ages.Of(age.Newest, st.second) {
			list = append(list, future{st, slot, st.groups[slot].touched})
		}
	}
	slices.SortStableFunc(list, func(a, b future) int {
		return cmp.Or(cmp.Compare(a.touched, b.touched), cmp.Compare(a.state.c.Rule.Index, b.state.c.Rule.Index),
			strings.Compare(a.state.groups[a.slot].key, b.state.groups[b.slot].key))
	})
	return list
}

// pruneTimers removes invalid timers once they outnumber the others. Without it, a
// flood of keys would keep them until they are due.
func (e *Engine) pruneTimers() {
	if e.timers.Len() > 2*e.inUse()+1024 {
		e.timers.Prune(func(t timer) bool { return t.valid() })
	}
}

// sweep removes the groups of f that are over, and has the others trimmed when
// they are next touched.
func (e *Engine) sweep(st *correlationState, clock, now int64) {
	for {
		at, ok := st.ages.First(st.second)
		if !ok || at != age.Oldest && clock-at <= st.c.Horizon {
			break
		}
		for slot := range st.ages.Of(at, st.second) {
			e.remove(st, slot, now)
		}
	}
	if st.c.Window == program.Sliding {
		st.sweeps++
		st.cutoff = clock - st.c.Span
	}
}

// evict removes the groups with the oldest newest entry until target are left.
// Among groups of one age it removes those of the first correlations, by key.
func (e *Engine) evict(target Limits, now int64, o *Outcome) {
	for !e.within(target) {
		var oldest int64
		found := false
		for _, st := range e.states {
			if at, ok := st.ages.First(st.second); ok && (!found || at < oldest) {
				oldest, found = at, true
			}
		}
		if !found {
			return
		}
		for _, st := range e.states {
			if at, ok := st.ages.First(st.second); ok && at == oldest {
				e.evictSecond(st, at, target, now, o)
			}
		}
	}
}

func (e *Engine) evictSecond(st *correlationState, at int64, target Limits, now int64, o *Outcome) {
	byKey := func(a, b uint32) int { return strings.Compare(st.groups[a].key, st.groups[b].key) }
	for _, slot := range st.ages.Sorted(at, st.second, byKey) {
		if e.within(target) {
			return
		}
		e.evictGroup(st, slot, now, o)
	}
}

// evictGroup removes a group, and older tombstones when that of the group would take
// the room that is made.
func (e *Engine) evictGroup(st *correlationState, slot uint32, now int64, o *Outcome) {
	e.remove(st, slot, now)
	if e.buried > e.limits.buried() {
		e.limitTombstones(o)
	}
}

// remove removes the group in slot. It leaves a tombstone when the group still
// suppresses results.
func (e *Engine) remove(st *correlationState, slot uint32, now int64) {
	g := st.groups[slot]
	left := e.suppressionLeft(st, g, now)
	if left <= 0 {
		e.drop(st, slot)
		return
	}
	g = e.writable(st, slot)
	e.live--
	st.live--
	st.ages.Remove(slot)
	g.tombstone = true
	g.window, g.future = st.empty, false
	g.hasHigh, g.high, g.late = false, 0, 0
	if g.extra != nil {
		g.extra.buffer = nil
	}
	e.reweigh(g)
	e.buried += g.bytes
}

// suppressionLeft returns for how long the last emission of g still suppresses.
func (e *Engine) suppressionLeft(st *correlationState, g *group, now int64) int64 {
	switch {
	case !g.hasLast:
		return 0
	case g.lastFuture:
		return st.c.Suppress - max(0, now-g.extra.arrival)
	}
	return e.left(g.last, st.c.Suppress, now)
}

// left returns how much of a span that began at a time is left by the stream clock;
// it is negative when the span is over.
func (e *Engine) left(at, span, now int64) int64 { return span - max(0, e.clock.now(now)-at) }

// expire handles a timer that is due. It removes the group when the group has been
// idle for its horizon by the wall clock and, unless it is far-future, is over by the
// stream clock; otherwise it sets the timer again.
func (e *Engine) expire(t timer, now int64, o *Outcome) {
	st := t.state
	if !t.valid() {
		return
	}
	g := st.groups[t.slot]
	var left int64
	if g.tombstone {
		left = e.suppressionLeft(st, g, now)
		if left <= 0 {
			e.drop(st, t.slot)
			e.revision++
			return
		}
	} else {
		left = g.touched - now + st.c.Horizon
		if !g.future {
			left = max(left, saturated(e.left(g.newest(), st.c.Horizon, now), 1))
		}
		if left <= 0 {
			e.remove(st, t.slot, now)
			o.Expired++
			if st.groups[t.slot] == nil {
				return
			}
			left = e.suppressionLeft(st, g, now)
		}
	}
	e.setAlarm(st, t.slot, e.writable(st, t.slot), saturated(now, max(left, 1)))
}
