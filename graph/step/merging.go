package step

import "github.com/sluicehq/sluice/graph"

// merging makes the result sets of the lines of one batch, which all lie in one
// arena.
type merging struct {
	arenas  graph.ResultArenas
	arena   *graph.ResultArena // nil before the first set
	sets    int                // with detections
	results int                // detections
	pinned  int                // bytes of buffers that sets keep for each byte of their lines
	apart   bool               // sets get copies of their lines
	raw     []byte             // in which those lie
}

// maxPinned is how many bytes of buffers the sets of a batch may keep for each
// byte of their lines. A set waits as long as a sink makes it wait.
const maxPinned = 4

// measure begins with a batch, whose events and detections it counts.
func (m *merging) measure(b *graph.Batch) (events, detections int) {
	m.sets, m.results, m.raw = 0, 0, nil
	kept, pinned := 0, 0
	var last *graph.Buffer
	for i := range b.Outcomes {
		o := &b.Outcomes[i]
		if o.Kind != graph.Decoded {
			continue
		}
		events += o.Events.Len()
		if n := o.Results.Len(); n > 0 {
			m.results += n
			m.sets++
			line := &b.Lines[i]
			kept += len(line.Raw)
			if line.Buffer != nil && line.Buffer != last {
				pinned += cap(line.Buffer.Bytes)
				last = line.Buffer
			}
		}
	}
	if m.pinned = (pinned + kept - 1) / max(1, kept); m.pinned > maxPinned {
		m.raw = make([]byte, 0, kept)
	}
	m.apart = m.pinned > maxPinned
	return events, m.results
}

// begin begins a set.
func (m *merging) begin() {
	if m.arena == nil {
		m.arena = m.arenas.Get(m.sets, m.results)
	}
	m.arena.Begin()
}

// detections adds results of the batch to the set.
func (m *merging) detections(b *graph.Batch, from, to uint32) {
	for r := from; r < to; r++ {
		m.arena.Add(graph.Result{Detection: b.Results.At(int(r))})
	}
}

// end returns the set with its line: a copy, or the line's own memory with its share.
func (m *merging) end(line *graph.Line, unmeasured bool) *graph.ResultSet {
	set := m.arena.List(line.Token)
	if line.Buffer == nil || !m.apart && !unmeasured {
		if line.Buffer != nil {
			set.Held += (m.pinned - 1) * len(line.Raw)
		}
		set.Raw, set.Buffer, line.Buffer = line.Raw, line.Buffer, nil
		return set
	}
	from := len(m.raw)
	m.raw = append(m.raw, line.Raw...)
	set.Raw = m.raw[from:len(m.raw):len(m.raw)]
	return set
}
