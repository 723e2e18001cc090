package actors_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/graph/step/steptest"
)

// windows is the state of a stage that works through batches event by event.
type windows struct {
	set   *graph.RuleSet
	lines []string
}

type readWindows struct{}

// stepper is a stage over batches: one event per step, the rule set by the stamp.
type stepper struct {
	cell  *mailbox.Cell
	next  *mailbox.Outbox[string]
	state *windows
	step  func(line string)
}

func (a *stepper) State() any { return a.state }

func (a *stepper) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *mailbox.Run[*graph.Batch]:
		for b := range m.All() {
			if a.state.set != b.Set {
				a.state.set = b.Set
			}
			for i := m.Pos(); i < len(b.Lines); i++ {
				line := string(b.Lines[i].Raw)
				a.step(line)
				a.state.lines = append(a.state.lines, line)
				a.next.Push(line)
				m.SetPos(i + 1)
				if m.Urgent() && i+1 < len(b.Lines) {
					return
				}
			}
		}
	case readWindows:
		c.Respond(windows{set: a.state.set, lines: slices.Clone(a.state.lines)})
	}
}

func spawnStepper(t *testing.T, s *actors.System, next mailbox.Outlet[string], step func(string)) (*mailbox.Client, *mailbox.Lane[*graph.Batch]) {
	t.Helper()
	cell := mailbox.NewCell("correlate", actors.KindStage, mailbox.CellOptions{})
	lane := mailbox.NewLane(cell, mailbox.LaneOptions[*graph.Batch]{Capacity: 1024, Size: graph.SizeOfBatch})
	out := mailbox.NewOutbox(cell, next)
	client, err := s.Spawn(cell, func(h actors.RestartState) actor.Actor {
		state := &windows{}
		if h.State != nil {
			state = h.State.(*windows)
		}
		return &stepper{cell: cell, next: out, state: state, step: step}
	})
	if err != nil {
		t.Fatal(err)
	}
	return client, lane
}

func batchOf(set *graph.RuleSet, from, to int) *graph.Batch {
	b := &graph.Batch{Set: set}
	for i := from; i <= to; i++ {
		b.Lines = append(b.Lines, graph.Line{Raw: fmt.Appendf(nil, "%d", i)})
	}
	return b
}

func TestABatchIsResumedAtTheEventThatBrokeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{MaxRestarts: 10})
		out := actorstest.NewRecorder[string]()
		boom := panics(3, "boom")
		client, lane := spawnStepper(t, s, out, func(line string) {
			if line == "7" {
				boom()
			}
		})
		lane.TryPut([]*graph.Batch{batchOf(nil, 1, 10), batchOf(nil, 11, 12)})
		time.Sleep(time.Minute)
		want := []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"}
		if got := out.All(); !slices.Equal(got, want) {
			t.Errorf("passed: got %v, want %v", got, want)
		}
		state, err := mailbox.Ask[windows](t.Context(), client, readWindows{})
		if err != nil || !slices.Equal(state.lines, want) {
			t.Errorf("state: got %v, %v, want %v", state.lines, err, want)
		}
		if r, _ := s.Record("correlate"); r.Restarts != 3 || r.EventsProcessed != 12 || r.BatchesProcessed != 2 {
			t.Errorf("got %d restarts, %d events, %d batches, want 3, 12, 2", r.Restarts, r.EventsProcessed, r.BatchesProcessed)
		}
	})
}

func TestAQuestionInterruptsABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{})
		out := actorstest.NewRecorder[string]()
		client, lane := spawnStepper(t, s, out, func(string) { time.Sleep(time.Second) })
		lane.TryPut([]*graph.Batch{batchOf(nil, 1, 500)})
		time.Sleep(3500 * time.Millisecond)
		state, err := mailbox.Ask[windows](t.Context(), client, readWindows{})
		if err != nil || len(state.lines) != 4 {
			t.Errorf("answered after: got %d events, %v, want 4", len(state.lines), err)
		}
		if got := len(out.All()); got != 4 {
			t.Errorf("sent before the answer: got %d, want what was finished, 4", got)
		}
		time.Sleep(time.Hour)
		if got := len(out.All()); got != 500 {
			t.Errorf("passed: got %d, want 500", got)
		}
	})
}

