package actors_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// spawnFunc starts an actor that is one function.
func spawnFunc(t *testing.T, s *actors.System, cell *mailbox.Cell, receive func(actor.Context)) *mailbox.Client {
	t.Helper()
	client, err := s.Spawn(cell, func(actors.RestartState) actor.Actor { return actor.ReceiveFunc(receive) })
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// urgent is a request that comes in even when the control lane is full.
type urgent struct{}

func (urgent) Lifecycle() {}

func TestALifeCycleRequestIsNotSubjectToTheCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{})
		client := spawnFunc(t, s, mailbox.NewCell("parse", actors.KindStage, mailbox.CellOptions{}), func(c actor.Context) {
			switch m := c.Message().(type) {
			case stall:
				time.Sleep(m.d)
			case urgent:
				c.Respond(marked{})
			}
		})
		for range 65 {
			go mailbox.Ask[marked](t.Context(), client, stall{time.Second})
			synctest.Wait()
		}
		if _, err := mailbox.Ask[marked](t.Context(), client, stall{}); !errors.Is(err, mailbox.ErrFull) {
			t.Fatalf("a request: got %v, want %v", err, mailbox.ErrFull)
		}
		begin := time.Now()
		if _, err := mailbox.Ask[marked](t.Context(), client, urgent{}); err != nil || time.Since(begin) > time.Second {
			t.Errorf("a barrier: got %v after %v, want it next", err, time.Since(begin))
		}
	})
}

func TestWhatTheLastTickPushesIsDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{})
		sink := actorstest.NewRecorder[int]()
		sink.SetAvailable(1)
		cell := mailbox.NewCell("alert", actors.KindStage, mailbox.CellOptions{})
		out := mailbox.NewOutbox(cell, sink)
		spawnFunc(t, s, cell, func(c actor.Context) {
			if _, ok := c.Message().(mailbox.Drain); ok {
				for i := range 5 {
					out.Push(i)
				}
				c.Respond("the state")
			}
		})
		time.AfterFunc(10*time.Second, func() { sink.SetAvailable(-1) })
		ends := s.Drain(t.Context())
		if len(ends) != 1 || ends[0].Export != "the state" || ends[0].Expired {
			t.Errorf("got %+v, want the state as the final export, in time", ends)
		}
		if got := len(sink.All()); got != 5 {
			t.Errorf("delivered: got %d, want 5", got)
		}
	})
}

func TestAPanicInTheLastTickDoesNotKeepTheDrainFromEnding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{MaxRestarts: 10})
		spawnFunc(t, s, mailbox.NewCell("alert", actors.KindStage, mailbox.CellOptions{}), func(c actor.Context) {
			if _, ok := c.Message().(mailbox.Drain); ok {
				panic("boom")
			}
		})
		ends := s.Drain(t.Context())
		if ends[0].Expired || ends[0].Export != nil {
			t.Errorf("got %+v, want no export, in time", ends[0])
		}
	})
}

func TestAnActorThatHasEndedIsNotLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{})
		spawnFunc(t, s, mailbox.NewCell("reload", actors.KindControl, mailbox.CellOptions{}), func(actor.Context) {})
		if d, err := s.DrainActor(t.Context(), "reload"); err != nil || d.Expired {
			t.Fatalf("got %+v and %v, want an end in time", d, err)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		for range 50 { // a select takes either
			if d, err := s.DrainActor(over, "reload"); err != nil || d.Expired {
				t.Fatalf("got %+v and %v, want an end in time", d, err)
			}
		}
	})
}

