package step

import (
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/result"
)

// Detect evaluates the events of batches and writes down what the rules that count
// over several events have to know of them. Each goroutine has its own.
type Detect struct {
	timed   bool
	origins *Origins // nil counts nothing
	shapes  *Shapes  // nil looks at nothing
	set     *graph.RuleSet
	worker  *engine.Worker // of set

	matching // for the rules of set that count over events

	products *products // nil while nobody asks, or the set routes by log source

	batch   *graph.Batch // in hand
	before  lengths      // before the line in hand
	outcome Detected

	step, undo func(i int) // made once, as they escape
	poisoned   func(i int, cause error)

	// TellEvents has it say in the batch which event each result is of.
	TellEvents bool
}

// sizeOfIndex is what a load index takes in a batch.
const sizeOfIndex = 4

// lengths are how much of a batch's memory is used.
type lengths struct{ results, withheld, matches, records, held int }

// Detected is what happened while the events of a batch were evaluated.
type Detected struct {
	engine.Stats
	Fallbacks uint64 // matches of events without a time of their own
	Poisoned  []Poisoned
}

// NewDetect returns the step. With timed, events without a time of their own do not
// reach the rules that count over events; otherwise they have that of their arrival.
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
	b.Matches, b.Records, b.Withheld, b.EventOf, b.Held = b.Matches[:0], b.Records[:0], b.Withheld[:0], b.EventOf[:0], 0
	if b.Events.Len() == 0 {
		return Detected{}
	}
	d.use(b.Set)
	d.products.forget(0)
	d.batch, d.outcome = b, Detected{}
	held := b.Results.Held()
	g.Each(0, len(b.Lines), d.step, d.undo, d.poisoned)
	b.Held = b.Results.Held() - held + len(b.Records) + sizeOfIndex*len(b.Withheld)
	d.products.count(b)
	d.worker.Rest()
	d.outcome.Stats = d.worker.TakeStats()
	d.shapes.look(b, d.outcome.Stats)
	return d.outcome
}

// use switches to a rule set.
func (d *Detect) use(set *graph.RuleSet) {
	if d.set != nil && d.set.Same(set) {
		return
	}
	d.set, d.worker, d.matching = set, set.Engine.NewWorker(), newMatching(set)
	d.products = d.origins.of(set.Engine)
}

// Watch counts results by the products of their rules, unless the rule set leaves out
// those that contradict the event, and looks at the shapes of events. It is called before
// the first batch.
func (d *Detect) Watch(o *Origins, s *Shapes) { d.origins, d.shapes = o, s }

func (d *Detect) line(i int) {
	b := d.batch
	outcome := &b.Outcomes[i]
	d.before = lengths{b.Results.Len(), len(b.Withheld), len(b.Matches), len(b.Records), b.Results.Held()}
	for e := outcome.Events.From; e < outcome.Events.To; e++ {
		from := b.Results.Len()
		d.worker.Evaluate(b.Events, int(e), b.Arrival, b.Results)
		if b.Results.Len() > from {
			d.met(e, from)
		}
	}
	outcome.Results = graph.Span{From: uint32(d.before.results), To: uint32(b.Results.Len())}
	outcome.Matches = graph.Span{From: uint32(d.before.matches), To: uint32(len(b.Matches))}
	outcome.Held = uint32(b.Results.Held() - d.before.held)
}

// met completes what event e left, whose results begin at number from.
func (d *Detect) met(e uint32, from int) {
	if d.extractor != nil {
		d.match(e, from)
	}
	if d.products != nil {
		d.products.met(finding{e, uint32(from), uint32(d.batch.Results.Len())})
	}
	if b := d.batch; d.TellEvents {
		for len(b.EventOf) < b.Results.Len() {
			b.EventOf = append(b.EventOf, e)
		}
	}
}

func (d *Detect) forget(int) {
	b := d.batch
	b.EventOf = b.EventOf[:min(len(b.EventOf), d.before.results)]
	b.Results.Truncate(d.before.results)
	d.products.forget(d.before.results)
	b.Matches, b.Records = b.Matches[:d.before.matches], b.Records[:d.before.records]
	b.Withheld = b.Withheld[:d.before.withheld]
}

func (d *Detect) quarantine(i int, cause error) {
	d.outcome.Poisoned = quarantine(d.outcome.Poisoned, d.batch, i, cause)
}
