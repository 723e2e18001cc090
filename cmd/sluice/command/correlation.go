package command

import (
	"fmt"
	"io"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/terminal"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/internal/plural"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/load"
)

// correlator correlates the batches of an evaluation in their order.
type correlator struct {
	step    *step.Correlate
	isolate step.Sequential
	render  renderer
	merged  merger
	warn    func(...string)

	truncated int   // firings that were not propagated
	dumps     bool  // the state is shown at the end
	second    int64 // up to which the engine has been told the time
}

// newCorrelator returns nil for a rule set without correlations.
func newCorrelator(set *graph.RuleSet, o *config.Eval, render renderer, warn func(...string)) *correlator {
	if o.DumpCorrelationState && (!set.Correlates() || o.Schema.Routing) {
		warn("--dump-correlation-state is ignored: there is no correlation to show")
	}
	if !set.Correlates() {
		return nil
	}
	return &correlator{
		step:   step.NewCorrelate(correlation.New(set.Correlation, o.Correlation.Limits())),
		render: render, warn: warn, dumps: o.DumpCorrelationState && !o.Schema.Routing,
	}
}

// begin takes a batch over, whose lines follow in order.
func (c *correlator) begin(b *graph.Batch) {
	if b.Arrival > c.second {
		c.step.Engine.Advance(b.Arrival)
		c.second = b.Arrival
	}
	c.step.Begin(&c.isolate, b, b.Arrival)
}

// lines correlates the rendered lines of a batch from number from on, and returns
// their detections with what fires behind those of each event. The page is valid until
// the next call.
func (c *correlator) lines(j *job, from int, t *tally) *page {
	b := &j.batch
	c.merged.begin(&j.detections)
	for i := from; i < j.detections.next; i++ {
		o := &b.Outcomes[i]
		if o.Kind != graph.Decoded || o.Matches.Len() == 0 {
			continue
		}
		fired, err := c.line(b, i)
		if err != nil {
			c.merged.leaveOut(o.Results)
			o.Kind = graph.Quarantined
			t.fail(step.Poisoned{Line: i, Cause: err})
			continue
		}
		t.firings += uint64(fired)
	}
	return c.merged.finish()
}

// evicted warns of groups that were removed because of a limit.
func (c *correlator) evicted(o *correlation.Outcome) {
	limits := c.step.Engine.Limits()
	full, limit, flag := plural.Of(o.Before, "group")+" of correlations", limits.Groups, "--max-state-entries"
	if o.Before < limits.Groups {
		full, limit, flag = fmt.Sprintf("groups of correlations of %d bytes", o.Bytes), limits.Bytes, "--max-state-bytes"
	}
	c.warn(fmt.Sprintf("%s, the limit is %d: %d evicted (raise %s or shorten windows)", full, limit, o.Evicted, flag))
}

// count correlates line i and returns what fires, which is valid until the next call.
// The error is that of a step.
func (c *correlator) count(b *graph.Batch, i int) ([]step.Firing, error) {
	counted, err := c.step.Count(&c.isolate, b, i, b.Arrival)
	for _, o := range counted.Effects {
		c.truncated += o.Truncated
		if o.Evicted > 0 {
			c.evicted(&o)
		}
	}
	return counted.Firings, err
}

// line correlates line i and renders what fires. The error is that of a step.
func (c *correlator) line(b *graph.Batch, i int) (fired int, err error) {
	firings, err := c.count(b, i)
	if err != nil || len(firings) == 0 {
		return 0, err
	}
	m := &c.merged
	end, done := m.end(), m.done
	err = c.isolate.Step(func() {
		for _, f := range firings {
			m.upTo(f.Behind)
			c.render(&m.page, m.firing(b, f))
		}
	}, func() {
		m.truncate(end)
		m.done = done
	})
	return len(firings), err
}

// long correlates, renders and writes a line that meets hundreds of rules, in pieces.
func (e *evaluation) long(b *graph.Batch, line int) error {
	var g page
	var firings []step.Firing
	if e.correlate != nil {
		var err error
		if firings, err = e.correlate.count(b, line); err != nil {
			e.total.fail(step.Poisoned{Line: line, Cause: err})
			return nil
		}
	}
	for n, to := b.Outcomes[line].Results.From, b.Outcomes[line].Results.To; n < to || len(firings) > 0; {
		end := g.end()
		fires := len(firings) > 0 && (n == to || firings[0].Behind <= n)
		err := e.isolate.Step(func() {
			if fires {
				e.render(&g, g.firing(b, firings[0]))
			} else {
				e.render(&g, g.detection(b, int(n)))
			}
		}, func() { g.truncate(end) })
		switch {
		case err != nil: // what stands before it in the line is written
			e.total.fail(step.Poisoned{Line: line, Cause: err})
			return e.printer.write(&g, &e.total)
		case fires:
			firings = firings[1:]
			e.total.firings++
		default:
			n++
			e.total.matches++
		}
		if g.full() {
			if err := e.printer.write(&g, &e.total); err != nil {
				return err
			}
			g.empty()
		}
	}
	return e.printer.write(&g, &e.total)
}

// release gives back what the last batch holds.
func (c *correlator) release() {
	if c != nil {
		c.step.End()
		c.step.Engine.Release()
	}
}

// sumUp prints what the evaluation came to.
func (e *evaluation) sumUp(out *console, o *config.Eval) {
	e.sumUpResults(out, o)
	if m, ok := e.origins.Misplaced(); ok {
		out.note("%s", misplacedHint(m))
	}
	if s, ok := e.shapes.Skipped(); ok {
		out.note("%s", skippedHint(s))
	} else if shape, ok := e.shapes.Unread(); ok {
		out.note("%s", shapeHint(shape, e.shapes.Renamed(shape)))
	}
}

func (e *evaluation) sumUpResults(out *console, o *config.Eval) {
	c := e.correlate
	if c == nil {
		summarise(out, o, &e.total, matchCount(e.total.matches, ""))
		return
	}
	if c.truncated > 0 {
		c.warn(fmt.Sprintf("%s of correlations did not reach further ones: more than %d levels of correlations", plural.Of(c.truncated, "result"), correlation.MaxLevels))
	}
	summarise(out, o, &e.total, matchCount(e.total.matches, "detection ")+", "+matchCount(e.total.firings, "correlation "))
	if c.dumps {
		dumpState(out.Err, c.step.Engine)
	}
}

// matchCount says how many matches of a kind there are.
func matchCount(n uint64, kind string) string {
	return plural.Either(n, kind+"match", kind+"matches")
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

// fit tells rows what their rules are: how wide their columns get, before the first
// result is known, and which keywords they search.
func (p *printer) fit(rules *load.Collection) {
	r := p.rows
	if r == nil {
		return
	}
	r.words = newKeywords(rules.Rules)
	meta := func(m *ast.Meta, kind string) {
		r.Want(terminal.Level, m.Level.String(), len("informational"))
		r.Want(terminal.Rule, m.Title, terminal.RuleMost)
		r.Want(terminal.Type, kind, len(kind))
	}
	for _, rule := range rules.Rules {
		meta(&rule.Meta, "detection")
	}
	for _, c := range rules.Correlations {
		meta(&c.Meta, string(c.Type))
	}
}

// fired tells a result that is no detection.
func fired(r *graph.Result) terminal.Row {
	c := r.Correlation
	return cells(c.Rule.Level, c.Rule.Title, string(c.Rule.Type), correlationDetail(c))
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
	return terminal.Cut(string(b), detailWidth)
}
