package dataflow_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/graph"
)

func TestPublish(t *testing.T) {
	t.Run("on an idle daemon it counts in nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := assemble(t, settings{rules: ruleNamed("A", "evil")})
			if err := l.Parse.Client().Publish(t.Context(), &graph.RuleSet{Generation: 2, Engine: compile(t, ruleNamed("B", "evil"))}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			l.wantMetrics(map[string]float64{"batch_size": 0, "pipeline_latency_seconds": 0, "batch_phase_duration_seconds{phase=dispatch}": 0})
			l.put((&tally{}).lines(`{"a":"evil"}`))
			synctest.Wait()
			if got := titles(l.out.Lines()); !slices.Equal(got, []string{"B"}) {
				t.Errorf("got %q, want the new set's rule", got)
			}
		})
	})
	t.Run("under load every event is evaluated by one set", func(t *testing.T) {
		l, acks := assemble(t, settings{rules: ruleNamed("A", "evil") + ruleNamed("A2", "evil"), workers: 3, batch: 5}), &tally{}
		next := &graph.RuleSet{Generation: 2, Engine: compile(t, ruleNamed("B", "evil")+ruleNamed("B2", "evil"))}
		lines := acks.lines(slices.Repeat([]string{`{"a":"evil"}`}, 2000)...)
		for i := 0; i < len(lines); i += 10 {
			if i == 1000 {
				if err := l.Parse.Client().Publish(t.Context(), next); err != nil {
					t.Fatal(err)
				}
			}
			l.put(lines[i : i+10])
		}
		drain(t, l, time.Minute)
		got := titles(l.out.Lines())
		if len(got) != 4000 {
			t.Fatalf("%d results, want two per event", len(got))
		}
		swapped := false
		for i := 0; i < len(got); i += 2 {
			pair := got[i] + got[i+1]
			swapped = swapped || pair == "BB2"
			if want := map[bool]string{false: "AA2", true: "BB2"}[swapped]; pair != want {
				t.Fatalf("event %d gave %s, want %s", i/2, pair, want)
			}
		}
		if !swapped {
			t.Error("the new set was never used")
		}
		acks.want(t, all)
	})
	t.Run("series of a rule that is gone for two reloads are deleted", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := assemble(t, settings{rules: ruleNamed("A", "evil")})
			l.put((&tally{}).lines(`{"a":"evil"}`))
			synctest.Wait()
			for n, want := range []float64{1, 1, -1} {
				if got := l.metric("detection_matches_by_rule_total", "rule_title=A"); got != want {
					t.Errorf("after %d reloads without the rule: %g, want %g", n, got, want)
				}
				if err := l.Parse.Client().Publish(t.Context(), &graph.RuleSet{Engine: compile(t, ruleNamed("B", "evil"))}); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			}
		})
	})
}

func TestABarrierPassesBehindWhatWasTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, acks := newStuck(), &tally{}
		l := assemble(t, settings{rules: ruleNamed("A", "evil"), sinks: []sinkSettings{{transport: slow}}})
		l.put(acks.lines(`{"a":"evil"}`))
		synctest.Wait()
		b := graph.NewBarrier(1)
		if err := l.Parse.Client().Cut(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		l.put(acks.lines(`{"a":"evil"}`))
		synctest.Wait()
		select {
		case <-b.Passed():
		default:
			t.Fatal("the barrier did not reach dispatch")
		}
		select {
		case <-b.Released():
			t.Error("released although the line before it has not been delivered")
		default:
		}
		close(slow.open)
		synctest.Wait()
		select {
		case <-b.Released():
		default:
			t.Error("not released although everything was delivered")
		}
	})
}