func TestAnEmptyBatchCarriesARuleSetThroughAnIdleGraph(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{})
		client, lane := spawnStepper(t, s, nil, func(string) {})
		a, b := &graph.RuleSet{Generation: 1}, &graph.RuleSet{Generation: 2}
		lane.TryPut([]*graph.Batch{batchOf(a, 1, 3), {Set: b}})
		synctest.Wait()
		state, err := mailbox.Ask[windows](t.Context(), client, readWindows{})
		if err != nil || state.set != b || len(state.lines) != 3 {
			t.Errorf("got set %+v with %d events, %v, want the new set with the state carried over", state.set, len(state.lines), err)
		}
	})
}

func TestALingeringLaneWaitsForARunToFill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{})
		var runs []int
		cell := mailbox.NewCell("sink:otlp", actors.KindSink, mailbox.CellOptions{})
		lane := mailbox.NewLane(cell, mailbox.LaneOptions[int]{Capacity: 100, Join: 10, Linger: time.Second})
		_, err := s.Spawn(cell, func(actors.RestartState) actor.Actor {
			return actor.ReceiveFunc(func(c actor.Context) {
				if m, ok := c.Message().(*mailbox.Run[int]); ok {
					runs = append(runs, len(m.Take()))
				}
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{3, 4, 3, 10, 25, 2} { // one put every 400 ms
			lane.TryPut(make([]int, n))
			time.Sleep(400 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []int{10, 10, 10, 10, 7}; !slices.Equal(runs, want) {
			t.Errorf("runs: got %v, want %v", runs, want)
		}
	})
}

func TestAnActorIsolatesThePanicsOfEvents(t *testing.T) {
	steptest.Isolate(t, func() step.Isolate {
		return mailbox.NewCell("evaluate", actors.KindStage, mailbox.CellOptions{}).Isolate()
	})
}

func TestAnIsolatedStepDoesNotAllocate(t *testing.T) {
	cell := mailbox.NewCell("alert", actors.KindStage, mailbox.CellOptions{})
	g, n := cell.Isolate(), 0
	for _, tc := range []struct {
		name string
		run  func()
	}{
		{"Step", func() { g.Step(func() { n++ }, func() { n-- }) }},
		{"Apply", func() { g.Apply(func() { n++ }) }},
		{"Each", func() { g.Each(0, 100, func(int) { n++ }, nil, nil) }},
	} {
		if got := testing.AllocsPerRun(100, tc.run); got != 0 {
			t.Errorf("%s: got %g allocations, want 0", tc.name, got)
		}
	}
}

// passer is an actor that has nothing to do with what passes.
type passer struct{ out *mailbox.Outbox[int] }

func (p passer) Receive(c actor.Context) {
	if run, ok := c.Message().(*mailbox.Run[int]); ok {
		run.Pass(p.out)
	}
}

func TestWhatPassesKeepsItsOrderAndIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{})
		out := actorstest.NewRecorder[int]()
		cell := mailbox.NewCell("enrich", actors.KindStage, mailbox.CellOptions{})
		lane := mailbox.NewLane(cell, mailbox.LaneOptions[int]{Capacity: 1000, Join: 64})
		box := mailbox.NewOutbox[int](cell, out)
		if _, err := s.Spawn(cell, func(actors.RestartState) actor.Actor { return passer{box} }); err != nil {
			t.Fatal(err)
		}
		out.SetAvailable(100) // the successor fills up on the way
		var want []int
		for i := range 1000 {
			want = append(want, i)
		}
		lane.TryPut(want)
		synctest.Wait()
		if got := len(out.All()); got != 100 {
			t.Errorf("passed into room for 100: %d", got)
		}
		out.SetAvailable(-1)
		synctest.Wait()
		if got := out.All(); !slices.Equal(got, want) {
			t.Errorf("passed %d elements, want all %d in order", len(got), len(want))
		}
		if r, _ := s.Record("enrich"); r.EventsProcessed != 1000 || r.BatchesProcessed != 16 {
			t.Errorf("got %d events in %d batches, want 1000 in 16", r.EventsProcessed, r.BatchesProcessed)
		}
	})
}
