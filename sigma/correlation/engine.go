package correlation

import (
	"bytes"
	"compress/flate"
	"io"
	"math"

	"github.com/sluicehq/sluice/sigma/correlation/internal/match"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
	"github.com/sluicehq/sluice/sigma/correlation/internal/wheel"
	"github.com/sluicehq/sluice/sigma/correlation/internal/window"
)

// Engine holds the state of all correlations. It belongs to one goroutine.
type Engine struct {
	program  *program.Program
	states   []*correlationState // by correlation
	layout   *layout             // of their groups
	limits   Limits
	live     int // groups over all correlations
	bytes    int // what they and all tombstones take
	buried   int // the part of tombstones
	clock    streamClock
	timers   wheel.Wheel[timer]
	exports  uint32       // number of exports; the last one shares all groups that are older
	revision uint64       // number of changes
	secret   match.Secret // of the hashes of long texts; zero until there is one

	journal journal
	event   uint32 // number of the current event; only good for equality

	// Scratch of the current event.
	record  match.Record
	wall    int64
	arrival int64
	future  bool // the event is far-future
	outcome Outcome
	value   window.Contribution // of the current update
	copied  []byte              // the event's stored copy, shared by all its groups
	id      []byte              // its stored reference, likewise
	stores  bool                // some group has one of them
	fired   []firing
	next    []firing
	key     []byte
	text    []byte
	single  []byte
	inflate io.ReadCloser
	results arena[Result]
	pairs   arena[Pair]
}

// timer is set for a group that may have expired when it is due.
type timer struct {
	state *correlationState
	slot  uint32
	use   uint32
}

// valid reports whether the group that the timer was set for still exists.
func (t *timer) valid() bool { return !t.state.removed && t.state.uses[t.slot] == t.use }

// firing is an emitted result to be forwarded to dependent correlations.
type firing struct {
	state *correlationState
	key   string
}

// Outcome says what an event or a tick did besides returning results.
type Outcome struct {
	Suppressed int // results withheld by suppression
	Late       int // matches discarded as too old
	Truncated  int // firings not forwarded because the chain is too long
	Evicted    int // groups removed because of the limits
	Before     int // number of groups before the eviction, when Evicted is not zero
	Bytes      int // what the state took then
	Expired    int // groups removed because they were idle or over
	Forgotten  int // tombstones removed because of the limits
}

// New returns an engine without state.
func New(p *program.Program, limits Limits) *Engine {
	e := &Engine{program: p, limits: limits.orDefault(), layout: new(layout)}
	for i := range p.Len() {
		e.states = append(e.states, newCorrelationState(p.At(i)))
	}
	return e
}

// Program returns the program in use.
func (e *Engine) Program() *program.Program { return e.program }

// Revision changes whenever the state does: exports of one revision are equal.
func (e *Engine) Revision() uint64 { return e.revision }

// ContinueRevision makes all further revisions greater than the given one: for an
// engine that replaces another, so that their revisions differ.
func (e *Engine) ContinueRevision(revision uint64) { e.revision = max(e.revision, revision) + 1 }

// Process takes the record of one event, as an Extractor for the engine's program
// wrote it, that arrived and is processed at these wall times in Unix seconds. It
// appends the results that fire to out: direct ones in the order produced, then
// chained ones level by level. Results stay valid until Release. A record for another
// program is an error.
func (e *Engine) Process(record []byte, arrival, now int64, out []*Result) ([]*Result, Outcome, error) {
	e.outcome = Outcome{}
	r := &e.record
	if _, err := r.Open(e.program.Spec(), record); err != nil {
		return out, e.outcome, err
	}
	e.revision++
	e.wall, e.arrival = now, arrival
	e.future = r.Time > arrival+maxLead
	e.clock.observe(min(r.Time, arrival+maxLead), now)
	if e.full() {
		e.makeRoom(now, &e.outcome)
	}
	if e.stores {
		e.copied, e.id, e.stores = nil, nil, false
	}
	e.fired = e.fired[:0]
	for i := range r.Len() {
		feed, hash, key := r.Update(i, &e.value)
		if r.Long {
			hash, key = e.seal(feed.Kind, key)
		}
		if result := e.apply(e.states[feed.Correlation], hash, key, true); result != nil {
			out = append(out, result)
		}
	}
	if len(e.fired) > 0 {
		out = e.propagate(out)
	}
	return out, e.outcome, nil
}

// Advance removes groups that have expired at wall time now. Call it about once a
// second, between two events.
func (e *Engine) Advance(now int64) Outcome {
	o, _ := e.AdvanceSome(now, math.MaxInt)
	return o
}

// AdvanceSome is Advance for callers whose events must not wait for long: it looks
// at no more than limit timers and reports whether these were all. If not, the next
// call continues.
func (e *Engine) AdvanceSome(now int64, limit int) (o Outcome, all bool) {
	all = e.timers.AdvanceSome(now, limit, func(t timer) { e.expire(t, now, &o) })
	e.limitTombstones(&o)
	e.pruneTimers()
	if o.Expired > 0 || o.Forgotten > 0 {
		e.revision++
	}
	return o, all
}

// writable returns the group in slot for changing: a copy when an export shares it.
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
	if g.extra != nil {
		fork.extra = new(*g.extra)
	}
	fork.exported = e.exports
	st.groups[slot] = &fork
	return &fork
}

// setAlarm sets the timer of g, in slot, which has no valid timer.
func (e *Engine) setAlarm(st *correlationState, slot uint32, g *group, at int64) {
	g.alarm = at
	e.timers.Add(at, timer{st, slot, st.uses[slot]})
}

// resetAlarm replaces the timer of g, in slot.
func (e *Engine) resetAlarm(st *correlationState, slot uint32, g *group, at int64) {
	st.uses[slot]++
	e.setAlarm(st, slot, g, at)
}

// events returns the buffered events of g as a result shows them.
func (e *Engine) events(g *group, r *Result, mode program.EventMode) {
	switch mode {
	case program.EventsRefs:
		r.Refs = make([]EventRef, 0, len(g.buffer()))
		for _, s := range g.buffer() {
			r.Refs = append(r.Refs, EventRef{Time: s.ts, ID: string(s.data), HasID: s.hasID})
		}
	case program.EventsFull:
		r.Events = make([][]byte, 0, len(g.buffer()))
		for _, s := range g.buffer() {
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
