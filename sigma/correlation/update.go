package correlation

import (
	"slices"

	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
)

// verdict is what the window rule says of a timestamp.
type verdict uint8

const (
	extend  verdict = iota
	restart         // clear, then extend
	discard
)

// apply brings a match, or with direct being false a firing below, into its group
// and returns the result that fires, if one does. It contributes e.value; the key
// is not kept.
func (e *Engine) apply(f *family, hash uint64, key []byte, direct bool) *Result {
	c, ts := f.c, e.record.Time
	slot, g := f.find(hash, key)
	switch {
	case g == nil:
		slot, g = e.create(f, hash, key)
	case g.exported != e.exports || g.event != e.event || g.ghost || g.sweep != f.sweeps:
		g = e.take(f, slot, g)
	}
	if !e.admit(f, slot, g, ts) {
		e.outcome.Late++
		return nil
	}
	g.touched = e.wall
	g.low = min(g.low, ts)
	g.window.Add(ts, &e.value, e.journal.undoing())
	if c.MaxEntries > 0 {
		g.window.Trim(c.MaxEntries, c.Window == program.Session)
	}
	if c.Stores && direct {
		e.store(c, g, ts)
	}
	value, _, met := c.Condition.Evaluate(g.window)
	if !met {
		return nil
	}
	return e.fire(f, slot, g, value, direct)
}

// create makes the group of a key that has none.
func (e *Engine) create(f *family, hash uint64, key []byte) (uint32, *group) {
	g := &group{
		key: string(key), window: f.c.NewWindow(),
		state: state{low: unentered, exported: e.exports, event: e.event, touched: e.wall, sweep: f.sweeps},
	}
	slot := f.put(g, hash)
	e.live++
	e.setAlarm(f, slot, g, saturated(e.wall, f.c.Horizon))
	e.created(f, slot)
	return slot, g
}

// take makes the group in slot ready to be changed: nobody else sees it, the
// journal has it, and it is no ghost.
func (e *Engine) take(f *family, slot uint32, g *group) *group {
	if g.exported != e.exports {
		g = e.fork(f, slot, g)
	}
	if g.event != e.event {
		e.save(f, slot, g)
	}
	if g.ghost {
		g.hasLast = g.hasLast && g.last <= e.clock.latest(e.wall, 0)
		g.ghost, g.sweep, g.touched = false, f.sweeps, e.wall
		g.window, g.low = f.c.NewWindow(), unentered
		e.resetAlarm(f, slot, g, saturated(e.wall, f.c.Horizon))
		f.live++
		e.live++
		f.ages.Insert(slot, g.age())
	}
	if g.sweep != f.sweeps {
		g.sweep = f.sweeps
		g.dropBefore(f.cutoff)
	}
	return g
}

// admit applies the window rule and reports whether ts counts.
func (e *Engine) admit(f *family, slot uint32, g *group, ts int64) bool {
	c := f.c
	if c.Window == program.Sliding && g.hasHigh && ts >= g.high-c.Span { // nearly always
		g.late = 0
		g.high = max(g.high, ts)
		g.dropBefore(g.high - c.Span)
		return true
	}
	switch judge(c, g, ts) {
	case restart:
		g.clear()
	case discard:
		if g.late++; g.late < believed {
			return false
		}
		// The group stands at a time nobody else believes in: begin anew here.
		g.clear()
		f.ages.Lower(slot, g.age())
		g.high = ts
		g.hasLast = g.hasLast && g.last <= ts
	}
	g.late = 0
	if !g.hasHigh || ts > g.high {
		g.high, g.hasHigh = ts, true
	}
	switch c.Window {
	case program.Sliding:
		g.dropBefore(g.high - c.Span)
	case program.Tumbling: // only another plan's window has entries before this one
		g.dropBefore(g.high - g.high%c.Span)
	}
	return true
}

// judge is the window rule of specification part 11 section 5.2.
func judge(c *program.Correlation, g *group, ts int64) verdict {
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
		return judgeSession(c, g, ts)
	case ts < g.high-c.Span:
		return discard
	}
	return extend
}

func judgeSession(c *program.Correlation, g *group, ts int64) verdict {
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

// store keeps the event in hand, a reference or a copy that all groups share.
func (e *Engine) store(c *program.Correlation, g *group, ts int64) {
	s := stored{ts: ts}
	switch {
	case c.Events == program.EventsFull:
		if e.copied == nil {
			e.copied = slices.Clone(e.record.Copy)
		}
		s.data = e.copied
	case e.record.HasID:
		s.hasID, s.data = true, slices.Clone(e.record.ID)
	}
	at := len(g.buffer)
	for at > 0 && g.buffer[at-1].ts > ts {
		at--
	}
	if at == len(g.buffer) {
		g.buffer = append(g.buffer, s)
	} else {
		g.buffer = slices.Insert(slices.Clone(g.buffer), at, s)
	}
	if over := len(g.buffer) - c.MaxEvents; over > 0 {
		g.buffer = g.buffer[over:]
	}
}

// fire makes the result of a condition that is met, unless it is suppressed.
func (e *Engine) fire(f *family, slot uint32, g *group, value float64, direct bool) *Result {
	c, ts := f.c, e.record.Time
	now := max(ts, g.newest())
	if c.Suppress > 0 && g.hasLast && now-g.last < c.Suppress {
		e.outcome.Suppressed++
		return nil
	}
	r := &e.results.take(1, resultPage)[0]
	*r = Result{Rule: c.Rule, Key: f.pairs(g.key, &e.pairs), Value: value, Time: ts}
	if c.Stores && direct {
		e.events(g, r, c.Events)
	}
	g.last, g.hasLast = now, true
	if c.Resets {
		g.clear()
		f.ages.Lower(slot, g.age())
	}
	if len(c.Uppers) > 0 {
		e.fired = append(e.fired, firing{f, g.key})
	}
	return r
}

// saturated adds a span to a time without overflow.
func saturated(at, span int64) int64 {
	const limit = 1 << 61
	return min(min(at, limit)+min(span, limit), limit)
}
