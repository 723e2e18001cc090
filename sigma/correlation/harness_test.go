package correlation_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/correlation/internal/match"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
	"github.com/sluicehq/sluice/sigma/load"
)

// detections are the rules that the cases refer to.
const detections = `
title: login
id: d-login
name: login_seen
detection: {s: {kind: login}, condition: s}
---
title: recon
id: d-recon
name: recon_seen
detection: {s: {kind: recon}, condition: s}
---
title: exploit
id: d-exploit
name: exploit_seen
detection: {s: {kind: exploit}, condition: s}
---
title: a
id: d-a
detection: {s: {kind: both}, condition: s}
---
title: b
id: d-b
detection: {s: {kind: both}, condition: s}
---
title: named only
name: no_id
detection: {s: {kind: named}, condition: s}
`

// kinds tells which of the rules an event of a kind meets.
var kinds = map[string][]int{
	"login": {0}, "recon": {1}, "exploit": {2}, "both": {3, 4}, "named": {5},
	"also": {6}, // of a rule that a test adds
}

// compile loads detections and the correlations in text.
func compile(tb testing.TB, text string, o program.Options) *program.Program {
	tb.Helper()
	c := load.FromBytes("rules.yml", []byte(detections+"---\n"+text), load.Options{})
	if len(c.Rejected) > 0 {
		tb.Fatalf("rejected: %v", c.Problems())
	}
	if c.Defaults.Suppress != nil && o.Suppress == 0 {
		o.Suppress = c.Defaults.Suppress.Seconds()
	}
	p, err := program.Compile(c.Correlations, c.Rules, o)
	if err != nil {
		tb.Fatalf("compile: %v", err)
	}
	return p
}

// body wraps the mapping under `correlation` into a document with group-by user
// and rules [d-login], unless it says otherwise.
func body(lines string) string { return named("c", lines) }

func named(id, lines string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "title: %s\nid: %s\ncorrelation:\n", id, id)
	for key, value := range map[string]string{"rules": "[d-login]", "timespan": "60s", "group-by": "[user]"} {
		if !strings.Contains("\n"+lines, "\n"+key+":") {
			fmt.Fprintf(&b, "  %s: %s\n", key, value)
		}
	}
	var attributes []string
	for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		if strings.HasPrefix(line, "sluice.") || strings.HasPrefix(line, "level:") || strings.HasPrefix(line, "tags:") {
			attributes = append(attributes, line)
			continue
		}
		fmt.Fprintf(&b, "  %s\n", line)
	}
	return b.String() + strings.Join(attributes, "\n") + "\n"
}

// input is one event: its time and its other fields as JSON members.
type input struct {
	ts     int64
	fields string
}

func (i input) json() string {
	fields := i.fields
	if !strings.Contains(fields, `"kind"`) {
		fields = `"kind":"login",` + fields
	}
	if !strings.Contains(fields, `"user"`) {
		fields = `"user":"ann",` + fields
	}
	return "{" + strings.TrimSuffix(strings.ReplaceAll(fields, `"user":-,`, ""), ",") + "}"
}

// at makes one event of user ann for each second.
func at(seconds ...int64) []input {
	var list []input
	for _, s := range seconds {
		list = append(list, input{ts: s})
	}
	return list
}

func with(ts int64, fields string) input { return input{ts, fields} }

// driver feeds events into an engine.
type driver struct {
	tb        testing.TB
	engine    *correlation.Engine
	extractor *match.Extractor
	document  *match.Document
	now       int64
	outcome   correlation.Outcome // added up
}

func newDriver(tb testing.TB, p *program.Program, maxGroups int) *driver {
	tb.Helper()
	d := &driver{tb: tb, engine: correlation.New(p, correlation.Limits{Groups: maxGroups}), now: 1_700_000_000}
	d.use(p)
	return d
}

func (d *driver) use(p *program.Program) {
	d.extractor = match.NewExtractor(p.Spec())
	d.document = match.NewDocument(p.Spec())
}

func (d *driver) record(i input) []byte {
	raw := i.json()
	var members struct{ Kind string }
	if err := json.Unmarshal([]byte(raw), &members); err != nil {
		d.tb.Fatalf("event %s: %v", raw, err)
	}
	d.document.Set([]byte(raw))
	return d.extractor.Append(nil, kinds[members.Kind], i.ts, d.document)
}

func (d *driver) feed(i input) []*correlation.Result {
	d.tb.Helper()
	record := d.record(i)
	if len(record) == 0 {
		return nil
	}
	d.engine.Begin()
	results, o, err := d.engine.Process(record, d.now, d.now, nil)
	if err != nil {
		d.tb.Fatalf("process: %v", err)
	}
	d.engine.Commit()
	d.outcome.Suppressed += o.Suppressed
	d.outcome.Late += o.Late
	d.outcome.Truncated += o.Truncated
	d.outcome.Evicted += o.Evicted
	d.outcome.Expired += o.Expired
	d.outcome.Forgotten += o.Forgotten
	return results
}

// fires writes results as value@time, with the title in front where it is not c, and
// the key where it is not ann's.
func fires(results []*correlation.Result) []string {
	var list []string
	for _, r := range results {
		s := fmt.Sprintf("%s@%d", correlation.AppendNumber(nil, r.Value), r.Time)
		if r.Rule.Title != "c" {
			s = r.Rule.Title + " " + s
		}
		if !slices.Equal(r.Key, []correlation.Pair{{Field: "user", Value: "ann"}}) {
			s += fmt.Sprintf(" %v", r.Key)
		}
		list = append(list, s)
	}
	return list
}

func (d *driver) run(events []input) []string {
	d.tb.Helper()
	var got []string
	for _, i := range events {
		got = append(got, fires(d.feed(i))...)
	}
	return got
}

func itoa(n int) string { return fmt.Sprint(n) }
