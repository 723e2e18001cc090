package correlation

import (
	"slices"

	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
)

// verdict is the decision of the window rule about a timestamp.
type verdict uint8

const (
	extend  verdict = iota
	restart         // clear, then extend
	discard
)

// apply adds e.value, of a match or, with direct false, of a firing, to its group. It
// returns the result that fires, nil for none. It does not keep key.
func (e *Engine) apply(st *correlationState, hash uint64, key []byte, direct bool) *Result {
	c, ts := st.c, e.record.Time
	slot, g := st.find(hash, key)
	before := 0
	if g == nil {
		slot, g = e.create(st, hash, key)
	} else {
		before = g.bytes
		if g.exported != e.exports || g.event != e.event || g.tombstone || g.sweep != st.sweeps {
			g = e.prepare(st, slot, g)
		}
	}
	var result *Result
	if e.admit(st, slot, g, ts) {
		g.touched = e.wall
		g.low = min(g.low, ts)
		g.bytes += g.window.Add(ts, &e.value, e.journal.undoing())
		if c.MaxEntries > 0 {
			g.bytes += g.window.Trim(c.MaxEntries, c.Window == program.Session)
		}
		if c.Stores && direct {
			e.store(c, g, ts)
		}
		if value, _, met := c.Condition.Evaluate(g.window); met {
			result = e.fire(st, slot, g, value, direct)
		}
	} else {
		e.outcome.Late++
	}
	e.bytes += g.bytes - before
	return result
}

// create adds a group for a key that has none.
func (e *Engine) create(st *correlationState, hash uint64, key []byte) (uint32, *group) {
	g := &group{
		key: string(key), window: st.c.NewWindow(),
		groupState: groupState{low: noEntries, exported: e.exports, event: e.event, touched: e.wall, sweep: st.sweeps},
	}
	g.bytes = st.bare(g)
	slot := st.put(g, hash)
	e.live++
	e.setAlarm(st, slot, g, saturated(e.wall, st.c.Horizon))
	e.created(st, slot)
	return slot, g
}

// prepare makes the group in slot ready to be changed: no export shares it, the
// journal has a copy, and it is no tombstone.
func (e *Engine) prepare(st *correlationState, slot uint32, g *group) *group {
	if g.exported != e.exports {
		g = e.fork(st, slot, g)
	}
	if g.event != e.event {
		e.save(st, slot, g)
	}
	if g.tombstone {
		g.tombstone, g.sweep, g.touched = false, st.sweeps, e.wall
		e.buried -= g.bytes
		g.window, g.low, g.bytes = st.c.NewWindow(), noEntries, st.bare(g)
		e.resetAlarm(st, slot, g, saturated(e.wall, st.c.Horizon))
		st.live++
		e.live++
		st.ages.Insert(slot, g.age())
	}
	if g.sweep != st.sweeps {
		g.sweep = st.sweeps
		g.dropBefore(st.cutoff)
	}
	return g
}

// admit applies the window rule and reports whether ts counts.
func (e *Engine) admit(st *correlationState, slot uint32, g *group, ts int64) bool {
	c := st.c
	if c.Window == program.Sliding && g.hasHigh && ts >= g.high-c.Span && g.future == e.future { // nearly always
		g.late = 0
		g.high = max(g.high, ts)
		g.dropBefore(g.high - c.Span)
		return true
	}
	switch decide(c, g, ts) {
	case restart:
		st.clear(g)
	case discard:
		if g.late++; g.late < believed {
			return false
		}
		// The group is at a time in the future: begin again at the present.
		st.clear(g)
		st.ages.Lower(slot, g.age())
		g.hasHigh = false
		g.hasLast = g.hasLast && g.last <= ts
	}
	g.late = 0
	// The same time again is no longer far-future, once an event of its day has it.
	if !g.hasHigh || ts > g.high || ts == g.high && !e.future {
		g.high, g.hasHigh = ts, true
		st.setFuture(slot, g, e.future)
	}
	switch c.Window {
	case program.Sliding:
		g.dropBefore(g.high - c.Span)
	case program.Tumbling: // older entries are left from another program's window
		g.dropBefore(g.high - g.high%c.Span)
	}
	return true
}

