package correlation

import (
	"bytes"
	"compress/flate"
	"io"
	"math"

	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
	"github.com/sluicehq/sluice/sigma/correlation/internal/wheel"
	"github.com/sluicehq/sluice/sigma/correlation/internal/window"
	"github.com/sluicehq/sluice/sigma/correlation/match"
)

// DefaultMaxGroups is the limit on groups when none is configured.
const DefaultMaxGroups = 100_000

// Engine holds the state of all correlations. It belongs to one goroutine.
type Engine struct {
	program   *program.Program
	states    []*correlationState // by correlation
	maxGroups int
	live      int // groups over all families
	clock     streamClock
	timers    wheel.Wheel[timer]
	exports   uint32 // exports so far; groups made before the last are shared with it
	revision  uint64 // changes so far

	journal journal
	event   uint32 // number of the current event; only equality means something

	// Scratch of the current event.
	record  match.Record
	wall    int64
	outcome Outcome
	value   window.Contribution // of the current update
	copied  []byte              // the event's stored copy, shared by all its groups
	fired   []firing
	next    []firing
	key     []byte
	text    []byte
	inflate io.ReadCloser
	results arena[Result]
	pairs   arena[Pair]
}

// timer reminds of a group that may have expired.
type timer struct {
	state *correlationState
	slot  uint32
	use   uint32
}

// counts reports whether the group the timer was set for is still there.
func (t *timer) counts() bool { return !t.state.removed && t.state.uses[t.slot] == t.use }

// firing is an emitted result on its way to correlations above.
type firing struct {
	state *correlationState
	key   string
}

// Outcome says what an event or a tick did beside results.
type Outcome struct {
	Suppressed int // firings that suppression withheld
	Late       int // matches discarded as too old
	Truncated  int // firings not propagated because the chain is too long
	Evicted    int // groups removed because of the limit
	Before     int // groups there were before, when Evicted is not zero
	Expired    int // groups removed because they were idle or over
	Forgotten  int // suppression times without a group, given up because of the limit
}

// New returns an engine without state. maxGroups is the limit on groups over
// all correlations; 0 means DefaultMaxGroups.
func New(p *program.Program, maxGroups int) *Engine {
	if maxGroups <= 0 {
		maxGroups = DefaultMaxGroups
	}
	e := &Engine{program: p, maxGroups: maxGroups}
	for i := range p.Len() {
		e.states = append(e.states, newCorrelationState(p.At(i)))
	}
	return e
}

// Plan returns the plan in force.
func (e *Engine) Program() *program.Program { return e.program }

// Groups returns the number of groups over all correlations.
func (e *Engine) Groups() int { return e.live }

// MaxGroups returns the limit on groups.
func (e *Engine) MaxGroups() int { return e.maxGroups }

// Revision changes with the state: as long as it is the same, so is an export.
func (e *Engine) Revision() uint64 { return e.revision }

// Succeed lets revisions go on behind the given one: for an engine that takes the
// place of another, so that nobody takes its state for one of the other's.
func (e *Engine) ContinueRevision(revision uint64) { e.revision = max(e.revision, revision) + 1 }

// Process takes the record of one event, as match.Extractor wrote it for the
// engine's plan, at wall time now in Unix seconds. It appends the results that
// fire to out: direct ones in the order produced, then chained ones level by
// level. Results stay valid until Release, for ever when that is never called.
func (e *Engine) Process(record []byte, now int64, out []*Result) ([]*Result, Outcome, error) {
	e.outcome = Outcome{}
	r := &e.record
	if _, err := r.Open(e.program.Spec(), record); err != nil {
		return out, e.outcome, err
	}
	e.revision++
	e.wall = now
	e.clock.observe(r.Time, now)
	if e.live >= e.maxGroups {
		e.makeRoom(e.clock.latest(now, 1), now, &e.outcome)
	}
	if e.copied != nil {
		e.copied = nil
	}
	e.fired = e.fired[:0]
	for i := range r.Len() {
		feed, hash, key := r.Update(i, &e.value)
		if result := e.apply(e.states[feed.Correlation], hash, key, true); result != nil {
			out = append(out, result)
		}
	}
	if len(e.fired) > 0 {
		out = e.propagate(out)
	}
	return out, e.outcome, nil
}

// Advance lets go of groups that have been idle for long enough at wall time
// now. It is to be called about once a second, between two events.
func (e *Engine) Advance(now int64) Outcome {
	o, _ := e.AdvanceSome(now, math.MaxInt)
	return o
}

// AdvanceSome is Advance for somebody whom events wait for: it looks at limit timers
// at most, and reports whether that was all. If not, the next call goes on.
func (e *Engine) AdvanceSome(now int64, limit int) (o Outcome, all bool) {
	all = e.timers.AdvanceSome(now, limit, func(t timer) { e.expire(t, now, &o) })
	e.limitTombstones(now, &o)
	e.pruneTimers()
	if o.Expired > 0 || o.Forgotten > 0 {
		e.revision++
	}
	return o, all
}

// own returns the group in slot for changing: a fork when an export has seen it.
func (e *Engine) writable(st *correlationState, slot uint32) *group {
	g := st.groups[slot]
	if g.exported == e.exports {
		return g
	}
	return e.fork(st, slot, g)
}

func (e *Engine) fork(st *correlationState, slot uint32, g *group) *group {
	fork := *g
	fork.window = g.window.Fork()
	fork.exported = e.exports
	st.groups[slot] = &fork
	return &fork
}

// setAlarm sets the timer of g, in slot, of which no other timer counts.
func (e *Engine) setAlarm(st *correlationState, slot uint32, g *group, at int64) {
	g.alarm = at
	e.timers.Add(at, timer{st, slot, st.uses[slot]})
}

// resetAlarm sets the timer of g anew; the one set before no longer counts.
func (e *Engine) resetAlarm(st *correlationState, slot uint32, g *group, at int64) {
	st.uses[slot]++
	e.setAlarm(st, slot, g, at)
}

// events returns the buffered events of g as a result shows them.
func (e *Engine) events(g *group, r *Result, mode program.EventMode) {
	switch mode {
	case program.EventsRefs:
		r.Refs = make([]EventRef, 0, len(g.buffer))
		for _, s := range g.buffer {
			r.Refs = append(r.Refs, EventRef{Time: s.ts, ID: string(s.data), HasID: s.hasID})
		}
	case program.EventsFull:
		r.Events = make([][]byte, 0, len(g.buffer))
		for _, s := range g.buffer {
			if raw, err := e.unpack(s.data); err == nil {
				r.Events = append(r.Events, raw)
			}
		}
	}
}

// unpack inflates a stored copy.
func (e *Engine) unpack(data []byte) ([]byte, error) {
	src := bytes.NewReader(data)
	if e.inflate == nil {
		e.inflate = flate.NewReader(src)
	} else if err := e.inflate.(flate.Resetter).Reset(src, nil); err != nil {
		return nil, err
	}
	return io.ReadAll(e.inflate)
}
