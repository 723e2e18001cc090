package step_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/sigma/correlation"

	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
)

const (
	whoami = "title: Whoami\nlogsource: {product: x}\ndetection: {s: {CommandLine|contains: whoami}, condition: s}\n"

	counted = "title: A\nid: a\nlogsource: {product: x}\ndetection: {s: {a: evil}, condition: s}\n---\n" +
		"title: B\nlogsource: {product: x}\ndetection: {s: {b: 1}, condition: s}\n---\n" +
		"title: C\ncorrelation: {type: event_count, rules: a, group-by: u, timespan: 1m, condition: {gte: 1}}\n"

	words = "title: A\nid: a\nlogsource: {product: x}\ndetection: {s: [evil], condition: s}\n---\n" +
		"title: B\nlogsource: {product: x}\ndetection: {s: {b: 1}, condition: s}\n---\n" +
		"title: C\ncorrelation: {type: event_count, rules: a, group-by: u, timespan: 1m, condition: {gte: 1}}\n"
)

func ruleSet(t *testing.T, rules string, o ...correlation.Options) *graph.RuleSet {
	t.Helper()
	c := load.FromBytes("r.yml", []byte(rules), load.Options{})
	if len(c.Rejected) > 0 {
		t.Fatalf("rejected: %v", c.Rejected)
	}
	set, options := new(graph.RuleSet), engine.Options{}
	var err error
	if len(c.Correlations) > 0 {
		if set.Correlation, err = correlation.Compile(c.Correlations, c.Rules, append(o, correlation.Options{})[0]); err != nil {
			t.Fatal(err)
		}
		options.Fields = set.Correlation.Spec().Fields
	}
	if set.Engine, err = engine.Compile(c.Rules, options); err != nil {
		t.Fatal(err)
	}
	return set
}

// decoded is a batch whose lines are decoded.
func decoded(set *graph.RuleSet, lines ...string) *graph.Batch {
	b := newBatch(set, lines...)
	step.NewDecode(&format.Decoder{}).Batch(new(step.Sequential), b)
	return b
}

func TestWhatCorrelationsGetOfALine(t *testing.T) {
	const evil, plain, both = `{"a":"evil","u":"ann","timestamp":5}`, `{"b":1}`, `{"a":"evil","b":1}`
	for _, tc := range []struct {
		name    string
		timed   bool
		rules   string
		o       correlation.Options
		lines   []string
		times   []int64  // of the records
		behind  []uint32 // results of the batch up to each
		results string   // titles of rules
		late    uint64   // events without a time
		left    int      // results that were withheld
	}{
		{"nothing without correlations", false, whoami, correlation.Options{}, []string{`{"CommandLine":"whoami"}`}, nil, nil, "Whoami", 0, 0},
		{"nothing of a match that concerns no correlation", false, counted, correlation.Options{}, []string{plain, `{}`}, nil, nil, "B", 0, 0},
		{"the time of the event, else of its arrival", false, counted, correlation.Options{}, []string{evil, plain, both}, []int64{5, 77}, []uint32{1, 4}, "A B A B", 1, 0},
		{"nothing of an event without a time that is to be skipped", true, counted, correlation.Options{}, []string{both, evil}, []int64{5}, []uint32{3}, "A B A", 1, 0},
		{"withheld results are gone, others stay", false, counted, correlation.Options{NoDetections: true}, []string{both, evil, plain}, []int64{77, 5}, []uint32{1, 1}, "B B", 1, 2},
		{"withheld also when the event is skipped", true, counted, correlation.Options{NoDetections: true}, []string{both}, nil, nil, "B", 1, 1},
		{
			"withholding spares detections that events share", false, words,
			correlation.Options{NoDetections: true},
			[]string{both, both, both},
			[]int64{77, 77, 77},
			[]uint32{1, 2, 3},
			"B B B", 3, 3,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := decoded(ruleSet(t, tc.rules, tc.o), tc.lines...)
			d := step.NewDetect(tc.timed)
			for range 2 { // again, as after a restart
				out := d.Batch(new(step.Sequential), b)
				wantMatches(t, b, tc.times, tc.behind)
				var got []string
				for i := range b.Results.Len() {
					got = append(got, b.Results.At(i).Rule.Title)
				}
				if s := strings.Join(got, " "); s != tc.results {
					t.Errorf("results of %s, want of %s", s, tc.results)
				}
				if len(b.Withheld) != tc.left || tc.left > 0 && b.Withheld[0] != 0 {
					t.Errorf("withheld %v, want %d of rule 0", b.Withheld, tc.left)
				}
				if out.Fallbacks != tc.late || len(out.Poisoned) > 0 {
					t.Errorf("outcome %+v, want %d without a time", out, tc.late)
				}
			}
		})
	}
}

