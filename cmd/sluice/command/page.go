package command

import (
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/sigma/ast"
)

// page holds results in the form in which they will be written: text, or rows of a
// table.
type page struct {
	text   []byte
	rows   []row
	result graph.Result // in hand
}

// row is a row of a table, with the colour of its first column.
type row struct {
	cells []string
	color string
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

func (g *page) row(level ast.Level, title, kind, detail string) {
	name := level.String()
	if name == "" {
		name = "-"
	}
	g.rows = append(g.rows, row{[]string{name, title, kind, detail}, levelColor(level)})
}

// renderer appends a result to a page. It may be called by several goroutines.
type renderer func(*page, *graph.Result)

// renderer is that of the printer's form.
func (p *printer) renderer() renderer {
	if p.table != nil {
		return func(g *page, r *graph.Result) {
			if r.Detection == nil {
				g.firing(r)
				return
			}
			g.row(r.Detection.Rule.Level, r.Detection.Rule.Title, "detection", detail(r.Detection))
		}
	}
	return func(g *page, r *graph.Result) {
		g.text, _ = p.form.Append(g.text, graph.Payload{Result: r}, nil) // these forms write everything
		g.text = append(g.text, '\n')
	}
}

// detections is a page with the detections of a batch.
type detections struct {
	page
	ends []place // of each detection
}

// behind is the place behind the first n detections.
func (d *detections) behind(n uint32) place {
	if n == 0 {
		return place{}
	}
	return d.ends[n-1]
}

// fill renders the detections of a batch. A line that cannot be rendered is
// quarantined: its detections take no room, and its matches are not counted.
func (d *detections) fill(g step.Isolate, b *graph.Batch, render renderer) (poisoned []step.Poisoned) {
	d.truncate(place{})
	d.ends = d.ends[:0]
	g.Each(0, len(b.Outcomes), func(i int) {
		for to := int(b.Outcomes[i].Results.To); len(d.ends) < to; d.ends = append(d.ends, d.end()) {
			d.result.Detection = b.Results.At(len(d.ends))
			render(&d.page, &d.result)
		}
	}, func(i int) {
		from := b.Outcomes[i].Results.From
		d.truncate(d.behind(from))
		d.ends = d.ends[:min(int(from), len(d.ends))]
	}, func(i int, cause error) {
		for to := int(b.Outcomes[i].Results.To); len(d.ends) < to; d.ends = append(d.ends, d.end()) {
		}
		b.Outcomes[i].Kind = graph.Quarantined
		poisoned = append(poisoned, step.Poisoned{Line: i, Cause: cause})
	})
	return poisoned
}

// merger puts what fires between the detections of a batch.
type merger struct {
	page
	from *detections
	done place // up to which they are merged
}

func (m *merger) begin(d *detections) {
	m.truncate(place{})
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
	m.upTo(uint32(len(m.from.ends)))
	return &m.page
}
