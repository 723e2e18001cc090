package actors_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// worked is the completion of a job of the workers stage.
type worked struct {
	it *item
	p  error
}

// workersStage gives each element to a worker and sends them on in order.
type workersStage struct {
	pool *mailbox.Pool
	next *mailbox.Outbox[*item]
}

func (a *workersStage) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *mailbox.Run[*item]:
		it := m.Take()[0]
		a.pool.Start(1, func(_ context.Context, slot int) any {
			call(it.apply)
			p := a.pool.Isolate(slot).Step(func() { call(it.step) }, nil)
			return &worked{it, p}
		})
		call(it.after)
	case *worked:
		call(m.it.undo)
		if m.p == nil {
			a.next.Push(m.it)
		}
	}
}

func spawnWorkers(t *testing.T, s *actors.System, name graph.Stage, n int, next mailbox.Outlet[*item]) *counterStage {
	t.Helper()
	cell := mailbox.NewCell(string(name), actors.KindStage, mailbox.CellOptions{})
	lane := mailbox.NewLane(cell, mailbox.LaneOptions[*item]{Capacity: 1024})
	out := mailbox.NewOutbox(cell, next)
	pool := mailbox.NewOrderedPool(cell, n)
	client, err := s.Spawn(cell, func(actors.RestartState) actor.Actor {
		return &workersStage{pool: pool, next: out}
	})
	if err != nil {
		t.Fatal(err)
	}
	return &counterStage{Client: client, lane: lane, cell: cell}
}

func TestWorkersFinishInAnyOrderAndTheOrderIsRestored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{})
		out := actorstest.NewRecorder[*item]()
		stage := spawnWorkers(t, s, graph.StageEvaluate, 3, out)
		list := items(1, 60)
		for i, it := range list {
			it.step = func() { time.Sleep(time.Duration(7*i%11) * time.Second) }
		}
		stage.lane.TryPut(list)
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if r, _ := s.Record("evaluate"); r.BusyRatio != 1 || r.Workers != 3 {
			t.Errorf("got busy ratio %g of %d workers, want 1 of 3", r.BusyRatio, r.Workers)
		}
		time.Sleep(time.Hour)
		wantIDs(t, "passed", ids(out.All()), numbers(1, 60))
		if r, _ := s.Record("evaluate"); r.EventsProcessed != 60 || r.BatchesProcessed != 60 || r.BusyRatio != 0 {
			t.Errorf("got %d events, %d batches, busy ratio %g, want 60, 60, 0", r.EventsProcessed, r.BatchesProcessed, r.BusyRatio)
		}
	})
}

func TestABrokenWorkerRestartsItsActorAndItsJobIsRunAgain(t *testing.T) {
	for _, tc := range []struct {
		name  string
		spoil func(it *item)
		want  []int
		times int64
	}{
		{"outside the event's own step", func(it *item) { it.apply = panics(1, "boom") }, numbers(1, 9), 1},
		{"in the event's own step, once", func(it *item) { it.step = panics(1, "boom") }, numbers(1, 9), 0},
		{"in the event's own step, always", func(it *item) { it.step = panics(always, "boom") }, []int{1, 2, 3, 4, 6, 7, 8, 9}, 0},
		{"in the actor, when it receives the outcome", func(it *item) { it.undo = panics(1, "boom") }, numbers(1, 9), 1},
		{"in the actor, after the job began", func(it *item) { it.after = panics(1, "boom") }, numbers(1, 9), 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := actorstest.System(t, actors.Options{MaxRestarts: 10})
				out := actorstest.NewRecorder[*item]()
				stage := spawnWorkers(t, s, graph.StageEvaluate, 2, out)
				list := items(1, 9)
				tc.spoil(list[4])
				stage.lane.TryPut(list)
				time.Sleep(time.Minute)
				wantIDs(t, "passed", ids(out.All()), tc.want)
				if r, _ := s.Record("evaluate"); r.Restarts != tc.times || r.State != actors.StateRunning {
					t.Errorf("got %d restarts, %s, want %d, running", r.Restarts, r.State, tc.times)
				}
			})
		})
	}
}
