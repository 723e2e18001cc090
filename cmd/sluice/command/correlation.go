package command

import (
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/load"
)

// sumUp prints what the evaluation came to.
func (e *evaluation) sumUp(out *console, o *config.Eval) {
	if e.truncated > 0 {
		e.warn(fmt.Sprintf("%d firings were not propagated: more than %d levels of correlations", e.truncated, correlation.MaxLevels))
	}
	matches := fmt.Sprintf("%d matches", e.total.matches)
	if e.set.Correlates() {
		matches = fmt.Sprintf("%d detection matches, %d correlation matches", e.total.matches, e.total.firings)
	}
	summarise(out, o, &e.total, matches)
	if e.dumps {
		dumpState(out.Err, e.correlate.Engine)
	}
}

// dumpState writes the state of correlations as the routes of the service show it.
func dumpState(w io.Writer, e *correlation.Engine) {
	view := e.Export()
	groups, _ := view.State(correlation.Filter{})
	_ = writeJSON(w, struct { // there is nowhere left to say that stderr cannot be written
		Correlations []correlation.Entry      `json:"correlations"`
		Groups       []correlation.GroupEntry `json:"groups"`
	}{view.Entries(correlation.Filter{}), groups}, true)
}

// fit makes the columns of a live table wide enough for the results of these
// rules, before the first is known. Only a very long title sticks out.
func (p *printer) fit(rules *load.Collection) {
	if p.table == nil || !p.table.live {
		return
	}
	title, kind := &p.table.width[1], &p.table.width[2]
	for _, r := range rules.Rules {
		*title = max(*title, min(utf8.RuneCountInString(r.Title), titleWidth))
	}
	for _, c := range rules.Correlations {
		*title = max(*title, min(utf8.RuneCountInString(c.Title), titleWidth))
		*kind = max(*kind, len(c.Type))
	}
}

// firing makes the row of a result that is no detection.
func (p *printer) firing(r *graph.Result) {
	c := r.Correlation
	p.row(c.Rule.Level, c.Rule.Title, string(c.Rule.Type), correlationDetail(c))
}

// correlationDetail is the DETAIL column: the group and the aggregate.
func correlationDetail(r *correlation.Result) string {
	var b []byte
	for i, p := range r.Key {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(append(append(b, p.Field...), '='), p.Value...)
	}
	if len(r.Key) > 0 {
		b = append(b, ' ')
	}
	b = correlation.AppendNumber(append(b, "| agg="...), r.Value)
	return cut(string(b), detailWidth)
}
