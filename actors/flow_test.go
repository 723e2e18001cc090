package actors_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// drainGrace is how long an actor may take after the deadline of a drain.
const drainGrace = time.Second

func TestQuestionsOvertakeWaitingData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{})
		stage := spawnCounter(t, s, nil, counterOptions{name: graph.StageAlert})
		list := items(1, 1024)
		for _, it := range list {
			it.step = func() { time.Sleep(time.Millisecond) }
		}
		stage.lane.TryPut(list)
		synctest.Wait()
		time.Sleep(100*time.Millisecond + time.Microsecond) // within a step
		var wg sync.WaitGroup
		seen := make([]int, 20)
		for i := range seen {
			wg.Go(func() {
				state, err := mailbox.Ask[tally](t.Context(), stage.Client, readTally{})
				if err != nil {
					t.Errorf("ask: got %v, want an answer", err)
				}
				seen[i] = len(state.seen)
			})
		}
		wg.Wait()
		if got, first := slices.Max(seen), slices.Min(seen); got > first+2 {
			t.Errorf("all answered after: got %d further lists, want at most 2", got-first)
		}
	})
}

func TestAFloodOfQuestionsDoesNotStopData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{})
		stage := spawnCounter(t, s, nil, counterOptions{name: graph.StageAlert})
		go mailbox.Ask[marked](t.Context(), stage.Client, stall{time.Second})
		synctest.Wait()
		stage.lane.TryPut(items(1, 3))
		positions := make([]int, 60)
		var wg sync.WaitGroup
		for i := range positions {
			wg.Go(func() {
				state, _ := mailbox.Ask[tally](t.Context(), stage.Client, readTally{})
				positions[i] = len(state.seen)
			})
		}
		wg.Wait()
		slices.Sort(positions)
		for _, tc := range []struct{ question, events int }{{15, 0}, {16, 1}, {31, 1}, {32, 2}, {48, 3}} {
			// One of the first sixteen in the row is the stalling request.
			if got := positions[max(0, tc.question-1)]; got > tc.events {
				t.Errorf("question %d: got %d events before it, want at most %d", tc.question, got, tc.events)
			}
		}
		if got := positions[59]; got != 3 {
			t.Errorf("last question: got %d events before it, want 3", got)
		}
	})
}

func TestAFullControlLaneRefusesAndLateRequestsAreNotApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{})
		stage := spawnCounter(t, s, nil, counterOptions{name: graph.StageAlert})
		go mailbox.Ask[marked](t.Context(), stage.Client, stall{10 * time.Second})
		synctest.Wait()
		errs := make(chan error, 64)
		for i := range 64 {
			go func() {
				_, err := mailbox.Ask[marked](t.Context(), stage.Client, mark{fmt.Sprint(i)})
				errs <- err
			}()
		}
		synctest.Wait()
		begin := time.Now()
		_, err := mailbox.Ask[marked](t.Context(), stage.Client, mark{"one too many"})
		var refusal *mailbox.Refusal
		if !errors.As(err, &refusal) || !errors.Is(err, mailbox.ErrFull) || time.Since(begin) != 0 {
			t.Fatalf("the 65th: got %v after %v, want %v at once", err, time.Since(begin), mailbox.ErrFull)
		}
		if err.Error() != "control mailbox of 'alert' is full" {
			t.Errorf("got %q, want that the control mailbox of 'alert' is full", err)
		}
		for range 64 {
			if err := <-errs; !errors.Is(err, mailbox.ErrTimeout) {
				t.Errorf("a waiting request: got %v, want %v", err, mailbox.ErrTimeout)
			}
		}
		if got := time.Since(begin); got != mailbox.AskTimeout {
			t.Errorf("refused after: got %v, want %v", got, mailbox.AskTimeout)
		}
		time.Sleep(10 * time.Second)
		state, err := mailbox.Ask[tally](t.Context(), stage.Client, readTally{})
		if err != nil || len(state.marks) != 0 {
			t.Errorf("applied later: got %v, %v, want none", state.marks, err)
		}
	})
}

func TestAStuckSinkHoldsEveryStageAndNoneIsDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{})
		sink := actorstest.NewRecorder[*item]()
		sink.SetAvailable(0)
		stages := chain(t, s, sink, 2, graph.Stages()...)
		const n = 100
		done := make(chan error, 1)
		go func() {
			_, err := stages[0].lane.Put(t.Context(), items(1, n))
			done <- err
		}()
		time.Sleep(5 * time.Minute)
		before := s.Records()
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		for i, r := range s.Records() {
			if r.Mailbox.Depth < 2 {
				t.Errorf("%s: got depth %d, want a full lane", r.Name, r.Mailbox.Depth)
			}
			if got := r.Mailbox.BlockedSecondsTotal - before[i].Mailbox.BlockedSecondsTotal; got != 300 {
				t.Errorf("%s: got %g blocked seconds in five minutes, want 300", r.Name, got)
			}
			if r.BusyRatio != 0 {
				t.Errorf("%s: got busy ratio %g, want 0: waiting is not busy", r.Name, r.BusyRatio)
			}
		}
		begin := time.Now()
		for _, stage := range stages {
			if _, err := mailbox.Ask[marked](t.Context(), stage.Client, mark{"silence"}); err != nil {
				t.Errorf("ask %s: got %v, want an answer", stage.Name(), err)
			}
		}
		if got := time.Since(begin); got > 0 {
			t.Errorf("answers took %v, want none of it to wait", got)
		}
		sink.SetAvailable(-1)
		synctest.Wait()
		if len(done) != 1 {
			t.Fatal("the source still waits after the sink recovered")
		}
		wantIDs(t, "delivered", ids(sink.All()), numbers(1, n))
	})
}

func TestADrainStopsTheStagesInGraphOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{})
		sink := actorstest.NewRecorder[*item]()
		stages := chain(t, s, sink, 300, graph.Stages()...)
		list := items(1, 300)
		for _, it := range list {
			it.step = func() { time.Sleep(time.Millisecond) }
		}
		stages[0].lane.TryPut(list)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		done := make(chan []actors.Drained)
		go func() { done <- s.Drain(ctx) }()
		var order []string
		var ends []actors.Drained
		for ends == nil {
			select {
			case ends = <-done:
			case <-time.After(time.Millisecond):
			}
			for _, r := range s.Records() {
				if r.State == actors.StateStopped && !slices.Contains(order, r.Name) {
					order = append(order, r.Name)
				}
			}
		}
		wantIDs(t, "delivered", ids(sink.All()), numbers(1, 300))
		var want []string
		for i, stage := range graph.Stages() {
			want = append(want, string(stage))
			if e := ends[i].Export.(tally); len(e.seen) != 300 || ends[i].Expired || ends[i].Lost != 0 {
				t.Errorf("%s: got %d events in its final export, expired %t, lost %d, want 300 and nothing lost",
					stage, len(e.seen), ends[i].Expired, ends[i].Lost)
			}
		}
		if !slices.Equal(order, want) {
			t.Errorf("stopped in the order %v, want %v", order, want)
		}
		_, err := mailbox.Ask[tally](t.Context(), stages[6].Client, readTally{})
		if !errors.Is(err, mailbox.ErrStopped) || err.Error() != "shutting down" {
			t.Errorf("ask a stopped actor: got %v, want shutting down", err)
		}
		if _, err := stages[0].lane.Put(t.Context(), items(1, 1)); !errors.Is(err, mailbox.ErrStopped) {
			t.Errorf("put into a stopped stage: got %v, want %v", err, mailbox.ErrStopped)
		}
	})
}

func TestAHungWorkerDoesNotKeepTheDrainFromEnding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{})
		hung := spawnWorkers(t, s, graph.StageEnrich, 1, actorstest.NewRecorder[*item]())
		release := make(chan struct{})
		list := items(1, 3)
		list[0].step = func() { <-release }
		receipt := graph.NewReceipt(3, func() {})
		for i := range list {
			list[i].token = receipt.Token(i)
		}
		hung.lane.TryPut(list)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		begin := time.Now()
		ends := s.Drain(ctx)
		if got := time.Since(begin); got < 30*time.Second || got > 31*time.Second {
			t.Errorf("drained after: got %v, want the deadline and at most a second", got)
		}
		if !ends[0].Expired || ends[0].Lost != 2 || receipt.Open() != 3 {
			t.Errorf("got expired %t, lost %d, %d open, want true, 2 in the lane, 3 not acknowledged",
				ends[0].Expired, ends[0].Lost, receipt.Open())
		}
		close(release)
	})
}

func TestASuspendedStageDoesNotKeepTheOthersFromDraining(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{MaxRestarts: 2})
		sink := actorstest.NewRecorder[*item]()
		stages := chain(t, s, sink, 10, graph.StageParse, graph.StageCorrelate, graph.StageAlert)
		list := items(1, 100)
		list[49].after = func() { panic("before it is suspended") }
		list[50].apply = func() { panic("always") }
		receipt := graph.NewReceipt(100, func() {})
		for i := range list {
			list[i].token = receipt.Token(i)
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go stages[0].lane.Put(ctx, list)
		time.Sleep(time.Minute)
		if got := s.Suspended(); !slices.Equal(got, []string{"parse"}) && !slices.Equal(got, []string{"correlate"}) {
			t.Fatalf("suspended: got %v, want the stage that panicked", got)
		}
		drain, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		begin := time.Now()
		s.Drain(drain)
		if got := time.Since(begin); got > drainGrace {
			t.Errorf("drained after: got %v, want at most %v", got, drainGrace)
		}
		wantIDs(t, "delivered", ids(sink.All()), numbers(1, 50))
	})
}

