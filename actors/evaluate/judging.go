package evaluate

import (
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/result"
)

// judging evaluates the events of one batch. It may be begun again from the
// start.
type judging struct {
	batch    *graph.Batch
	worker   *engine.Worker
	matching *matching // nil without correlations
	from     int       // results there were before the line at hand
	poison   []poisoned
}

// poisoned is a line that has to be quarantined.
type poisoned struct {
	line  int
	cause error
}

// run judges every line, each protected by g.
func (j *judging) run(g *mailbox.Isolate) {
	b := j.batch
	b.Results = new(result.Batch)
	j.poison = nil
	if j.matching != nil {
		j.matching.begin()
	}
	g.Each(0, len(b.Lines), j.line, j.undo, func(i int, p error) {
		b.Outcomes[i] = graph.LineOutcome{Kind: graph.Quarantined}
		j.poison = append(j.poison, poisoned{i, p})
	})
	if j.matching != nil {
		b.Matches = j.matching.end()
	}
}

// undo takes back what the line at hand left behind.
func (j *judging) undo(int) {
	j.batch.Results.Truncate(j.from)
	if j.matching != nil {
		j.matching.undo()
	}
}

// line judges the events of one line.
func (j *judging) line(i int) {
	b := j.batch
	f := &b.Outcomes[i]
	j.from = b.Results.Len()
	if j.matching != nil {
		j.matching.line()
	}
	for e := f.Events.From; e < f.Events.To; e++ {
		from := b.Results.Len()
		j.worker.Evaluate(b.Events, int(e), b.Arrival, b.Results)
		if j.matching != nil && b.Results.Len() > from {
			j.matching.event(b, int(e), from, j.worker)
		}
	}
	f.Results = graph.Span{From: uint32(j.from), To: uint32(b.Results.Len())}
	if j.matching != nil {
		f.Matches = j.matching.span()
	}
}
