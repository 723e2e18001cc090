package correlate

import (
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/correlation"
)

// merging turns the lines of one batch into what leaves the stage. All lists of a
// batch lie in one arena.
type merging struct {
	events   int                // decoded and judged
	results  int                // detections
	lists    int                // of detections
	arena    *graph.ResultArena // nil before the first list
	apart    bool               // lists get copies of their lines
	raw      []byte             // in which those lie
	counted  int                // lines whose matches are counted
	firings  []firing           // of the last of them
	took     time.Duration      // merging
	counting time.Duration      // correlations
	sending  time.Duration      // dispatch, interruptions and correlations excluded
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

// begin counts a batch.
func (m *merging) begin(b *graph.Batch) {
	*m = merging{firings: m.firings[:0]}
	kept, pinned := 0, 0
	var last *graph.Buffer
	for i := range b.Outcomes {
		f := &b.Outcomes[i]
		if f.Kind != graph.Decoded {
			continue
		}
		m.events += f.Events.Len()
		if n := f.Results.Len(); n > 0 {
			m.results += n
			m.lists++
			line := &b.Lines[i]
			kept += len(line.Raw)
			if c := line.Buffer; c != nil && c != last {
				pinned += cap(c.Bytes)
				last = c
			}
		}
	}
	if m.apart = pinned > maxPinned*kept; m.apart {
		m.raw = make([]byte, 0, kept)
	}
}

// end gives up what list took.
func (m *merging) end() {
	m.arena.Release(1)
	m.arena = nil
}

// list returns the results of line i, nil when there are none.
func (m *merging) list(b *graph.Batch, i int, from *graph.ResultArenas) *graph.ResultSet {
	f := &b.Outcomes[i]
	firings := m.firings
	if f.Matches.Len() == 0 {
		firings = nil // another line's
	}
	if f.Results.Len() == 0 && len(firings) == 0 {
		return nil
	}
	if m.arena == nil {
		m.arena = from.Get(m.lists, m.results)
	}
	m.arena.Begin()
	next := f.Results.From
	for _, fired := range firings {
		m.detections(b, next, fired.behind)
		next = fired.behind
		m.arena.Add(graph.Result{Correlation: fired.result})
	}
	m.detections(b, next, f.Results.To)
	list := m.arena.List(b.Lines[i].Token)
	m.line(list, &b.Lines[i], m.apart || f.Results.Len() == 0)
	return list
}

// line gives the list its line: a copy, or the line's own memory with its share.
func (m *merging) line(list *graph.ResultSet, line *graph.Line, apart bool) {
	if !apart || line.Buffer == nil {
		list.Raw, list.Buffer, line.Buffer = line.Raw, line.Buffer, nil
		return
	}
	from := len(m.raw)
	m.raw = append(m.raw, line.Raw...)
	list.Raw = m.raw[from:len(m.raw):len(m.raw)]
}

// detections appends results of the batch.
func (m *merging) detections(b *graph.Batch, from, to uint32) {
	for r := from; r < to; r++ {
		m.arena.Add(graph.Result{Detection: b.Results.At(int(r))})
	}
}
