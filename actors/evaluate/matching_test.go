package evaluate

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/correlation/match"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
)

const counted = "title: A\nid: a\nlogsource: {product: x}\ndetection: {s: {a: evil}, condition: s}\n---\n" +
	"title: B\nlogsource: {product: x}\ndetection: {s: {b: 1}, condition: s}\n---\n" +
	"title: C\ncorrelation: {type: event_count, rules: a, group-by: u, timespan: 1m, condition: {gte: 1}}\n"

func correlatingSet(t *testing.T, o correlation.Options) *graph.RuleSet {
	t.Helper()
	c := load.FromBytes("r.yml", []byte(counted), load.Options{})
	p, err := correlation.Compile(c.Correlations, c.Rules, o)
	if err != nil {
		t.Fatal(err)
	}
	set, err := engine.Compile(c.Rules, engine.Options{Fields: p.Spec().Fields})
	if err != nil {
		t.Fatal(err)
	}
	return &graph.RuleSet{Engine: set, Correlation: p}
}

// judged gives the stage one batch and returns what became of it.
func judged(t *testing.T, o Options, alter func(*graph.Batch), lines ...string) (out *graph.Batch, s *Stage) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var next interface{ All() []*graph.Batch }
		s, _, next, _ = spawn(t, o)
		b := batch(t, 0, o.Set, lines...)
		b.Arrival = 77
		if alter != nil {
			alter(b)
		}
		s.Lane().TryPut([]*graph.Batch{b})
		synctest.Wait()
		out = next.All()[0]
	})
	return out, s
}

func TestWhatCorrelationsGetOfALine(t *testing.T) {
	const evil, plain, both = `{"a":"evil","u":"ann","timestamp":5}`, `{"b":1}`, `{"a":"evil","b":1}`
	for _, tc := range []struct {
		name    string
		timed   bool
		plan    correlation.Options
		lines   []string
		times   []int64  // of the records
		behind  []uint32 // results of the batch up to each
		results int
	}{
		{"nothing of a match that concerns no correlation", false, correlation.Options{}, []string{plain, `{}`}, nil, nil, 1},
		{"the time of the event, else of its arrival", false, correlation.Options{}, []string{evil, plain, both}, []int64{5, 77}, []uint32{1, 4}, 4},
		{"nothing of an event without a time that is to be skipped", true, correlation.Options{}, []string{both, evil}, []int64{5}, []uint32{3}, 3},
		{"withheld results are gone, others stay", false, correlation.Options{NoDetections: true}, []string{both, evil, plain}, []int64{77, 5}, []uint32{1, 1}, 2},
		{"withheld also when the event is skipped", true, correlation.Options{NoDetections: true}, []string{both}, nil, nil, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			set := correlatingSet(t, tc.plan)
			b, _ := judged(t, Options{Set: set, Workers: 1, Timed: tc.timed}, nil, tc.lines...)
			if len(b.Matches) != len(tc.times) || b.Results.Len() != tc.results {
				t.Fatalf("%d matches and %d results, want %d and %d", len(b.Matches), b.Results.Len(), len(tc.times), tc.results)
			}
			for i, m := range b.Matches {
				var r match.Record
				if rest, err := r.Open(set.Correlation.Spec(), m.Record); err != nil || len(rest) > 0 || r.Time != tc.times[i] || m.Results != tc.behind[i] {
					t.Errorf("match %d: at %d behind %d results (%v), want %d behind %d", i, r.Time, m.Results, err, tc.times[i], tc.behind[i])
				}
			}
			seen := uint32(0)
			for i, f := range b.Outcomes {
				if f.Matches.From != seen {
					t.Errorf("line %d has its matches from %d on, want %d", i, f.Matches.From, seen)
				}
				seen = f.Matches.To
			}
			if seen != uint32(len(b.Matches)) {
				t.Errorf("the lines have %d matches, want %d", seen, len(b.Matches))
			}
		})
	}
}

func TestALineThatPanicsLeavesNoMatches(t *testing.T) {
	b, s := judged(t, Options{Set: correlatingSet(t, correlation.Options{}), Workers: 1}, func(b *graph.Batch) {
		b.Outcomes[1].Events.To = 1000 // no such events
	}, `{"a":"evil"}`, `{"a":"evil"}`, `{"a":"evil"}`)
	var got []string
	for _, f := range b.Outcomes {
		got = append(got, strings.Repeat("m", f.Matches.Len()))
	}
	if s := strings.Join(got, "|"); s != "m||m" || len(b.Matches) != 2 || b.Matches[1].Results != 2 {
		t.Errorf("matches %s, %d in all, want one of the first and one of the last line", s, len(b.Matches))
	}
	if n := s.Cell().Quarantined(); n != 1 {
		t.Errorf("%d lines quarantined, want 1", n)
	}
}
