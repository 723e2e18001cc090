package parse

import (
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/sigma/engine"
)

// decoding decodes the lines of one batch. It may be begun again from the start.
type decoding struct {
	batch   *graph.Batch
	decoder *format.Decoder
	worker  *engine.Worker
	from    int // events there were before the line at hand
	poison  []poisoned
}

// poisoned is a line that has to be quarantined.
type poisoned struct {
	line  int
	cause error
}

// run decodes every line, each protected by g.
func (d *decoding) run(g *mailbox.Isolate) {
	b := d.batch
	b.Events.Reset()
	b.Outcomes = append(b.Outcomes[:0], make([]graph.LineOutcome, len(b.Lines))...)
	d.poison = nil
	g.Each(0, len(b.Lines), d.line, func(int) { b.Events.Truncate(d.from) }, func(i int, p error) {
		b.Outcomes[i] = graph.LineOutcome{Kind: graph.Quarantined}
		d.poison = append(d.poison, poisoned{i, p})
	})
}

// line decodes one line.
func (d *decoding) line(i int) {
	b := d.batch
	d.from = b.Events.Len()
	if d.decode(&b.Lines[i]) != nil {
		b.Outcomes[i].Kind = graph.Undecodable
		return
	}
	b.Outcomes[i].Events = graph.Span{From: uint32(d.from), To: uint32(b.Events.Len())}
}

func (d *decoding) decode(l *graph.Line) error {
	if l.Structured {
		return d.worker.DecodeJSON(d.batch.Events, l.Raw)
	}
	return d.decoder.Decode(d.worker, d.batch.Events, l.Raw, d.batch.Arrival)
}

// undecodable is the number of lines that are parse errors.
func undecodable(b *graph.Batch) (n int64) {
	for i := range b.Outcomes {
		if b.Outcomes[i].Kind == graph.Undecodable {
			n++
		}
	}
	return n
}
