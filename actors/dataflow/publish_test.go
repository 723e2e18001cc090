package dataflow_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/sluicehq/sluice/actors/evaluate"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/engine"
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
	t.Run("sets do not pile up in front of a stage that is held", func(t *testing.T) {
		for _, traffic := range []int{0, 1, 100} { // lines in front of the reloads
			synctest.Test(t, func(t *testing.T) {
				slow, acks := newStuck(), &tally{}
				l := assemble(t, settings{rules: ruleNamed("A", "evil"), buffer: 8, batch: 4, sinks: []sinkSettings{{transport: slow}}})
				lines := acks.lines(slices.Repeat([]string{`{"a":"evil"}`}, traffic)...)
				done := make(chan struct{})
				go func() {
					defer close(done)
					_, _ = l.Parse.Intake("test", time.Now).Put(context.Background(), lines)
				}()
				synctest.Wait()
				const reloads = 100
				var sets []weak.Pointer[engine.Set]
				for n := range reloads {
					set := &graph.RuleSet{Generation: uint64(n + 2), Engine: compile(t, ruleNamed(fmt.Sprint("B", n), "evil"))}
					sets = append(sets, weak.Make(set.Engine))
					if err := l.Parse.Client().Publish(t.Context(), set); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
				}
				runtime.GC()
				runtime.GC() // pools let go at the second
				held := 0
				for _, set := range sets {
					if set.Value() != nil {
						held++
					}
				}
				if held > 4 {
					t.Errorf("with %d lines, %d of %d sets are held, want the newest and what a stage has in hand", traffic, held, reloads)
				}
				close(slow.open)
				<-done
				l.put((&tally{}).lines(`{"a":"evil"}`))
				synctest.Wait()
				got := titles(l.out.Lines())
				if recorded := titles(slow.Lines()); recorded[len(recorded)-1] != "B99" || len(recorded) != traffic+1 {
					t.Errorf("with %d lines, %d results, the last by %q, want %d and the newest rule (%d elsewhere)", traffic, len(recorded), recorded[len(recorded)-1], traffic+1, len(got))
				}
				if d := l.system.Detail(t.Context(), "evaluate").(evaluate.Detail); d.Generation != reloads+1 {
					t.Errorf("evaluate serves generation %d, want the newest", d.Generation)
				}
			})
		}
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
