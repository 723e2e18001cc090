package correlation

import (
	"slices"

	"github.com/sluicehq/sluice/sigma/correlation/plan"
	"github.com/sluicehq/sluice/sigma/correlation/window"
)

// update is one match, or one firing below, seen by one correlation.
type update struct {
	family *family
	hash   uint64
	key    []byte // not kept
	ts     int64
	wall   int64
	value  *window.Contribution
	direct bool // a match: its event is stored
}

// verdict is what the window rule says of a timestamp.
type verdict uint8

const (
	extend  verdict = iota
	restart         // clear, then extend
	discard
)

// apply brings an update into its group and returns the result that fires, if
// one does.
func (e *Engine) apply(u *update, o *Outcome) *Result {
	f, c := u.family, u.family.c
	slot, g := e.group(u)
	if !e.admit(f, slot, g, u.ts) {
		o.Late++
		return nil
	}
	g.touched = u.wall
	g.low = min(g.low, u.ts)
	g.window.Add(u.ts, u.value, e.journal.undoing())
	if c.MaxEntries > 0 {
		g.window.Trim(c.MaxEntries, c.Window == plan.Session)
	}
	if c.Stores && u.direct {
		e.store(c, g, u.ts)
	}
	value, _, met := c.Condition.Evaluate(g.window)
	if !met {
		return nil
	}
	return e.fire(f, slot, g, u, value, o)
}

// group returns the group of an update, saved in the journal and ready to be
// changed. It is made when there is none.
func (e *Engine) group(u *update) (uint32, *group) {
	f := u.family
	slot, found := f.find(u.hash, u.key)
	if !found {
		g := &group{
			key: string(u.key), window: f.c.NewWindow(),
			state: state{low: unentered, exported: e.exports, event: e.event, touched: u.wall, sweep: f.sweeps},
		}
		slot = f.put(g, u.hash)
		e.live++
		e.setAlarm(f, slot, g, saturated(u.wall, f.c.Horizon))
		e.journal.created(f, slot)
		return slot, g
	}
	g := e.own(f, slot)
	e.save(f, slot, g)
	if g.ghost {
		g.ghost, g.sweep, g.touched = false, f.sweeps, u.wall
		g.window, g.low = f.c.NewWindow(), unentered
		e.resetAlarm(f, slot, g, saturated(u.wall, f.c.Horizon))
		f.live++
		e.live++
		f.ages.Insert(slot, g.age())
	}
	if g.sweep != f.sweeps {
		g.sweep = f.sweeps
		g.dropBefore(f.cutoff)
	}
	return slot, g
}

// admit applies the window rule and reports whether ts counts.
func (e *Engine) admit(f *family, slot uint32, g *group, ts int64) bool {
	c := f.c
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
	if c.Window == plan.Sliding {
		cutoff := g.high - c.Span
		g.dropBefore(cutoff)
		g.dropEvents(cutoff)
	}
	return true
}

// judge is the window rule of specification part 11 section 5.2.
func judge(c *plan.Correlation, g *group, ts int64) verdict {
	switch {
	case !g.hasHigh:
		return extend
	case c.Window == plan.Tumbling:
		switch have, is := g.high/c.Span, ts/c.Span; {
		case is > have:
			return restart
		case is < have:
			return discard
		}
		return extend
	case c.Window == plan.Session:
		return judgeSession(c, g, ts)
	case ts < g.high-c.Span:
		return discard
	}
	return extend
}

func judgeSession(c *plan.Correlation, g *group, ts int64) verdict {
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
func (e *Engine) store(c *plan.Correlation, g *group, ts int64) {
	s := stored{ts: ts}
	switch {
	case c.Events == plan.EventsFull:
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

func (g *group) dropEvents(cutoff int64) {
	for len(g.buffer) > 0 && g.buffer[0].ts < cutoff {
		g.buffer = g.buffer[1:]
	}
}

// fire makes the result of a condition that is met, unless it is suppressed.
func (e *Engine) fire(f *family, slot uint32, g *group, u *update, value float64, o *Outcome) *Result {
	c := f.c
	now := max(u.ts, g.newest())
	if c.Suppress > 0 && g.hasLast && now-g.last < c.Suppress {
		o.Suppressed++
		return nil
	}
	r := &e.results.take(1, resultPage)[0]
	*r = Result{Rule: c.Rule, Key: f.pairs(g.key, &e.pairs), Value: value, Time: u.ts}
	if c.Stores && u.direct {
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