func TestABarrierCutsTheStreamBetweenTwoEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{})
		end := actorstest.NewRecorder[*item]()
		end.SetAvailable(0)
		stages := chain(t, s, end, 8, graph.Stages()...)
		epoch := graph.NewEpoch(nil)
		barrier := graph.NewBarrier(1)
		receipt := graph.NewReceipt(80, func() {})
		list := items(1, 80)
		for i := range 50 {
			list[i].token = receipt.Token(i).In(epoch)
		}
		next := barrier.Enter(epoch)
		for i := 50; i < 80; i++ {
			list[i].token = receipt.Token(i).In(next)
		}
		list = slices.Insert(list, 50, &item{id: -1, barrier: barrier})
		go stages[0].lane.Put(t.Context(), list)
		time.Sleep(time.Hour)
		isClosed := func(c <-chan struct{}) bool {
			select {
			case <-c:
				return true
			default:
				return false
			}
		}
		if isClosed(barrier.Passed()) {
			t.Error("the barrier passed a stuck sink")
		}
		end.SetAvailable(-1)
		synctest.Wait()
		if !isClosed(barrier.Passed()) {
			t.Fatal("the barrier did not pass")
		}
		for _, stage := range graph.Stages() {
			view, _ := barrier.Exports()[stage].(*tally)
			if view == nil || !slices.Equal(view.seen, numbers(1, 50)) {
				t.Errorf("%s: got export %v, want events 1 to 50", stage, view)
			}
		}
		for i := 50; i < 80; i++ {
			list[i+1].token.Settle()
		}
		if isClosed(barrier.Released()) {
			t.Error("released by tokens behind the barrier")
		}
		for i := range 50 {
			list[i].token.Settle()
		}
		if !isClosed(barrier.Released()) {
			t.Error("not released when every token before it was settled")
		}
	})
}

func TestTicksMergeAndWaitWhileDataIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{})
		out := actorstest.NewRecorder[*item]()
		stage := spawnCounter(t, s, out, counterOptions{name: graph.StageAlert, tick: time.Second})
		ticks := func() int {
			state, err := mailbox.Ask[tally](t.Context(), stage.Client, readTally{})
			if err != nil {
				t.Fatal(err)
			}
			return state.ticks
		}
		time.Sleep(2*time.Hour + time.Millisecond)
		if got := ticks(); got != 7200 {
			t.Errorf("ticks in two hours: got %d, want 7200", got)
		}
		out.SetAvailable(0)
		stage.lane.TryPut(items(1, 1))
		time.Sleep(time.Minute)
		if got := ticks(); got != 7200 {
			t.Errorf("ticks while held: got %d, want none more", got)
		}
		out.SetAvailable(-1)
		synctest.Wait()
		if got := ticks(); got != 7201 {
			t.Errorf("ticks after the hold: got %d, want one more", got)
		}
	})
}

func TestATickThatIsNotThroughTakesTurnsWithTheData(t *testing.T) {
	for _, tc := range []struct {
		name  string
		items int
		want  string // t: a piece of the tick, d: an item
	}{
		{"without data it goes on at once", 0, "ttttt"},
		{"behind each step of data comes one piece", 3, "tdtdtdtt"},
		{"data goes on when the tick is through", 7, "tdtdtdtdtddd"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := actorstest.System(t, actors.Options{})
				var got []byte
				cell := mailbox.NewCell("alert", actors.KindStage, mailbox.CellOptions{Tick: time.Minute})
				lane := mailbox.NewLane(cell, mailbox.LaneOptions[*item]{Capacity: 1024})
				pieces := 5
				_, err := s.Spawn(cell, func(actors.RestartState) actor.Actor {
					return actor.ReceiveFunc(func(c actor.Context) {
						switch m := c.Message().(type) {
						case mailbox.Tick:
							got = append(got, 't')
							if pieces--; pieces == 4 {
								lane.TryPut(items(1, tc.items))
							}
							if pieces > 0 {
								cell.Resume()
							}
						case *mailbox.Run[*item]:
							for range m.All() {
								got = append(got, 'd')
							}
						}
					})
				})
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute + time.Second)
				synctest.Wait()
				if string(got) != tc.want {
					t.Errorf("got %s, want %s", got, tc.want)
				}
			})
		})
	}
}

func TestTheTickThatPanicsIsSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{MaxRestarts: 10})
		calls := 0
		cell := mailbox.NewCell("alert", actors.KindStage, mailbox.CellOptions{Tick: time.Minute})
		_, err := s.Spawn(cell, func(actors.RestartState) actor.Actor {
			return actor.ReceiveFunc(func(c actor.Context) {
				if _, ok := c.Message().(mailbox.Tick); ok {
					if calls++; calls == 1 {
						panic("tick")
					}
				}
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3*time.Minute + time.Second)
		synctest.Wait()
		if r, _ := s.Record("alert"); calls != 3 || r.Restarts != 1 {
			t.Errorf("got %d ticks, %d restarts, want 3 and 1", calls, r.Restarts)
		}
	})
}
