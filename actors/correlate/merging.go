package correlate

import (
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/correlation"
)

// merging turns the lines of one batch into what leaves the stage. The memory of
// all lists of a batch is taken at once.
type merging struct {
	events   int // decoded and judged
	results  int // detections
	lists    []graph.List
	flat     []graph.Result
	counted  int           // lines whose matches are counted
	firings  []firing      // of the last of them
	took     time.Duration // merging
	counting time.Duration // correlations
	sending  time.Duration // dispatch, interruptions and correlations excluded
}

// firing is a result that goes behind the given number of results of the batch.
type firing struct {
	behind uint32
	result *correlation.Result
}

// begin counts a batch and makes room for its lists.
func (m *merging) begin(b *graph.Batch) {
	*m = merging{firings: m.firings[:0]}
	lists := 0
	for i := range b.Fates {
		f := &b.Fates[i]
		if f.Outcome != graph.Decoded {
			continue
		}
		m.events += f.Events.Len()
		if n := f.Results.Len(); n > 0 {
			m.results += n
			lists++
		}
	}
	if lists > 0 {
		m.lists = make([]graph.List, 0, lists)
		m.flat = make([]graph.Result, 0, m.results)
	}
}

// list returns the results of line i, nil when there are none.
func (m *merging) list(b *graph.Batch, i int) *graph.List {
	f := &b.Fates[i]
	from, next := len(m.flat), f.Results.From
	if f.Matches.Len() > 0 {
		for _, fired := range m.firings {
			m.detections(b, next, fired.behind)
			next = fired.behind
			m.flat = append(m.flat, graph.Result{Correlation: fired.result})
		}
	}
	m.detections(b, next, f.Results.To)
	if len(m.flat) == from {
		return nil
	}
	line := &b.Lines[i]
	m.lists = append(m.lists, graph.List{
		Token: line.Token, Raw: line.Raw, Chunk: line.Chunk, Results: m.flat[from:len(m.flat):len(m.flat)],
	})
	line.Chunk = nil // its share goes with the list
	return &m.lists[len(m.lists)-1]
}

// detections appends results of the batch.
func (m *merging) detections(b *graph.Batch, from, to uint32) {
	for r := from; r < to; r++ {
		m.flat = append(m.flat, graph.Result{Detection: b.Results.At(int(r))})
	}
}
