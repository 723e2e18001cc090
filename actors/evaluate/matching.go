package evaluate

import (
	"bytes"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/correlation/match"
	"github.com/sluicehq/sluice/sigma/engine"
)

// matching writes down what correlations want to know of the events of one
// batch. Each worker has one for the rule set it works by.
type matching struct {
	plan      *correlation.Program
	timed     bool   // events without a time of their own do not concern correlations
	fallbacks uint64 // events without a time of their own, not taken yet
	extractor *match.Extractor
	source    *match.Event

	rules   []int // load indexes of the rules that the event at hand met
	records []byte
	matches []noted
	from    mark // before the line at hand
}

// noted is a match whose record ends at the given byte.
type noted struct {
	end     int
	results uint32
}

type mark struct{ matches, bytes int }

// newMatching returns what a worker needs for the correlations of a rule set,
// nil when there are none.
func newMatching(set *graph.RuleSet, timed bool) *matching {
	p := set.Correlation
	if p == nil || p.Len() == 0 {
		return nil
	}
	return &matching{
		plan: p, timed: timed, extractor: match.NewExtractor(p.Spec()),
		source: match.NewEvent(p.Spec(), set.Engine),
	}
}

// begin starts with a batch.
func (m *matching) begin() { m.records, m.matches = m.records[:0], m.matches[:0] }

// line starts with a line.
func (m *matching) line() { m.from = mark{len(m.matches), len(m.records)} }

// undo forgets the events of the line at hand.
func (m *matching) undo() {
	m.matches, m.records = m.matches[:m.from.matches], m.records[:m.from.bytes]
}

// span is where the matches of the line at hand are.
func (m *matching) span() graph.Span {
	return graph.Span{From: uint32(m.from.matches), To: uint32(len(m.matches))}
}

// event writes down event e, whose results begin at from, and withholds those
// that only feed correlations.
func (m *matching) event(b *graph.Batch, e, from int, w *engine.Worker) {
	m.rules = m.rules[:0]
	wanted := false
	for r := from; r < b.Results.Len(); r++ {
		rule := b.Results.At(r).Rule.Index
		m.rules = append(m.rules, rule)
		wanted = wanted || m.plan.Spec().Wants(rule)
	}
	if !wanted {
		return
	}
	at, known := w.Time(b.Events, e)
	if !known {
		m.fallbacks++
	}
	if known || !m.timed {
		if !known {
			at = b.Arrival
		}
		m.source.Open(w, b.Events, e)
		m.records = m.extractor.Append(m.records, m.rules, at, m.source)
	}
	m.withhold(b, from)
	if known || !m.timed {
		m.matches = append(m.matches, noted{len(m.records), uint32(b.Results.Len())})
	}
}

// withhold removes the results from number from on that are not to leave.
func (m *matching) withhold(b *graph.Batch, from int) {
	kept := from
	for r := from; r < b.Results.Len(); r++ {
		d := b.Results.At(r)
		if !m.plan.Emits(d.Rule.Index) {
			continue
		}
		if kept != r {
			*b.Results.At(kept) = *d
		}
		kept++
	}
	b.Results.Truncate(kept)
}

// takeFallbacks returns how many events had no time of their own since the last
// call.
func (m *matching) takeFallbacks() uint64 {
	n := m.fallbacks
	m.fallbacks = 0
	return n
}

// end returns the matches of the batch in memory of their own.
func (m *matching) end() []graph.Match {
	if len(m.matches) == 0 {
		return nil
	}
	records := bytes.Clone(m.records)
	out := make([]graph.Match, len(m.matches))
	from := 0
	for i, n := range m.matches {
		out[i] = graph.Match{Record: records[from:n.end:n.end], Results: n.results}
		from = n.end
	}
	return out
}
