package command

import (
	"bytes"
	"encoding/json"

	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/result"
)

// rendered are results in the form in which they will be written: text, or rows
// of a table.
type rendered struct {
	out    []byte
	rows   [][]string
	levels []string // colour of each row
}

// place is a place between two results.
type place struct{ out, rows int }

func (r *rendered) end() place { return place{len(r.out), len(r.rows)} }

func (r *rendered) truncate(p place) {
	r.out, r.rows, r.levels = r.out[:p.out], r.rows[:p.rows], r.levels[:p.rows]
}

func (r *rendered) reset() { r.truncate(place{}) }

// take appends what stands in src from one place to another.
func (r *rendered) take(src *rendered, from, to place) {
	r.out = append(r.out, src.out[from.out:to.out]...)
	r.rows = append(r.rows, src.rows[from.rows:to.rows]...)
	r.levels = append(r.levels, src.levels[from.rows:to.rows]...)
}

func (r *rendered) row(level sigma.Level, title, kind, detail string) {
	name := level.String()
	if name == "" {
		name = "-"
	}
	r.rows = append(r.rows, []string{name, title, kind, detail})
	r.levels = append(r.levels, levelColor(level))
}

// renderer appends results. Its functions may be called by several goroutines.
type renderer struct {
	detection   func(*rendered, *result.Detection)
	correlation func(*rendered, *correlation.Result)
}

// renderer is that of the printer's form.
func (p *printer) renderer() renderer {
	switch {
	case p.table != nil:
		return renderer{
			func(r *rendered, d *result.Detection) { r.row(d.Rule.Level, d.Rule.Title, "detection", detail(d)) },
			func(r *rendered, c *correlation.Result) {
				r.row(c.Rule.Level, c.Rule.Title, string(c.Rule.Type), correlationDetail(c))
			},
		}
	case p.pretty:
		return renderer{
			func(r *rendered, d *result.Detection) { r.out = appendPretty(r.out, d.AppendNative(nil, nil)) },
			func(r *rendered, c *correlation.Result) { r.out = appendPretty(r.out, c.AppendNative(nil, nil)) },
		}
	}
	return renderer{
		func(r *rendered, d *result.Detection) { r.out = append(d.AppendNative(r.out, nil), '\n') },
		func(r *rendered, c *correlation.Result) { r.out = append(c.AppendNative(r.out, nil), '\n') },
	}
}

func appendPretty(dst, line []byte) []byte {
	var b bytes.Buffer
	if json.Indent(&b, line, "", "  ") != nil {
		b.Write(line)
	}
	return append(append(dst, b.Bytes()...), '\n')
}
