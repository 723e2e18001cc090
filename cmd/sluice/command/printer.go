package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/result"
)

// errWrite is wrapped by errors of stdout.
var errWrite = errors.New("write results")

const (
	detailWidth = 200 // where the DETAIL column is cut, in characters
	titleWidth  = 64  // what the RULE column of a live table grows to
)

// printer writes the results of an evaluation in the chosen form.
type printer struct {
	out      *console
	form     graph.Form
	table    *table
	progress progress

	text   []byte // rendered and not written yet, unless it is for a table
	rows   []row
	before place // the last results
}

// row is a row of a table, with the colour of its first column.
type row struct {
	cells []string
	color string
}

// place is a place between two results.
type place struct{ text, rows int }

func newPrinter(out *console, pretty bool) *printer {
	columns := []string{"LEVEL", "RULE", "TYPE", "DETAIL"}
	live := out.terminal && !out.explicit && !pretty
	if live { // somebody is watching: rows, as they come
		out.format = formatTable
	}
	p := &printer{out: out, form: step.Native{}}
	if out.pretty() || pretty && !out.explicit {
		p.form = step.Pretty{}
	}
	switch {
	case live:
		p.table = newLiveTable(out, columns, []int{len("informational"), len("RULE"), len("detection"), 0})
	case out.tabular():
		p.table = newTable(out, columns)
	}
	// Where results and progress share a screen, results come first.
	p.progress.on = out.talkTo && !out.terminal && !out.quiet && !out.noStats
	return p
}

// render makes the text or the rows of results.
func (p *printer) render(set *graph.ResultSet) {
	p.before = place{len(p.text), len(p.rows)}
	for i := range set.Results {
		r := &set.Results[i]
		switch {
		case p.table == nil:
			p.text, _ = p.form.Append(p.text, graph.Payload{Result: r}, nil) // these forms write everything
			p.text = append(p.text, '\n')
		case r.Detection != nil:
			p.row(r.Detection.Rule.Level, r.Detection.Rule.Title, "detection", detail(r.Detection))
		default:
			p.firing(r)
		}
	}
}

// discard forgets what render made last.
func (p *printer) discard() { p.text, p.rows = p.text[:p.before.text], p.rows[:p.before.rows] }

func (p *printer) row(level ast.Level, title, kind, detail string) {
	name := level.String()
	if name == "" {
		name = "-"
	}
	p.rows = append(p.rows, row{[]string{name, title, kind, detail}, levelColor(level)})
}

// printBytes is how much is rendered before it is written.
const printBytes = 1 << 20

// full reports whether what was rendered should be written.
func (p *printer) full() bool { return len(p.text) >= printBytes }

// write writes what was rendered and shows the progress.
func (p *printer) write(total *tally) error {
	p.progress.show(p.out, total, time.Now())
	if len(p.text) > 0 {
		if _, err := p.out.Out.Write(p.text); err != nil {
			return fmt.Errorf("%w: %w", errWrite, err)
		}
	}
	for _, r := range p.rows {
		if err := p.table.row(r.cells, r.color); err != nil {
			return fmt.Errorf("%w: %w", errWrite, err)
		}
	}
	p.text, p.rows = p.text[:0], p.rows[:0]
	if cap(p.text) > 4*printBytes {
		p.text = nil
	}
	return nil
}

// finish writes what a table held back.
func (p *printer) finish() error {
	p.progress.clear(p.out)
	if p.table == nil {
		return nil
	}
	if err := p.table.flush(); err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	return nil
}

// detail is the DETAIL column: the fields that matched.
func detail(d *result.Detection) string {
	var b strings.Builder
	for i := range d.Fields {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(d.Fields[i].Name)
		b.WriteByte('=')
		b.Write(plainText(d.Fields[i].Value))
	}
	return cut(b.String(), detailWidth)
}

// plainText drops the quotes of a JSON string.
func plainText(value []byte) []byte {
	var s string
	if len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &s) == nil {
		return []byte(s)
	}
	return value
}

func cut(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	runes := []rune(s)
	return string(runes[:width])
}

func levelColor(l ast.Level) string {
	switch l {
	case ast.LevelCritical:
		return "\x1b[1;31m"
	case ast.LevelHigh:
		return "\x1b[31m"
	case ast.LevelMedium:
		return "\x1b[33m"
	case ast.LevelLow:
		return "\x1b[36m"
	case ast.LevelInformational:
		return "\x1b[2m"
	}
	return ""
}
