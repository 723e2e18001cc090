package correlate

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/result"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

type rig struct {
	stage       *Stage
	system      *actors.System
	set         *graph.RuleSet
	rule        *result.Rule
	next        *actorstest.Recorder[*graph.ResultSet]
	deadLetters *actorstest.Recorder[graph.DeadLetter]
	log         actorstest.Log
	settled     []int
}

func newRig(t *testing.T) *rig {
	t.Helper()
	set, err := engine.Compile([]*ast.Rule{}, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{
		set: &graph.RuleSet{Engine: set}, rule: result.NewRule(0, &ast.Rule{Meta: ast.Meta{Title: "A"}}),
		next: actorstest.NewRecorder[*graph.ResultSet](), deadLetters: actorstest.NewRecorder[graph.DeadLetter](),
	}
	r.stage = New(Options{
		StageOptions: actors.StageOptions{Capacity: 10_000, DeadLetters: r.deadLetters},
		Set:          r.set, Next: r.next, Metrics: actorstest.Metrics(t, NewMetrics), Log: r.log.Logger(),
	})
	r.stage.metrics.rules = append(r.stage.metrics.rules, perRule{}) // of the one rule that results name
	r.system = actorstest.System(t, actors.Options{MaxRestarts: 10})
	if _, err := r.system.Spawn(r.stage.Cell(), r.stage.Produce); err != nil {
		t.Fatal(err)
	}
	return r
}

// batch has a line for each outcome; a number is of how many results.
func (r *rig) batch(seq uint64, outcomes ...any) *graph.Batch {
	b := &graph.Batch{Seq: seq, Set: r.set, Events: new(engine.Events), Results: new(result.Batch)}
	for i, o := range outcomes {
		n := len(r.settled)
		r.settled = append(r.settled, 0)
		token := graph.NewReceipt(1, func() { r.settled[n]++ }).Token(0)
		b.Lines = append(b.Lines, graph.Line{Raw: fmt.Appendf(nil, "%d.%d", seq, i), Token: token})
		f := graph.LineOutcome{}
		switch o := o.(type) {
		case graph.OutcomeKind:
			f.Kind = o
		case int:
			f.Events = graph.Span{To: 1}
			f.Results.From = uint32(b.Results.Len())
			for range o {
				b.Results.Add(r.rule)
			}
			f.Results.To = uint32(b.Results.Len())
		}
		b.Outcomes = append(b.Outcomes, f)
	}
	return b
}

func TestEveryLineGoesToExactlyOnePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		released := 0
		b := r.batch(0, 0, 2, graph.Undecodable, graph.Quarantined, graph.Filtered, 1)
		b.Release = func(*graph.Batch) { released++ }
		r.stage.Lane().TryPut([]*graph.Batch{b})
		synctest.Wait()
		var lists string
		for _, l := range r.next.All() {
			lists += fmt.Sprintf("%s:%d ", l.Raw, len(l.Results))
		}
		if lists != "0.1:2 0.5:1 " {
			t.Errorf("lists %q, want the lines 1 and 5 with 2 and 1 results", lists)
		}
		if got := r.deadLetters.All(); len(got) != 1 || string(got[0].Original) != "0.2" || got[0].Error != "parse error" || got[0].Stage != "parse" {
			t.Errorf("dead letters %+v, want line 2's", got)
		}
		if got := fmt.Sprint(r.settled); got != "[1 0 0 0 0 0]" {
			t.Errorf("settled %s, want the line without result alone: others settle theirs", got)
		}
		if released != 1 {
			t.Errorf("the batch was given back %d times, want once", released)
		}
	})
}

func TestAFullSuccessorNeitherLosesNorRepeatsALine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.next.SetAvailable(0)
		outcomes := make([]any, 1000)
		for i := range outcomes {
			outcomes[i] = 1
		}
		r.stage.Lane().TryPut([]*graph.Batch{r.batch(0, outcomes...), r.batch(1, 1)})
		synctest.Wait()
		if _, ok := r.system.Detail(t.Context(), "correlate").(Detail); !ok {
			t.Error("the stage does not answer while it waits")
		}
		for range 11 {
			r.next.SetAvailable(100)
			synctest.Wait()
		}
		got := r.next.All()
		if len(got) != 1001 {
			t.Fatalf("%d lists, want 1001", len(got))
		}
		for i, l := range got[:1000] {
			if want := fmt.Sprintf("0.%d", i); string(l.Raw) != want {
				t.Fatalf("list %d is of line %s, want %s", i, l.Raw, want)
			}
		}
		if n := r.log.Matching("batch out of order"); len(n) != 0 {
			t.Errorf("logged %q", n)
		}
	})
}

func TestTheLatencyOfABatchEndsWithItsLastResult(t *testing.T) {
	for _, tc := range []struct {
		name    string
		wait    time.Duration // for room
		results int
	}{
		{"a batch without results waits for nobody", 0, 0},
		{"a batch whose results find room", 0, 2},
		{"a batch whose results wait for room", 3 * time.Second, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				b := r.batch(0, tc.results)
				b.Timing.Taken = time.Now().Add(-time.Second)
				if tc.wait > 0 {
					r.next.SetAvailable(0)
				}
				r.stage.Lane().TryPut([]*graph.Batch{b})
				synctest.Wait()
				time.Sleep(tc.wait)
				r.next.SetAvailable(100)
				synctest.Wait()
				var m dto.Metric
				if err := r.stage.metrics.latency.Write(&m); err != nil {
					t.Fatal(err)
				}
				want := (time.Second + tc.wait).Seconds()
				if h := m.GetHistogram(); h.GetSampleCount() != 1 || h.GetSampleSum() != want {
					t.Errorf("%d samples of %v s in all, want one of %v s", h.GetSampleCount(), h.GetSampleSum(), want)
				}
			})
		})
	}
}

func TestABarrierFollowsTheListsBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		empty := r.batch(1)
		empty.Barrier = graph.NewBarrier(7)
		r.stage.Lane().TryPut([]*graph.Batch{r.batch(0, 1), empty, r.batch(2, 1)})
		synctest.Wait()
		got := r.next.All()
		if len(got) != 3 || got[0].Barrier != nil || got[1].Barrier != empty.Barrier || got[2].Barrier != nil {
			t.Errorf("%d lists, want a barrier between two", len(got))
		}
	})
}
