package step

import (
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/result"
)

// Detect evaluates the events of batches and writes down what correlations want
// to know of them. Each goroutine has its own.
type Detect struct {
	timed  bool
	set    *graph.RuleSet
	worker *engine.Worker // of set

	// For the correlations of set; extractor is nil when there are none.
	extractor *correlation.Extractor
	source    *correlation.EventSource
	rules     []int // load indexes of the rules that the event in hand met

	batch   *graph.Batch // in hand
	before  lengths      // before the line in hand
	outcome Detected

	step, undo func(i int) // made once, as they escape
	poisoned   func(i int, cause error)
}

// lengths are how much of a batch's memory is used.
type lengths struct{ results, matches, records, held int }

// Detected is what happened while the events of a batch were evaluated.
type Detected struct {
	engine.Stats
	Fallbacks uint64 // matches for correlations of events without a time of their own
	Poisoned  []Poisoned
}

// NewDetect returns the step. With timed, events without a time of their own do
// not reach correlations; otherwise they have that of their arrival.
func NewDetect(timed bool) *Detect {
	d := &Detect{timed: timed}
	d.step, d.undo, d.poisoned = d.line, d.forget, d.quarantine
	return d
}

// Batch evaluates the events of b by its rule set: it makes the results and the
// matches of b and completes the outcomes of its lines. It may run again for the
// same batch.
func (d *Detect) Batch(g Isolate, b *graph.Batch) Detected {
	if b.Results == nil {
		b.Results = new(result.Batch)
	}
	b.Results.Truncate(0)
	b.Matches, b.Records, b.Held = b.Matches[:0], b.Records[:0], 0
	if b.Events.Len() == 0 {
		return Detected{}
	}
	d.use(b.Set)
	d.batch, d.outcome = b, Detected{}
	held := b.Results.Held()
	g.Each(0, len(b.Lines), d.step, d.undo, d.poisoned)
	b.Held = b.Results.Held() - held + len(b.Records)
	d.outcome.Stats = d.worker.TakeStats()
	return d.outcome
}

// use goes on by a rule set.
func (d *Detect) use(set *graph.RuleSet) {
	if d.set != nil && d.set.Same(set) {
		return
	}
	d.set, d.worker, d.extractor, d.source = set, set.Engine.NewWorker(), nil, nil
	if set.Correlates() {
		d.extractor, d.source = correlation.NewExtractor(set.Correlation), correlation.NewEventSource(set.Correlation, set.Engine)
	}
}

func (d *Detect) line(i int) {
	b := d.batch
	outcome := &b.Outcomes[i]
	d.before = lengths{b.Results.Len(), len(b.Matches), len(b.Records), b.Results.Held()}
	for e := outcome.Events.From; e < outcome.Events.To; e++ {
		from := b.Results.Len()
		d.worker.Evaluate(b.Events, int(e), b.Arrival, b.Results)
		if d.extractor != nil && b.Results.Len() > from {
			d.match(int(e), from)
		}
	}
	outcome.Results = graph.Span{From: uint32(d.before.results), To: uint32(b.Results.Len())}
	outcome.Matches = graph.Span{From: uint32(d.before.matches), To: uint32(len(b.Matches))}
	outcome.Held = uint32(b.Results.Held() - d.before.held)
}

func (d *Detect) forget(int) {
	b := d.batch
	b.Results.Truncate(d.before.results)
	b.Matches, b.Records = b.Matches[:d.before.matches], b.Records[:d.before.records]
}

func (d *Detect) quarantine(i int, cause error) {
	d.outcome.Poisoned = quarantine(d.outcome.Poisoned, d.batch, i, cause)
}

// match writes down event e, whose results begin at number from, and removes
// those that only feed correlations.
func (d *Detect) match(e, from int) {
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
	at, known := d.worker.Time(b.Events, e)
	if !known {
		d.outcome.Fallbacks++
		at = b.Arrival
	}
	record := len(b.Records)
	if known || !d.timed {
		d.source.Open(d.worker, b.Events, e)
		b.Records = d.extractor.Append(b.Records, d.rules, at, d.source)
	}
	b.Results.Keep(from, func(r *result.Detection) bool { return d.set.Correlation.Emits(r.Rule.Index) })
	if known || !d.timed {
		b.Matches = append(b.Matches, graph.Match{
			Record: b.Records[record:len(b.Records):len(b.Records)], Results: uint32(b.Results.Len()),
		})
	}
}
