package command

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/ruleset"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/correlation/match"
	"github.com/sluicehq/sluice/sigma/correlation/plan"
	"github.com/sluicehq/sluice/sigma/engine"
)

// planFor compiles the correlations and says what is doubtful about them.
func (e *env) planFor(l *config.Loaded, rules *ruleset.Rules) (*plan.Plan, error) {
	given := l.Layer("eval.--action") != config.LayerDefault
	o, err := ruleset.Correlation(&l.Config.Eval.Correlation, given, rules.Defaults)
	if err != nil {
		return nil, fmt.Errorf("correlations: %w", err)
	}
	o.ResultTime = l.Config.Eval.ResultTime
	p, err := plan.Compile(rules.Correlations, rules.Rules, o)
	if err != nil {
		return nil, err
	}
	if p.Depth() > plan.MaxLevels {
		e.warn(fmt.Sprintf("correlations refer to each other over %d levels; firings are propagated over %d", p.Depth(), plan.MaxLevels))
	}
	for _, id := range p.SharedIDs() {
		e.warn(fmt.Sprintf("several correlations are named '%s'", id))
	}
	return p, nil
}

// matches are the match records of a chunk, for the correlator.
type matches struct {
	text    []byte // the records themselves
	records []record
	lines   []found // the lines that have any
}

// record is what correlations want to know of one event.
type record struct {
	end    int   // in the text
	behind place // what fires goes behind the event's detections
}

// found is a line with match records.
type found struct {
	from, to place  // its detections
	records  int    // number of the first record behind it
	matches  uint64 // detections rendered
}

func (m *matches) reset() { m.text, m.records, m.lines = m.text[:0], m.records[:0], m.lines[:0] }

// truncate forgets the records from number n on, which no line has claimed.
func (m *matches) truncate(n int) {
	m.records = m.records[:n]
	m.text = m.text[:m.begin(n)]
}

// begin returns where record n begins.
func (m *matches) begin(n int) int {
	if n == 0 {
		return 0
	}
	return m.records[n-1].end
}

// line claims the records added since the last call for a line.
func (m *matches) line(from, to place, written uint64) {
	m.lines = append(m.lines, found{from, to, len(m.records), written})
}

// extractor takes from events what correlations want to know. It belongs to one
// worker.
type extractor struct {
	*match.Extractor
	plan   *plan.Plan
	skip   bool // events without a time concern no correlation
	source *match.Event
	rules  []int
}

func newExtractor(p *plan.Plan, set *engine.Set, skip bool) *extractor {
	return &extractor{
		Extractor: match.NewExtractor(p.Spec()), plan: p, skip: skip,
		source: match.NewEvent(p.Spec(), set),
	}
}

// event adds the record of event i, whose detections begin at number from and
// have been rendered, to the chunk.
func (x *extractor) event(j *judging, i, from int, c *chunk) {
	x.rules = x.rules[:0]
	wanted := false
	for k := from; k < j.batch.Len(); k++ {
		rule := j.batch.At(k).Rule.Index
		x.rules = append(x.rules, rule)
		wanted = wanted || x.plan.Spec().Wants(rule)
	}
	if !wanted {
		return
	}
	ts, ok := j.worker.Time(&j.events, i)
	if !ok {
		if x.skip {
			return
		}
		ts = c.arrival
	}
	x.source.Open(j.worker, &j.events, i)
	m := &c.found
	m.text = x.Append(m.text, x.rules, ts, x.source)
	m.records = append(m.records, record{len(m.text), c.end()})
}

// correlator brings the matches of all lines, in their order, to the
// correlations.
type correlator struct {
	plan   *plan.Plan
	skip   bool
	engine *correlation.Engine
	render func(*rendered, *correlation.Result)
	warn   func(...string)

	second    int64                 // up to which the engine has been told the time
	results   []*correlation.Result // of the line at hand
	upTo      []int                 // by record of the line: the results up to its own
	merged    rendered
	truncated int
}

func newCorrelator(p *plan.Plan, c *config.Correlation, r renderer, e *env) *correlator {
	return &correlator{
		plan: p, skip: c.TimestampFallback == "skip", engine: correlation.New(p, c.MaxStateEntries),
		render: r.correlation, warn: e.warn,
	}
}

// chunk puts the results of correlations behind the detections of each line.
func (k *correlator) chunk(c *chunk) {
	if c.arrival > k.second {
		k.engine.Advance(c.arrival)
		k.second = c.arrival
	}
	k.merged.reset()
	var done place
	first := 0
	for i := range c.found.lines {
		l := &c.found.lines[i]
		failure := k.line(&c.found, first, l.records, c.arrival)
		switch {
		case failure != nil:
			k.merged.take(&c.rendered, done, l.from)
			done = l.to
			c.tally.fail(failure)
			c.tally.matches -= l.matches
		case len(k.results) > 0:
			done = k.merge(c, done, first)
		}
		first = l.records
	}
	if done != (place{}) || c.tally.correlations > 0 {
		k.merged.take(&c.rendered, done, c.end())
		c.rendered, k.merged = k.merged, c.rendered
	}
}

// merge puts the results of a line, whose first record is given, behind the
// detections of their events and returns up to where the chunk is merged.
func (k *correlator) merge(c *chunk, done place, first int) place {
	from := 0
	for i, to := range k.upTo {
		if to == from {
			continue
		}
		behind := c.found.records[first+i].behind
		k.merged.take(&c.rendered, done, behind)
		for _, r := range k.results[from:to] {
			k.render(&k.merged, r)
		}
		done, from = behind, to
	}
	c.tally.correlations += uint64(len(k.results))
	return done
}

// line applies the records of one line, or none of them: what panics is tried
// once more and then given up.
func (k *correlator) line(m *matches, from, to int, now int64) (failure any) {
	for range 2 {
		if failure = k.try(m, from, to, now); failure == nil {
			return nil
		}
	}
	return failure
}

func (k *correlator) try(m *matches, from, to int, now int64) (failure any) {
	k.results, k.upTo = k.results[:0], k.upTo[:0]
	k.engine.Begin()
	defer func() {
		if p := recover(); p != nil {
			failure = p
		}
		if failure != nil {
			k.engine.Rollback()
		}
	}()
	for i := from; i < to; i++ {
		results, o, err := k.engine.Process(m.text[m.begin(i):m.records[i].end], now, k.results)
		if err != nil {
			return err
		}
		k.results, k.upTo = results, append(k.upTo, len(results))
		k.truncated += o.Truncated
		if o.Evicted > 0 {
			k.warn(fmt.Sprintf("%d groups of correlations, the limit is %d: %d evicted (raise --max-state-entries or shorten windows)",
				o.Before, k.engine.MaxGroups(), o.Evicted))
		}
	}
	k.engine.Commit()
	return nil
}

// report says at the end what was left out.
func (k *correlator) report() {
	if k.truncated > 0 {
		k.warn(fmt.Sprintf("%d firings were not propagated: more than %d levels of correlations", k.truncated, plan.MaxLevels))
	}
}

// dump writes the state as the routes of the service show it.
func (k *correlator) dump(w io.Writer) {
	view := k.engine.Export()
	groups, _ := view.State(correlation.Filter{})
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	_ = out.Encode(struct { // there is nowhere left to say that stderr cannot be written
		Correlations []correlation.Entry      `json:"correlations"`
		Groups       []correlation.GroupEntry `json:"groups"`
	}{view.Entries(correlation.Filter{}), groups})
}
