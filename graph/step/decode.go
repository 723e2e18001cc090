package step

import (
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/sigma/engine"
)

// Decode turns the lines of batches into events. Each goroutine has its own.
type Decode struct {
	inputs []*format.Decoder
	set    *engine.Set
	worker *engine.Worker // of set

	batch   *graph.Batch // in hand
	from    int          // events there were before the line in hand
	outcome Decoded

	step, undo func(i int) // made once, as they escape
	poisoned   func(i int, cause error)
}

// Decoded is what became of the lines of a batch beside events.
type Decoded struct {
	Undecodable int
	Unread      int // the last of them
	Suspects    int // that begin like JSON and were taken as text
	Suspect     int // the last of them
	Empty       int // that were read and hold no event
	Poisoned    []Poisoned
}

// NewDecode returns the step for the lines of inputs, each in its format. Several may
// share the decoders.
func NewDecode(inputs ...*format.Decoder) *Decode {
	d := &Decode{inputs: inputs}
	d.step, d.undo, d.poisoned = d.line, d.forget, d.quarantine
	return d
}

// Batch decodes the lines of b for its rule set: it makes the events of b and an
// outcome for each line. It may run again for the same batch.
func (d *Decode) Batch(g Isolate, b *graph.Batch) Decoded {
	if d.set != b.Set.Engine {
		d.set, d.worker = b.Set.Engine, b.Set.Engine.NewWorker()
	}
	b.Events.Reset()
	b.Outcomes = append(b.Outcomes[:0], make([]graph.LineOutcome, len(b.Lines))...)
	d.batch, d.outcome = b, Decoded{}
	g.Each(0, len(b.Lines), d.step, d.undo, d.poisoned)
	return d.outcome
}

func (d *Decode) line(i int) {
	b := d.batch
	line, outcome := &b.Lines[i], &b.Outcomes[i]
	d.from = b.Events.Len()
	var suspect bool
	var err error
	if line.Structured {
		err = d.inputs[line.Input].Value(d.worker, b.Events, line.Raw)
	} else {
		suspect, err = d.inputs[line.Input].Decode(d.worker, b.Events, line.Raw, b.Arrival)
	}
	if suspect {
		d.outcome.Suspects++
		d.outcome.Suspect = i
	}
	if err != nil {
		outcome.Kind = graph.Undecodable
		d.outcome.Undecodable++
		d.outcome.Unread = i
		return
	}
	outcome.Events = graph.Span{From: uint32(d.from), To: uint32(b.Events.Len())}
	if outcome.Events.Len() == 0 {
		d.outcome.Empty++
	}
}

func (d *Decode) forget(int) { d.batch.Events.Truncate(d.from) }

func (d *Decode) quarantine(i int, cause error) {
	d.outcome.Poisoned = quarantine(d.outcome.Poisoned, d.batch, i, cause)
}
