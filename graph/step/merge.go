package step

import "github.com/sluicehq/sluice/graph"

// merge turns the lines of one batch into result sets, which all lie in one arena.
type merge struct {
	events  int                // decoded and evaluated
	results int                // detections
	sets    int                // with detections
	arena   *graph.ResultArena // nil before the first set
	apart   bool               // sets get copies of their lines
	raw     []byte             // in which those lie
}

// maxPinned is how many bytes of buffers the sets of a batch may keep for each
// byte of their lines. A set waits as long as a sink makes it wait, and lanes
// count its line only.
const maxPinned = 4

// begin counts what a batch has.
func (m *merge) begin(b *graph.Batch) {
	*m = merge{}
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
			m.sets++
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

// end gives up what line took.
func (m *merge) end() {
	m.arena.Release(1)
	m.arena = nil
}

// line returns the results of line i with the firings of its events, nil when
// there are none.
func (m *merge) line(b *graph.Batch, i int, firings []Firing, from *graph.ResultArenas) *graph.ResultSet {
	f := &b.Outcomes[i]
	if f.Results.Len() == 0 && len(firings) == 0 {
		return nil
	}
	if m.arena == nil {
		m.arena = from.Get(m.sets, m.results)
	}
	m.arena.Begin()
	next := f.Results.From
	for _, fired := range firings {
		m.detections(b, next, fired.Behind)
		next = fired.Behind
		m.arena.Add(graph.Result{Correlation: fired.Result})
	}
	m.detections(b, next, f.Results.To)
	set := m.arena.List(b.Lines[i].Token)
	m.original(set, &b.Lines[i], m.apart || f.Results.Len() == 0)
	return set
}

// original gives the set its line: a copy, or the line's own memory with its share.
func (m *merge) original(set *graph.ResultSet, line *graph.Line, apart bool) {
	if !apart || line.Buffer == nil {
		set.Raw, set.Buffer, line.Buffer = line.Raw, line.Buffer, nil
		return
	}
	from := len(m.raw)
	m.raw = append(m.raw, line.Raw...)
	set.Raw = m.raw[from:len(m.raw):len(m.raw)]
}

// detections adds results of the batch.
func (m *merge) detections(b *graph.Batch, from, to uint32) {
	for r := from; r < to; r++ {
		m.arena.Add(graph.Result{Detection: b.Results.At(int(r))})
	}
}
