package correlation

import (
	"slices"
	"strings"

	"github.com/sluicehq/sluice/sigma/correlation/internal/age"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
)

// makeRoom removes groups when the limit is reached: those that are over by the
// stream clock, then those later than latest, then the oldest, until nine tenths of
// the limit are left.
func (e *Engine) makeRoom(latest, now int64, o *Outcome) {
	defer func() {
		e.limitTombstones(now, o)
		e.pruneTimers()
	}()
	before := e.live
	clock := e.clock.now(now)
	for _, st := range e.states {
		e.sweep(st, clock, now)
	}
	o.Expired += before - e.live
	if e.live < e.maxGroups {
		return
	}
	o.Before = before
	swept := e.live
	target := nineTenths(e.maxGroups)
	e.evictLater(latest, target, now)
	e.evict(target, now)
	o.Evicted += swept - e.live
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

// evictLater removes groups whose newest entry is later than latest until target are
// left: a timestamp in the future does not protect a group from eviction.
func (e *Engine) evictLater(latest int64, target int, now int64) {
	var seconds []int64
	for _, st := range e.states {
		seconds = st.ages.AppendLater(seconds, latest)
	}
	slices.Sort(seconds)
	for _, at := range slices.Compact(seconds) {
		if e.live <= target {
			return
		}
		for _, st := range e.states {
			e.evictSecond(st, at, target, now)
		}
	}
}

// evict removes the groups with the oldest newest entry until target are left.
// Among groups of one age it removes those of the first correlations, by key.
func (e *Engine) evict(target int, now int64) {
	for e.live > target {
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
				e.evictSecond(st, at, target, now)
			}
		}
	}
}

func (e *Engine) evictSecond(st *correlationState, at int64, target int, now int64) {
	byKey := func(a, b uint32) int { return strings.Compare(st.groups[a].key, st.groups[b].key) }
	for _, slot := range st.ages.Sorted(at, st.second, byKey) {
		if e.live <= target {
			return
		}
		e.remove(st, slot, now)
	}
}

// remove removes the group in slot. It leaves a tombstone when the group still
// suppresses results.
func (e *Engine) remove(st *correlationState, slot uint32, now int64) {
	g := st.groups[slot]
	left := e.suppressionLeft(st, g, now)
	e.live--
	if left <= 0 {
		st.drop(slot)
		return
	}
	g = e.writable(st, slot)
	st.live--
	st.ages.Remove(slot)
	g.tombstone = true
	g.window, g.buffer = st.empty, nil
	g.hasHigh, g.high, g.late = false, 0, 0
}

// suppressionLeft returns for how long the last emission of g still suppresses.
func (e *Engine) suppressionLeft(st *correlationState, g *group, now int64) int64 {
	if !g.hasLast {
		return 0
	}
	return e.left(g.last, st.c.Suppress, now)
}

// left returns how much of a span that began at a time is left by the stream clock;
// it is negative when the span is over. The span of a time in the future is over;
// while the clock cannot tell whether the time is in the future, the whole span is
// left.
func (e *Engine) left(at, span, now int64) int64 {
	if at > e.clock.latest(now, 0) {
		return -1
	}
	return span - max(0, e.clock.now(now)-at)
}

// expire handles a timer that is due. It removes the group when the group has been
// idle for its horizon by the wall clock and is over by the stream clock; otherwise
// it sets the timer again.
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
			st.drop(t.slot)
			e.revision++
			return
		}
	} else {
		idle := g.touched - now + st.c.Horizon
		over := saturated(e.left(g.newest(), st.c.Horizon, now), 1)
		if left = max(idle, over); left <= 0 {
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
