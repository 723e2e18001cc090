package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/terminal"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/sigma/result"
)

// errWrite is wrapped by errors of stdout.
var errWrite = errors.New("write results")

const (
	detailWidth = 200  // where the DETAIL column of a table is cut, in characters
	maxCell     = 1024 // what a row keeps of a text until it knows how wide the terminal is
)

// rows are results for a person who watches.
type rows struct {
	*terminal.Rows
	origins origins
	words   keywords
}

func newRows(c *console) *rows {
	return &rows{Rows: terminal.NewRows(c.Out, c.columns, c.color)}
}

// printer writes the results of an evaluation in the chosen form.
type printer struct {
	out      *console
	form     graph.Form
	table    *terminal.Table // nil unless the product has columns and nobody watches
	rows     *rows           // nil unless somebody watches
	progress progress
}

func newPrinter(out *console, pretty bool) *printer {
	p := &printer{out: out, form: step.Native{}}
	switch {
	case out.terminal && (out.explicit && out.format == formatTable || !out.explicit && !pretty):
		out.format = formatTable
		p.rows = newRows(out)
	case out.tabular():
		p.table = out.table([]string{"LEVEL", "RULE", "TYPE", "DETAIL"})
	case out.pretty() || pretty && !out.explicit:
		p.form = step.Pretty{}
	}
	// Where results and progress share a screen, results come first.
	p.progress.on = out.talkTo && !out.terminal && !out.quiet && !out.noStats
	return p
}

// write writes a page and shows the progress.
func (p *printer) write(g *page, total *tally) error {
	p.progress.show(p.out, total, time.Now())
	if len(g.text) > 0 {
		if _, err := p.out.Out.Write(g.text); err != nil {
			return fmt.Errorf("%w: %w", errWrite, err)
		}
	}
	if p.rows != nil {
		if err := p.rows.Write(g.rows); err != nil {
			return fmt.Errorf("%w: %w", errWrite, err)
		}
		return nil
	}
	for _, r := range g.rows {
		if err := p.table.Row(r.Cells, r.Color); err != nil {
			return fmt.Errorf("%w: %w", errWrite, err)
		}
	}
	return nil
}

// finish writes what a table held back.
func (p *printer) finish() error {
	p.progress.clear(p.out)
	if p.table == nil {
		return nil
	}
	if err := p.table.Flush(); err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	return nil
}

// refusal is an error when a table is asked for what only JSON results have. To
// leave it out in silence would be to ignore a flag.
func (p *printer) refusal(o *config.Eval) error {
	if p.rows == nil && p.table == nil {
		return nil
	}
	json := "choose --output-format ndjson"
	if p.rows != nil && !p.out.explicit {
		json = "add --pretty or --output-format ndjson"
	}
	switch {
	case o.IncludeEvent:
		return configFaultf(`--include-event puts "event" into JSON results, and a table has no column for it: %s, or leave the flag out`, json)
	case o.ResultTime && p.rows != nil:
		return configFaultf(`--result-time puts "timestamp" into JSON results, and the column TIME of a table has the time of events anyway: leave the flag out, or %s`, json)
	case o.ResultTime:
		return configFaultf(`--result-time puts "timestamp" into JSON results, and a table has no column for it: %s, or leave the flag out`, json)
	}
	return nil
}

// detail is the DETAIL column of a table: the fields that matched.
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
	return terminal.Cut(b.String(), detailWidth)
}

// detail is the DETAIL column of a row: the fields and the keywords that matched.
func (r *rows) detail(d *result.Detection) string {
	var b strings.Builder
	for i := range d.Fields {
		if b.Len() > maxCell {
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		f := &d.Fields[i]
		text := string(plainText(f.Value))
		b.WriteString(f.Name)
		if f.Match != nil && f.Match.Matcher == "keyword" {
			if word := r.words.found(d, f.Match, text); word != "" {
				b.WriteString("=" + word)
			}
			b.WriteString(" in ")
		} else {
			b.WriteByte('=')
		}
		b.WriteString(terminal.Cut(text, maxCell))
	}
	return terminal.Cut(b.String(), maxCell)
}

// plainText drops the quotes of a JSON string.
func plainText(value []byte) []byte {
	var s string
	if len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &s) == nil {
		return []byte(s)
	}
	return value
}
