package evaluate

import (
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const rule = "title: A\nlogsource: {product: x}\ndetection: {s: {a: evil}, condition: s}\n"

func ruleSet(t *testing.T, generation uint64) *graph.RuleSet {
	t.Helper()
	set, err := engine.Compile(load.FromBytes("r.yml", []byte(rule), load.Options{}).Rules, engine.Options{Routing: engine.DefaultRouting()})
	if err != nil {
		t.Fatal(err)
	}
	return &graph.RuleSet{Generation: generation, Engine: set, Rejected: 2}
}

// batch is a decoded batch with one event per line.
func batch(t *testing.T, seq uint64, set *graph.RuleSet, lines ...string) *graph.Batch {
	t.Helper()
	b := &graph.Batch{Seq: seq, Set: set, Events: new(engine.Events)}
	w := set.Engine.NewWorker()
	for i, line := range lines {
		if err := w.DecodeJSON(b.Events, []byte(line)); err != nil {
			t.Fatal(err)
		}
		b.Lines = append(b.Lines, graph.Line{Raw: []byte(line)})
		b.Outcomes = append(b.Outcomes, graph.LineOutcome{Events: graph.Span{From: uint32(i), To: uint32(i + 1)}})
	}
	return b
}

func spawn(t *testing.T, o Options) (*Stage, *actors.System, *actorstest.Recorder[*graph.Batch], *actorstest.Recorder[graph.DeadLetter]) {
	t.Helper()
	next, deadLetters := actorstest.NewRecorder[*graph.Batch](), actorstest.NewRecorder[graph.DeadLetter]()
	o.StageOptions, o.Next = actors.StageOptions{Capacity: 1000, DeadLetters: deadLetters}, next
	o.Metrics = actorstest.Metrics(t, func(reg prometheus.Registerer) (*Metrics, error) { return NewMetrics(reg, new(atomic.Uint64)) })
	s := New(o)
	system := actorstest.System(t, actors.Options{MaxRestarts: 10})
	if _, err := system.Spawn(s.Cell(), s.Produce); err != nil {
		t.Fatal(err)
	}
	return s, system, next, deadLetters
}

func TestBatchesAreJudgedAndLeaveInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := ruleSet(t, 1)
		s, _, next, _ := spawn(t, Options{Set: set, Workers: 3})
		for seq := range uint64(40) {
			b := batch(t, seq, set, `{"a":"good"}`, `{"a":"evil"}`, `{}`)
			if seq%5 == 0 {
				b = batch(t, seq, set)
			}
			s.Lane().TryPut([]*graph.Batch{b})
		}
		synctest.Wait()
		got := next.All()
		if len(got) != 40 {
			t.Fatalf("%d batches left, want 40", len(got))
		}
		for i, b := range got {
			if b.Seq != uint64(i) {
				t.Fatalf("batch %d left as number %d", b.Seq, i)
			}
			if !b.Empty() && (b.Results.Len() != 1 || b.Outcomes[1].Results.Len() != 1 || b.Outcomes[0].Results.Len() != 0) {
				t.Errorf("batch %d: %d results, fates %v, want one of the second line", i, b.Results.Len(), b.Outcomes)
			}
		}
		if n := s.metrics.unsourced.Load(); n != 32*3 {
			t.Errorf("%d events without logsource, want %d", n, 32*3)
		}
	})
}

func TestAnEventThatPanicsTheEngineIsQuarantined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := ruleSet(t, 1)
		s, system, next, deadLetters := spawn(t, Options{Set: set, Workers: 1})
		b := batch(t, 0, set, `{"a":"evil"}`, `{"a":"evil","n":2}`, `{"a":"evil"}`)
		b.Outcomes[1].Events.To = 1000 // no such events
		s.Lane().TryPut([]*graph.Batch{b})
		synctest.Wait()
		if got := next.All()[0]; got.Results.Len() != 2 || got.Outcomes[1].Kind != graph.Quarantined || got.Outcomes[2].Results != (graph.Span{From: 1, To: 2}) {
			t.Errorf("%d results, fates %v, want those of the other two", got.Results.Len(), got.Outcomes)
		}
		if got := deadLetters.All(); len(got) != 1 || string(got[0].Original) != `{"a":"evil","n":2}` || got[0].Stage != "evaluate" {
			t.Errorf("dead letters %+v, want the line's", got)
		}
		if r, _ := system.Record("evaluate"); r.Restarts != 0 {
			t.Errorf("%d restarts, want none", r.Restarts)
		}
	})
}

func TestDetailTellsTheRuleSetOfTheNewestBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, system, _, _ := spawn(t, Options{Set: ruleSet(t, 1), Workers: 1})
		s.Lane().TryPut([]*graph.Batch{batch(t, 0, ruleSet(t, 2))})
		synctest.Wait()
		want := Detail{DetectionRules: 1, Rejected: 2, Generation: 2}
		if got := system.Detail(t.Context(), "evaluate"); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}
