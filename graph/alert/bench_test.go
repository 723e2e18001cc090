package alert

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert/silence"
	"github.com/sluicehq/sluice/graph/selector"
)

const everything = `{
	inhibit_rules: [{source_match: [{selector: level, value: critical}], target_match: [{selector: level, value: low}], equal: [match.SourceIp]}],
	dedup: {fingerprint: [match.SourceIp, match.User]},
	group: {by: [match.SourceIp]}
}`

// distinct makes results that differ in their addresses.
func distinct(b *testing.B, n int) []graph.Result {
	b.Helper()
	all := make([]graph.Result, n)
	t := new(testing.T)
	for i := range all {
		all[i] = result(t, fmt.Sprintf("ssh ip=10.%d.%d.%d user=u%d", i>>16&255, i>>8&255, i&255, i%1000))
	}
	return all
}

func process(p *Pipeline, set *graph.ResultSet, r graph.Result, now int64) *Outcome {
	set.Results = append(set.Results[:0], r)
	return p.Process(set, now)
}

// What a result costs that repeats an active alert: nearly all of a storm.
func BenchmarkAStormFolds(b *testing.B) {
	p := New(parsedFile(b, everything), Options{})
	var set graph.ResultSet
	one := distinct(b, 1)[0]
	process(p, &set, one, 1)
	b.ReportAllocs()
	for b.Loop() {
		if o := process(p, &set, one, 2); o.Folded != 1 {
			b.Fatalf("%+v", o)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "results/s")
}

// What a result costs that opens an alert and an incident, up to the caps and beyond.
func BenchmarkAStormOfDistinctResults(b *testing.B) {
	p := New(parsedFile(b, everything), Options{})
	var set graph.ResultSet
	all := distinct(b, 200_000)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		process(p, &set, all[i%len(all)], 1)
		i++
	}
	c := p.Counts(1)
	if c.Alerts > 100_000 || c.Incidents > 10_000 {
		b.Errorf("%d alerts and %d incidents are beyond their caps", c.Alerts, c.Incidents)
	}
}

// What silences cost a result that none of them mutes: the index finds them by their values.
func BenchmarkSilences(b *testing.B) {
	for _, tc := range []struct {
		name       string
		n          int
		expression bool
	}{{"none", 0, false}, {"1", 1, false}, {"10000", 10_000, false}, {"10000 and an expression", 10_000, true}} {
		b.Run(tc.name, func(b *testing.B) {
			p := New(parsedFile(b, `{}`), Options{})
			for i := range tc.n {
				field := "match.SourceIp"
				if i%2 == 1 {
					field = "match.User"
				}
				s, err := silence.Compile(silence.Spec{ID: fmt.Sprint(i), Matchers: []selector.Condition{
					{Selector: "rule", Op: selector.Equal, Value: "rule-ssh"}, {Selector: field, Op: selector.Equal, Value: fmt.Sprintf("other-%d", i)},
				}}, silence.API, 0)
				if err != nil {
					b.Fatal(err)
				}
				p.Silences().Add(s)
			}
			if tc.expression {
				s, err := silence.Compile(silence.Spec{ID: "expression", Matchers: []selector.Condition{
					{Selector: "match.SourceIp", Op: selector.Like, Value: ".*"}, {Selector: "level", Op: selector.Equal, Value: "low"},
				}}, silence.API, 0)
				if err != nil {
					b.Fatal(err)
				}
				p.Silences().Add(s)
			}
			var set graph.ResultSet
			one := distinct(b, 1)[0]
			b.ReportAllocs()
			for b.Loop() {
				if o := process(p, &set, one, 1); o.Silenced != 0 {
					b.Fatalf("%+v", o)
				}
			}
		})
	}
}

// A tick at which nothing is due, beside a hundred thousand incidents and alerts.
func BenchmarkTickWithNothingDue(b *testing.B) {
	p := New(parsedFile(b, strings.Replace(everything, "group: {by: [match.SourceIp]}", "group: {by: [match.SourceIp], caps: {max_open_incidents: 200000}}", 1)), Options{})
	var set graph.ResultSet
	for _, r := range distinct(b, 100_000) {
		process(p, &set, r, 1)
	}
	none := func(r graph.Record) { b.Fatalf("a record came out: %s", r.AppendNative(nil)) }
	if c := p.Counts(2); c.Alerts != 100_000 || c.Incidents != 100_000 {
		b.Fatalf("%+v", c)
	}
	b.ReportAllocs()
	for b.Loop() {
		p.Tick(2, none)
	}
}

// A view for a checkpoint of a hundred thousand incidents and alerts: how long the stage
// stands still for it.
func BenchmarkExport(b *testing.B) {
	p := New(parsedFile(b, strings.Replace(everything, "group: {by: [match.SourceIp]}", "group: {by: [match.SourceIp], caps: {max_open_incidents: 200000}}", 1)), Options{})
	var set graph.ResultSet
	for _, r := range distinct(b, 100_000) {
		process(p, &set, r, 1)
	}
	b.ReportAllocs()
	for b.Loop() {
		runtime.KeepAlive(p.Export())
	}
}

func parsedFile(b *testing.B, text string) *File {
	b.Helper()
	f, _, faults := Parse([]byte(text))
	if f == nil {
		b.Fatal(faults)
	}
	return f
}
