package command

import (
	"github.com/sluicehq/sluice/cmd/sluice/terminal"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/result"
)

// page holds results in the form in which they will be written: text, or rows of a
// table.
type page struct {
	text   []byte
	rows   []terminal.Row
	result graph.Result // in hand

	events *engine.Events // in which the result in hand is of event, when rows are to tell
	event  int
}

// place is a place between two results of a page.
type place struct{ text, rows int }

func (g *page) end() place { return place{len(g.text), len(g.rows)} }

func (g *page) truncate(p place) { g.text, g.rows = g.text[:p.text], g.rows[:p.rows] }

// take appends what stands in src between two places.
func (g *page) take(src *page, from, to place) {
	g.text = append(g.text, src.text[from.text:to.text]...)
	g.rows = append(g.rows, src.rows[from.rows:to.rows]...)
}

// detection puts a detection of a batch in hand.
func (g *page) detection(b *graph.Batch, n int) *graph.Result {
	g.result.Detection, g.result.Correlation = b.Results.At(n), nil
	if b.EventOf != nil {
		g.events, g.event = b.Events, int(b.EventOf[n])
	}
	return &g.result
}

// firing puts what an event of a batch fired in hand.
func (g *page) firing(b *graph.Batch, f step.Firing) *graph.Result {
	g.result.Detection, g.result.Correlation = nil, f.Result
	g.events, g.event = b.Events, int(f.Event)
	return &g.result
}

// cells are the columns of a table that has nothing to say about the event.
func cells(level ast.Level, title, kind, detail string) terminal.Row {
	name := level.String()
	if name == "" {
		name = unknownCell
	}
	return terminal.Row{Cells: []string{name, title, kind, detail}, Color: terminal.ColorOf(level)}
}

// row makes the row of the result in hand, of which cells tells the rest.
func (r *rows) row(g *page, rest terminal.Row) terminal.Row {
	e := g.events.Root(g.event)
	rest.Cells = append([]string{r.origins.when(e), r.origins.where(e)}, rest.Cells...)
	return rest
}

// renderer appends a result to a page. It may be called by several goroutines.
type renderer func(*page, *graph.Result)

// renderer is that of the printer's form.
func (p *printer) renderer() renderer {
	switch {
	case p.rows != nil:
		return func(g *page, r *graph.Result) { g.rows = append(g.rows, p.rows.row(g, tell(r, p.rows.detail))) }
	case p.table != nil:
		return func(g *page, r *graph.Result) { g.rows = append(g.rows, tell(r, detail)) }
	}
	return func(g *page, r *graph.Result) {
		g.text, _ = p.form.Append(g.text, graph.Payload{Result: r}, nil) // these forms write everything
		g.text = append(g.text, '\n')
	}
}

// tell says of a result what every table does.
func tell(r *graph.Result, detail func(*result.Detection) string) terminal.Row {
	if d := r.Detection; d != nil {
		return cells(d.Rule.Level, d.Rule.Title, "detection", detail(d))
	}
	return fired(r)
}

// Where a page ends, so that lines which meet hundreds of rules are written in pieces.
const (
	pageBytes = 1 << 20
	pageRows  = 4096
)

func (g *page) full() bool { return len(g.text) >= pageBytes || len(g.rows) >= pageRows }

// empty empties the page and lets go of memory that only uncommon lines need.
func (g *page) empty() {
	if g.truncate(place{}); cap(g.text) > 4*pageBytes {
		g.text = nil
	}
}

// detections is a page with the detections of lines of a batch.
type detections struct {
	page
	first int     // number of the first of them in the batch
	ends  []place // of each of them
	next  int     // the first line behind them
}

// behind is the place behind the first n detections of the batch.
func (d *detections) behind(n uint32) place {
	if int(n) == d.first {
		return place{}
	}
	return d.ends[int(n)-d.first-1]
}

// fill renders the detections of the lines behind those rendered so far, until the
// page is full or a long line follows. A line that cannot be rendered is quarantined:
// its detections take no room, and its matches are not counted.
func (d *detections) fill(g step.Isolate, b *graph.Batch, render renderer) (poisoned []step.Poisoned) {
	d.empty()
	d.first, d.ends = d.first+len(d.ends), d.ends[:0]
	line := func(i int) {
		for to := int(b.Outcomes[i].Results.To); d.first+len(d.ends) < to; d.ends = append(d.ends, d.end()) {
			render(&d.page, d.detection(b, d.first+len(d.ends)))
		}
	}
	undo := func(i int) {
		from := b.Outcomes[i].Results.From
		d.truncate(d.behind(from))
		d.ends = d.ends[:int(from)-d.first]
	}
	quarantine := func(i int, cause error) {
		for to := int(b.Outcomes[i].Results.To); d.first+len(d.ends) < to; {
			d.ends = append(d.ends, d.end())
		}
		b.Outcomes[i].Kind = graph.Quarantined
		poisoned = append(poisoned, step.Poisoned{Line: i, Cause: cause})
	}
	for len(b.Outcomes) > d.next && !d.full() && !long(b, d.next) {
		from := d.next
		for n := 0; d.next < len(b.Outcomes) && n < fillResults && !long(b, d.next); d.next++ {
			n += b.Outcomes[d.next].Results.Len()
		}
		g.Each(from, d.next, line, undo, quarantine)
	}
	return poisoned
}

// long reports whether the detections of a line fill more than a page.
func long(b *graph.Batch, line int) bool {
	results, size := b.Outcomes[line].Results, 0
	if results.Len() > fillResults {
		for n := results.From; n < results.To && size <= pageBytes; n++ {
			size += b.Results.At(int(n)).Size()
		}
	}
	return size > pageBytes
}

// skip leaves out a line, which somebody else renders.
func (d *detections) skip(b *graph.Batch) {
	d.empty()
	d.first, d.ends = d.first+len(d.ends)+b.Outcomes[d.next].Results.Len(), d.ends[:0]
	d.next++
}

// begin forgets the last batch.
func (d *detections) begin() { d.first, d.next, d.ends = 0, 0, d.ends[:0] }

// fillResults is after how many results it is looked whether the page is full.
const fillResults = 8

// merger puts what fires between the detections of a batch.
type merger struct {
	page
	from *detections
	done place // up to which they are merged
}

func (m *merger) begin(d *detections) {
	m.empty()
	m.from, m.done = d, place{}
}

// upTo takes the detections up to number n.
func (m *merger) upTo(n uint32) {
	m.take(&m.from.page, m.done, m.from.behind(n))
	m.done = m.from.behind(n)
}

// leaveOut leaves detections out.
func (m *merger) leaveOut(s graph.Span) {
	m.upTo(s.From)
	m.done = m.from.behind(s.To)
}

// finish returns the whole: the detections alone when nothing fired.
func (m *merger) finish() *page {
	if m.done == (place{}) && m.end() == (place{}) {
		return &m.from.page
	}
	m.upTo(uint32(m.from.first + len(m.from.ends)))
	return &m.page
}
