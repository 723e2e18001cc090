package step

import (
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/result"
)

// Correlate brings the matches of batches to the correlations, one event after
// the other, and merges what fires with the detections of its line. Batches come
// in order, each between Begin and End.
type Correlate struct {
	// Engine has the state of the correlations. Another one may take its place
	// between two calls.
	Engine *correlation.Engine

	counted int     // lines of the batch whose matches are counted
	last    Counted // of the last of them

	// The event in hand: its record, and what came of it.
	record  []byte
	arrival int64
	now     int64
	fired   []*correlation.Result
	outcome correlation.Outcome

	step, undo func() // made once, as they escape

	merging
}

// Firing is a result of a correlation. It goes behind the given number of results
// of the batch.
type Firing struct {
	Behind uint32
	Event  uint32 // that fired it
	Result *correlation.Result
}

// Begun is what a batch brings.
type Begun struct {
	Events     int // decoded and evaluated
	Detections int
	Dropped    []correlation.Dropped // state that did not fit the rule set of the batch
}

// Counted is what the matches of a line did. It is valid until the next call.
type Counted struct {
	Firings []Firing
	Effects []correlation.Outcome // one for each event that did more than fire
}

// NewCorrelate returns the step with the state of an engine.
func NewCorrelate(e *correlation.Engine) *Correlate {
	c := &Correlate{Engine: e}
	c.step, c.undo = c.event, func() { c.Engine.Rollback() }
	return c
}

// none is the program of rule sets without correlations.
var none = new(correlation.Program)

// Program returns the correlations of a rule set, an empty program when there are
// none.
func Program(set *graph.RuleSet) *correlation.Program {
	if set.Correlation == nil {
		return none
	}
	return set.Correlation
}

// Begin takes b over. The state is carried over to the rule set of b.
func (c *Correlate) Begin(g Isolate, b *graph.Batch, now int64) (out Begun) {
	if p := Program(b.Set); c.Engine.Program() != p {
		g.Apply(func() { out.Dropped = c.Engine.Swap(p, now) })
	}
	c.counted = 0
	out.Events, out.Detections = c.measure(b)
	return out
}

// Count counts the matches of line i of b at wall time now in Unix seconds. An
// event counts as a whole or not at all. The error is that of the event which is
// to be taken out together with its line; the events of the line before it stay
// counted. Nothing is counted again when the line is given again.
func (c *Correlate) Count(g Isolate, b *graph.Batch, i int, now int64) (Counted, error) {
	if c.counted > i {
		return Counted{}, nil
	}
	c.last.Firings, c.last.Effects, c.now = c.last.Firings[:0], c.last.Effects[:0], now
	c.arrival = b.Arrival
	span := b.Outcomes[i].Matches
	for _, m := range b.Matches[span.From:span.To] {
		c.record = m.Record
		if err := g.Step(c.step, c.undo); err != nil {
			return c.last, err
		}
		c.Engine.Commit()
		if c.outcome != (correlation.Outcome{}) {
			c.last.Effects = append(c.last.Effects, c.outcome)
		}
		for _, r := range c.fired {
			c.last.Firings = append(c.last.Firings, Firing{m.Results, m.Event, r})
		}
	}
	c.counted = i + 1
	return c.last, nil
}

// event gives the event in hand to the engine. A record that cannot be read is the
// fault of its event, like a panic.
func (c *Correlate) event() {
	c.Engine.Begin()
	var err error
	if c.fired, c.outcome, err = c.Engine.Process(c.record, c.arrival, c.now, c.fired[:0]); err != nil {
		panic(err)
	}
}

// Merge returns the results of line i of b, detections and firings of each event
// together; nil when there are none. It is called once for a line, behind Count.
func (c *Correlate) Merge(b *graph.Batch, i int) *graph.ResultSet {
	o := &b.Outcomes[i]
	firings := c.last.Firings
	if o.Matches.Len() == 0 {
		firings = nil // another line's
	}
	if o.Results.Len() == 0 && len(firings) == 0 {
		return nil
	}
	c.begin()
	next, held := o.Results.From, 0
	for _, fired := range firings {
		c.detections(b, next, fired.Behind)
		next = fired.Behind
		c.arena.Add(graph.Result{Correlation: fired.Result})
		held += fired.Result.Held()
	}
	c.detections(b, next, o.Results.To)
	set := c.end(&b.Lines[i], o.Results.Len() == 0)
	set.Held += held
	if o.Results.Len() > 0 {
		set.Held += int(o.Held)
	}
	return set
}

// End gives back what the step holds of the batch.
func (c *Correlate) End() {
	c.arena.Leave()
	c.arena = nil
}

// matching is what Detect needs for the correlations of a rule set.
type matching struct {
	extractor *correlation.Extractor // nil when there are none
	source    *correlation.EventSource
	rules     []int // load indexes of the rules that the event in hand met
}

func newMatching(set *graph.RuleSet) matching {
	if !set.Correlates() {
		return matching{}
	}
	return matching{extractor: correlation.NewExtractor(set.Correlation), source: correlation.NewEventSource(set.Correlation, set.Engine)}
}

// match writes down event e, whose results begin at number from, and removes
// those that only feed correlations.
func (d *Detect) match(e uint32, from int) {
	b, spec := d.batch, d.set.Correlation.Spec()
	d.rules = d.rules[:0]
	wanted := false
	for r := from; r < b.Results.Len(); r++ {
		rule := b.Results.At(r).Rule.Index
		d.rules = append(d.rules, rule)
		wanted = wanted || spec.Wants(rule)
	}
	if !wanted {
		return
	}
	at, known := d.worker.Time(b.Events, int(e))
	if !known {
		d.outcome.Fallbacks++
		at = b.Arrival
	}
	record := len(b.Records)
	if known || !d.timed {
		d.source.Open(d.worker, b.Events, int(e))
		b.Records = d.extractor.Append(b.Records, d.rules, at, d.source)
	}
	b.Results.Keep(from, func(r *result.Detection) bool {
		emitted := d.set.Correlation.Emits(r.Rule.Index)
		if !emitted {
			b.Withheld = append(b.Withheld, uint32(r.Rule.Index))
		}
		return emitted
	})
	if known || !d.timed {
		b.Matches = append(b.Matches, graph.Match{
			Record: b.Records[record:len(b.Records):len(b.Records)], Results: uint32(b.Results.Len()), Event: e,
		})
	}
}
