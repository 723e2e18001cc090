package command

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/sluicehq/sluice/actors/correlate"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/correlation/match"
	"github.com/sluicehq/sluice/sigma/engine"
)

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
	plan   *correlation.Program
	skip   bool // events without a time concern no correlation
	source *match.Event
	rules  []int
}

func newExtractor(p *correlation.Program, set *engine.Set, skip bool) *extractor {
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
	plan   *correlation.Program
	skip   bool
	engine *correlation.Engine
	render func(*rendered, *correlation.Result)
	warn   func(...string)

	second    int64                 // up to which the engine has been told the time
	results   []*correlation.Result // of the event at hand
	merged    rendered
	truncated int

	// The chunk at hand: its next line, and up to where it is merged.
	next, first int // and the number of the line's first record
	done        place
}

func newCorrelator(p *correlation.Program, c *correlate.Config, r renderer, e *env) *correlator {
	return &correlator{
		merged: rendered{out: make([]byte, 0, chunkBytes)},
		plan:   p, skip: c.TimestampFallback == correlate.FallbackSkip, engine: correlation.New(p, c.MaxStateEntries),
		render: r.correlation, warn: e.warn,
	}
}

// chunk puts the results of correlations behind the detections of their events. A
// line that panics is tried once more and then given up.
func (k *correlator) chunk(c *chunk) {
	if c.arrival > k.second {
		k.engine.Advance(c.arrival)
		k.second = c.arrival
	}
	k.merged.reset()
	k.next, k.first, k.done = 0, 0, place{}
	for tried := -1; ; {
		failure := k.lines(c)
		if failure == nil {
			break
		}
		if tried < k.next {
			tried = k.next
			continue
		}
		l := &c.found.lines[k.next]
		k.merged.take(&c.rendered, k.done, l.from)
		k.done = l.to
		c.tally.fail(failure)
		c.tally.matches -= l.matches
		k.next, k.first = k.next+1, l.records
	}
	if k.done != (place{}) || c.tally.correlations > 0 {
		k.merged.take(&c.rendered, k.done, c.end())
		c.rendered, k.merged = k.merged, c.rendered
	}
	k.engine.Release()
}

// lines goes on with the lines of a chunk until one fails, of which nothing stays.
func (k *correlator) lines(c *chunk) (failure any) {
	end, done := k.merged.end(), k.done
	defer func() {
		if p := recover(); p != nil {
			failure = p
		}
		if failure != nil {
			k.engine.Rollback()
			k.merged.truncate(end)
			k.done = done
		}
	}()
	for ; k.next < len(c.found.lines); k.next++ {
		end, done = k.merged.end(), k.done
		l := &c.found.lines[k.next]
		k.engine.Begin()
		fired := 0
		for i := k.first; i < l.records; i++ {
			n, err := k.record(c, i)
			if err != nil {
				return err
			}
			fired += n
		}
		k.engine.Commit()
		c.tally.correlations += uint64(fired)
		k.first = l.records
	}
	return nil
}

// record applies record i of a chunk and puts what fires behind the detections of
// its event.
func (k *correlator) record(c *chunk, i int) (fired int, err error) {
	m := &c.found
	results, o, err := k.engine.Process(m.text[m.begin(i):m.records[i].end], c.arrival, k.results[:0])
	if err != nil {
		return 0, err
	}
	k.results = results
	k.truncated += o.Truncated
	if o.Evicted > 0 {
		k.warn(fmt.Sprintf("%d groups of correlations, the limit is %d: %d evicted (raise --max-state-entries or shorten windows)",
			o.Before, k.engine.MaxGroups(), o.Evicted))
	}
	if len(results) > 0 {
		behind := m.records[i].behind
		k.merged.take(&c.rendered, k.done, behind)
		k.done = behind
		for _, r := range results {
			k.render(&k.merged, r)
		}
	}
	return len(results), nil
}

// report says at the end what was left out.
func (k *correlator) report() {
	if k.truncated > 0 {
		k.warn(fmt.Sprintf("%d firings were not propagated: more than %d levels of correlations", k.truncated, correlation.MaxLevels))
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