// decide is the window rule: it decides whether a timestamp extends the window of g,
// begins a new one, or is too old.
func decide(c *program.Correlation, g *group, ts int64) verdict {
	switch {
	case !g.hasHigh:
		return extend
	case c.Window == program.Tumbling:
		switch have, is := g.high/c.Span, ts/c.Span; {
		case is > have:
			return restart
		case is < have:
			return discard
		}
		return extend
	case c.Window == program.Session:
		return decideSession(c, g, ts)
	case ts < g.high-c.Span:
		return discard
	}
	return extend
}

func decideSession(c *program.Correlation, g *group, ts int64) verdict {
	start := g.high // emptied by an action: the session begins with the next match
	if g.window.Len() > 0 {
		start = g.window.First()
	}
	switch {
	case ts < g.high:
		if ts >= start-c.Gap && g.high-ts <= c.Span {
			return extend
		}
		return discard
	case g.window.Len() == 0:
		return extend
	case ts-g.high > c.Gap || ts-start > c.Span:
		return restart
	}
	return extend
}

// store keeps the current event: a reference, or a copy that all groups share.
func (e *Engine) store(c *program.Correlation, g *group, ts int64) {
	s := stored{ts: ts}
	e.stores = true
	switch {
	case c.Events == program.EventsFull:
		if e.copied == nil {
			e.copied = slices.Clone(e.record.Copy)
		}
		s.data = e.copied
	case e.record.HasID:
		if e.id == nil {
			e.id = slices.Clone(e.record.ID)
		}
		s.hasID, s.data = true, e.id
	}
	g.bytes += s.weight()
	x := g.more()
	at := len(x.buffer)
	for at > 0 && x.buffer[at-1].ts > ts {
		at--
	}
	if at == len(x.buffer) {
		x.buffer = append(x.buffer, s)
	} else {
		x.buffer = slices.Insert(slices.Clone(x.buffer), at, s)
	}
	for len(x.buffer) > c.MaxEvents {
		g.bytes -= x.buffer[0].weight()
		x.buffer = x.buffer[1:]
	}
}

// fire returns the result of a condition that is met, nil when it is suppressed.
func (e *Engine) fire(st *correlationState, slot uint32, g *group, value float64, direct bool) *Result {
	c, ts := st.c, e.record.Time
	now := max(ts, g.newest())
	if c.Suppress > 0 && g.hasLast && now-g.last < c.Suppress && !e.lapsed(c, g) {
		e.outcome.Suppressed++
		return nil
	}
	r := &e.results.take(1, resultPage)[0]
	*r = Result{Rule: c.Rule, Key: st.pairs(g.key, &e.pairs), Value: value, Time: ts}
	if c.Stores && direct {
		e.events(g, r, c.Events)
	}
	g.last, g.hasLast, g.lastFuture = now, true, now > e.arrival+maxLead
	if g.lastFuture {
		g.more().arrival = e.arrival
	}
	if c.Resets {
		st.clear(g)
		st.ages.Lower(slot, g.age())
	}
	if len(c.Dependents) > 0 {
		e.fired = append(e.fired, firing{st, g.key})
	}
	return r
}

// lapsed reports whether the last emission of g is far-future and has suppressed
// for long enough since its event arrived.
func (e *Engine) lapsed(c *program.Correlation, g *group) bool {
	return g.lastFuture && e.wall-g.extra.arrival >= c.Suppress
}

// setFuture notes whether the newest time of the group in slot is far-future.
func (st *correlationState) setFuture(slot uint32, g *group, future bool) {
	if g.future != future {
		g.future = future
		st.ages.Move(slot, g.age())
	}
}

// saturated adds a span to a time without overflow.
func saturated(at, span int64) int64 {
	const limit = 1 << 61
	return min(min(at, limit)+min(span, limit), limit)
}
