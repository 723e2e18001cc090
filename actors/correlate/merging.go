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
	apart    bool          // lists get copies of their lines
	raw      []byte        // in which those lie
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

// maxPinned is how many bytes of chunks a batch's lists may keep for each byte of
// their lines. A list waits as long as a sink makes it wait, and lanes count its
// line only.
const maxPinned = 4

// begin counts a batch and makes room for its lists.
func (m *merging) begin(b *graph.Batch) {
	*m = merging{firings: m.firings[:0]}
	lists, kept, pinned := 0, 0, 0
	var last *graph.Chunk
	for i := range b.Fates {
		f := &b.Fates[i]
		if f.Outcome != graph.Decoded {
			continue
		}
		m.events += f.Events.Len()
		if n := f.Results.Len(); n > 0 {
			m.results += n
			lists++
			line := &b.Lines[i]
			kept += len(line.Raw)
			if c := line.Chunk; c != nil && c != last {
				pinned += cap(c.Bytes)
				last = c
			}
		}
	}
	if lists > 0 {
		m.lists = make([]graph.List, 0, lists)
		m.flat = make([]graph.Result, 0, m.results)
	}
	if m.apart = pinned > maxPinned*kept; m.apart {
		m.raw = make([]byte, 0, kept)
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
	m.lists = append(m.lists, graph.List{Token: b.Lines[i].Token, Results: m.flat[from:len(m.flat):len(m.flat)]})
	list := &m.lists[len(m.lists)-1]
	m.line(list, &b.Lines[i], m.apart || f.Results.Len() == 0)
	return list
}

// line gives the list its line: a copy, or the line's own memory with its share.
func (m *merging) line(list *graph.List, line *graph.Line, apart bool) {
	if !apart || line.Chunk == nil {
		list.Raw, list.Chunk, line.Chunk = line.Raw, line.Chunk, nil
		return
	}
	from := len(m.raw)
	m.raw = append(m.raw, line.Raw...)
	list.Raw = m.raw[from:len(m.raw):len(m.raw)]
}

// detections appends results of the batch.
func (m *merging) detections(b *graph.Batch, from, to uint32) {
	for r := from; r < to; r++ {
		m.flat = append(m.flat, graph.Result{Detection: b.Results.At(int(r))})
	}
}