func TestAtTheDeadlineASinkPutsAsideWhatItHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{})
		deadLetters := actorstest.NewRecorder[int]()
		dlq := mailbox.NewCell(actors.NameDLQ, actors.KindSink, mailbox.CellOptions{})
		lane := mailbox.NewLane(dlq, mailbox.LaneOptions[int]{Capacity: 10, Join: 10})
		written := mailbox.NewOutbox(dlq, deadLetters)
		spawnFunc(t, s, dlq, func(c actor.Context) {
			if m, ok := c.Message().(*mailbox.Run[int]); ok {
				for v := range m.All() {
					written.Push(v)
				}
			}
		})
		cell := mailbox.NewCell("sink:webhook", actors.KindSink, mailbox.CellOptions{})
		queue := mailbox.NewLane(cell, mailbox.LaneOptions[int]{Capacity: 10})
		spill := mailbox.NewOutbox(cell, lane)
		pool := mailbox.NewPool(cell, 1)
		spawnFunc(t, s, cell, func(c actor.Context) {
			switch m := c.Message().(type) {
			case *mailbox.Run[int]:
				held := m.Take()[0]
				pool.Start(1, func(ctx context.Context, _ int) any {
					<-ctx.Done() // the other side does not answer
					return held
				})
			case int:
				spill.Push(m)
			case mailbox.Drain:
				if m.Expired {
					for _, v := range queue.Remaining() {
						spill.Push(v)
					}
				}
			}
		})
		queue.TryPut([]int{1, 2, 3})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		begin := time.Now()
		ends := s.Drain(ctx)
		if got := time.Since(begin); got > 11*time.Second {
			t.Errorf("drained after: got %v, want at most a second past the deadline", got)
		}
		if got := deadLetters.All(); len(got) != 3 {
			t.Errorf("put aside: got %v, want 3", got)
		}
		if !ends[0].Expired || ends[0].Lost != 0 || ends[1].Expired {
			t.Errorf("got %+v, want the sink expired with nothing lost, and the dead letter queue in time", ends)
		}
	})
}

func TestAtTheDeadlineASinkStillTakesWhatIsAboutToCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{})
		cell := mailbox.NewCell("sink:file", actors.KindSink, mailbox.CellOptions{})
		queue := mailbox.NewLane(cell, mailbox.LaneOptions[int]{Capacity: 10})
		var got []int
		spawnFunc(t, s, cell, func(c actor.Context) {
			if m, ok := c.Message().(*mailbox.Run[int]); ok {
				got = append(got, m.Take()...)
			}
		})
		stage := mailbox.NewCell("dispatch", actors.KindStage, mailbox.CellOptions{})
		full := actorstest.NewRecorder[int]()
		full.SetAvailable(0)
		stuck := mailbox.NewOutbox(stage, full)
		spawnFunc(t, s, stage, func(c actor.Context) {
			switch m := c.Message().(type) {
			case *actor.Started:
				stuck.Push(1) // it has something to do until the deadline
			case mailbox.Drain:
				if m.Expired {
					time.Sleep(10 * time.Millisecond) // the rest of a step
					queue.TryPut([]int{1})
				}
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		s.Drain(ctx)
		if len(got) != 1 {
			t.Errorf("the sink got %v, want the last item", got)
		}
	})
}

func TestADrainedActorCanBeAskedAboutOnlyFromOutside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{})
		stage := spawnCounter(t, s, nil, counterOptions{name: graph.StageRisk})
		if _, err := s.DrainActor(t.Context(), "risk"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.DrainActor(t.Context(), "nope"); !errors.Is(err, actors.ErrNoActor) {
			t.Errorf("drain an unknown actor: got %v, want %v", err, actors.ErrNoActor)
		}
		if r, err := s.Record("risk"); err != nil || r.State != actors.StateStopped {
			t.Errorf("record: got %s, %v, want stopped", r.State, err)
		}
		if got := s.Detail(t.Context(), "risk"); got != nil {
			t.Errorf("detail: got %v, want nil", got)
		}
		if _, err := mailbox.Ask[tally](t.Context(), stage.Client, readTally{}); !errors.Is(err, mailbox.ErrStopped) {
			t.Errorf("ask: got %v, want %v", err, mailbox.ErrStopped)
		}
	})
}