// wantMatches checks the matches of a batch, and that each is of one line.
func wantMatches(t *testing.T, b *graph.Batch, times []int64, behind []uint32) {
	t.Helper()
	if len(b.Matches) != len(times) {
		t.Fatalf("%d matches, want %d", len(b.Matches), len(times))
	}
	for i, m := range b.Matches {
		var r correlation.Record
		if rest, err := r.Open(b.Set.Correlation.Spec(), m.Record); err != nil || len(rest) > 0 || r.Time != times[i] || m.Results != behind[i] {
			t.Errorf("match %d: at %d behind %d results (%v), want %d behind %d", i, r.Time, m.Results, err, times[i], behind[i])
		}
	}
	seen := uint32(0)
	for i, o := range b.Outcomes {
		if o.Matches.From != seen {
			t.Errorf("line %d has its matches from %d on, want %d", i, o.Matches.From, seen)
		}
		seen = o.Matches.To
	}
	if seen != uint32(len(b.Matches)) {
		t.Errorf("the lines have %d matches, want %d", seen, len(b.Matches))
	}
}

func TestALineThatPanicsTheEngineLeavesNothing(t *testing.T) {
	b := decoded(ruleSet(t, counted), `{"a":"evil"}`, `{"a":"evil"}`, `{"a":"evil"}`)
	b.Outcomes[1].Events.To = 1000 // no such events
	out := step.NewDetect(false).Batch(new(step.Sequential), b)
	var got []string
	for _, o := range b.Outcomes {
		got = append(got, fmt.Sprint(o.Kind, o.Results, o.Matches))
	}
	want := fmt.Sprint(
		graph.Decoded, graph.Span{To: 1}, graph.Span{To: 1}, "|",
		graph.Quarantined, graph.Span{}, graph.Span{}, "|",
		graph.Decoded, graph.Span{From: 1, To: 2}, graph.Span{From: 1, To: 2})
	if s := strings.Join(got, "|"); strings.ReplaceAll(s, " ", "") != strings.ReplaceAll(want, " ", "") {
		t.Errorf("outcomes %s, want %s", s, want)
	}
	if b.Results.Len() != 2 || len(b.Matches) != 2 || b.Matches[1].Results != 2 {
		t.Errorf("%d results, %d matches, want those of the first and the last line", b.Results.Len(), len(b.Matches))
	}
	if len(out.Poisoned) != 1 || out.Poisoned[0].Line != 1 || !strings.HasPrefix(out.Poisoned[0].Cause.Error(), "panic: ") {
		t.Errorf("poisoned %v, want the second line", out.Poisoned)
	}
}

func TestABatchThatIsUsedAgainShowsNothingOfTheOneBefore(t *testing.T) {
	set := ruleSet(t, counted)
	b := decoded(set, `{"a":"evil"}`)
	d, g := step.NewDetect(false), new(step.Sequential)
	d.Batch(g, b)
	results := b.Results
	b.Reset()
	if b.Results != nil || len(b.Lines)+len(b.Matches)+len(b.Records)+b.Events.Len() > 0 {
		t.Errorf("got %+v, want nothing", b)
	}
	b.Set, b.Results = set, results
	b.Lines = append(b.Lines, graph.Line{Raw: []byte("text")})
	step.NewDecode(&format.Decoder{}).Batch(g, b)
	d.Batch(g, b)
	if b.Results.Len() != 0 || len(b.Matches) != 0 {
		t.Errorf("%d results and %d matches, want none", b.Results.Len(), len(b.Matches))
	}
}

// Lines may have several events.
func TestResultsAndFiringsNameTheirEvents(t *testing.T) {
	set := ruleSet(t, counted, correlation.Options{})
	for _, asked := range []bool{true, false} {
		b := decoded(set, `{"x":1}`, `{"a":"evil","b":1}`, `{"b":1}`, `{"a":"evil"}`)
		b.Outcomes[1].Events.To, b.Outcomes[2].Events.From = 3, 3 // the second line has two
		d := step.NewDetect(false)
		d.TellEvents = asked
		for range 2 { // the second time shows nothing of the first
			d.Batch(new(step.Sequential), b)
		}
		want := "[]"
		if asked {
			want = "[1 1 2 3]"
		}
		if got := fmt.Sprint(b.EventOf); got != want {
			t.Errorf("asked %v: results are of events %s, want %s", asked, got, want)
		}
		if len(b.Matches) != 2 || b.Matches[0].Event != 1 || b.Matches[1].Event != 3 {
			t.Errorf("matches %+v, want those of events 1 and 3", b.Matches)
		}
		c := step.NewCorrelate(correlation.New(set.Correlation, correlation.Limits{}))
		var g step.Sequential
		c.Begin(&g, b, 100)
		if got, err := c.Count(&g, b, 3, 100); err != nil || len(got.Firings) != 1 || got.Firings[0].Event != 3 {
			t.Errorf("got %+v, %v, want a firing of event 3", got, err)
		}
		c.End()
	}
}
