package dataflow_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/correlation"
)

// counted is the rule A, under an id, and a correlation that counts its matches.
func counted(title, extra string) string {
	return fmt.Sprintf("title: %s\nid: a\nlogsource: {product: test}\ndetection:\n  s: {a: evil}\n  k: [evil words]\n  condition: s or k\n---\n", title) +
		"title: Count\nid: c\nlevel: low\ncorrelation: {type: event_count, rules: a, group-by: user, timespan: 1h, condition: {gte: 1}" + extra + "}\n---\n"
}

func TestOneWorkerGivesTheSameBytesAsMany(t *testing.T) {
	rules, err := os.ReadFile(filepath.Join(sigmatest.DataDir(t), "lanes", "correlation-rules.yml"))
	if err != nil {
		t.Fatal(err)
	}
	events := sigmatest.Lane(t, "correlation")
	for _, tc := range []struct {
		name   string
		mode   correlation.EventMode
		events int
	}{
		{"counting", correlation.EventsNone, 4000},
		{"with references", correlation.EventsRefs, 1000},
		{"with events", correlation.EventsFull, 400},
	} {
		t.Run(tc.name, func(t *testing.T) {
			run := func(workers, batch int) (out []string) {
				synctest.Test(t, func(t *testing.T) {
					acks := &tally{}
					l := assemble(t, settings{rules: string(rules), workers: workers, batch: batch, plan: correlation.Options{EventMode: tc.mode, MaxEvents: 3}})
					texts := make([]string, tc.events)
					for i := range texts {
						texts[i] = string(events[i])
					}
					l.put(acks.lines(texts...))
					synctest.Wait()
					out = l.out.Lines()
					acks.want(t, all)
				})
				return out
			}
			want := run(1, 128)
			if len(want) <= tc.events {
				t.Fatalf("%d results of %d events, want correlations among them", len(want), tc.events)
			}
			for _, s := range []struct{ workers, batch int }{{2, 128}, {8, 7}} {
				if got := run(s.workers, s.batch); !slices.Equal(got, want) {
					t.Errorf("%d workers with batches of %d give other bytes than one with 128", s.workers, s.batch)
				}
			}
		})
	}
}

// Under load every event is evaluated by one set, correlations included.
func TestAReloadUnderLoadNeitherLosesNorDoublesCounts(t *testing.T) {
	l, acks := assemble(t, settings{rules: counted("A", ""), workers: 3, batch: 5}), &tally{}
	lines := acks.lines(slices.Repeat([]string{`{"a":"evil","user":"ann"}`}, 2000)...)
	for i := 0; i < len(lines); i += 10 {
		if i%500 == 0 && i > 0 {
			next := ruleSet(t, uint64(i), counted(fmt.Sprint("A", i), ""), correlation.Options{})
			if err := l.Parse.Client().Publish(t.Context(), next); err != nil {
				t.Fatal(err)
			}
		}
		l.put(lines[i : i+10])
	}
	drain(t, l, time.Minute)
	got := l.out.Lines()
	if len(got) != 4000 {
		t.Fatalf("%d results, want a detection and a correlation per event", len(got))
	}
	for i := 0; i < len(got); i += 2 {
		if want := fmt.Sprintf(`"aggregated_value":%d,`, i/2+1); !strings.Contains(got[i], "matched_fields") || !strings.Contains(got[i+1], want) {
			t.Fatalf("event %d gave %s and %s, want a detection and %s", i/2, got[i], got[i+1], want)
		}
	}
	acks.want(t, all)
}

func TestWhatBecomesOfMatchesThatFeedCorrelations(t *testing.T) {
	const at100 = `{"a":"evil","user":"ann","timestamp":100}`
	for _, tc := range []struct {
		name    string
		rules   string // counted("A", "") unless set
		plan    correlation.Options
		timed   bool
		lines   []string
		out     []string // parts, one per result
		metrics map[string]float64
	}{
		{
			name: "they leave, and what fires follows", lines: []string{at100}, out: []string{`"A"`, `"aggregated_value":1`},
			metrics: map[string]float64{
				"detection_matches_total": 1, "correlation_matches_total": 1, "correlation_state_entries": 1,
				"correlation_matches_by_rule_total{rule_title=Count,level=low,correlation_type=event_count}": 1,
			},
		},
		{
			name: "without detections they are withheld", plan: correlation.Options{NoDetections: true},
			lines: []string{at100, `{"a":"fine"}`}, out: []string{`"aggregated_value":1`},
			metrics: map[string]float64{"detection_matches_total": 0, "correlation_matches_total": 1, "events_processed_total": 2},
		},
		{
			name: "unless a correlation asks for them", rules: counted("A", ", generate: true"), plan: correlation.Options{NoDetections: true},
			lines: []string{at100}, out: []string{`"A"`, `"aggregated_value":1`},
		},
		{
			name: "other rules leave in any case", rules: ruleNamed("Y", "evil") + counted("A", "") + ruleNamed("Z", "e*"), plan: correlation.Options{NoDetections: true},
			lines: []string{at100}, out: []string{`"Y"`, `"Z"`, `"aggregated_value":1`},
		},
		{
			name: "without a time the arrival counts", lines: slices.Repeat([]string{`{"a":"evil"}`}, 2),
			plan: correlation.Options{EventMode: correlation.EventsRefs}, out: []string{`"A"`, `"event_refs":[{"timestamp":946684800}]`, `"A"`, `"event_refs":[{"timestamp":946684800},{"timestamp":946684800}]`},
		},
		{
			name: "unless such events are to be skipped", timed: true, plan: correlation.Options{NoDetections: true},
			lines: []string{`{"a":"evil"}`, at100}, out: []string{`"aggregated_value":1`},
			metrics: map[string]float64{
				"detection_matches_total": 0, "correlation_state_entries": 1, "correlation_timestamp_fallback_total{mode=skip}": 1,
			},
		},
		{
			name: "included events have the form in which groups keep them", plan: correlation.Options{EventMode: correlation.EventsFull, NoDetections: true},
			lines: []string{`{"a": "evil", "timestamp": "x"}`, `evil words, "in" a line`}, out: []string{
				`"events":[{"a":"evil","timestamp":"x"}]`,
				`"events":[{"a":"evil","timestamp":"x"},{"_raw":"evil words, \"in\" a line"}]`,
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				acks := &tally{}
				l := assemble(t, settings{rules: cmp.Or(tc.rules, counted("A", "")), plan: tc.plan, timed: tc.timed, workers: 2})
				l.put(acks.lines(tc.lines...))
				synctest.Wait()
				got := l.out.Lines()
				ok := len(got) == len(tc.out)
				for i := 0; ok && i < len(got); i++ {
					ok = strings.Contains(got[i], tc.out[i])
				}
				if !ok {
					t.Errorf("got\n%s\nwant results with %q", strings.Join(got, ""), tc.out)
				}
				l.wantMetrics(tc.metrics)
				acks.want(t, all)
			})
		})
	}
}

func TestABarrierTakesTheStateOfCorrelationsAlong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		acks := &tally{}
		l := assemble(t, settings{rules: counted("A", ""), workers: 2})
		l.put(acks.lines(slices.Repeat([]string{`{"a":"evil"}`}, 300)...))
		b := graph.NewBarrier(1)
		if err := l.Parse.Client().Cut(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if b.Exports()[graph.StageCorrelate] == nil {
			t.Error("the barrier came without the state of correlations")
		}
		if got := l.out.Lines(); !strings.Contains(got[len(got)-1], `"aggregated_value":300,`) {
			t.Errorf("the last result is %s", got[len(got)-1])
		}
		acks.want(t, all)
	})
}
