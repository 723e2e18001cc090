package actors_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// panics returns a function that panics the first n times it is called.
func panics(n int, text string) func() {
	return func() {
		if n > 0 {
			n--
			panic(text)
		}
	}
}

const always = 1 << 30

// bench is one counter stage between a receipt and a recorder.
type bench struct {
	sys     *actors.System
	stage   *counterStage
	out     *actorstest.Recorder[*item]
	dlq     *actorstest.Recorder[graph.DeadLetter]
	log     *actorstest.Log
	settled atomic.Int64
	receipt *graph.Receipt
}

func newBench(t *testing.T, o actors.Options) *bench {
	t.Helper()
	b := &bench{out: actorstest.NewRecorder[*item](), dlq: actorstest.NewRecorder[graph.DeadLetter](), log: &actorstest.Log{}}
	o.Log = b.log.Logger()
	if o.MaxRestarts == 0 {
		o.MaxRestarts = 10
	}
	b.sys = actorstest.System(t, o)
	b.stage = spawnCounter(t, b.sys, b.out, counterOptions{name: graph.StageEvaluate, dlq: b.dlq, ends: true})
	return b
}

// put hands the items in under one receipt and waits until nothing moves.
func (b *bench) put(t *testing.T, list []*item) {
	t.Helper()
	b.receipt = graph.NewReceipt(len(list), func() { b.settled.Add(int64(len(list))) })
	for i, it := range list {
		it.token = b.receipt.Token(i)
	}
	if n := b.stage.lane.TryPut(list); n != len(list) {
		t.Fatalf("admitted: got %d, want %d", n, len(list))
	}
	synctest.Wait()
}

func (b *bench) record(t *testing.T) actors.Record {
	t.Helper()
	r, err := b.sys.Record("evaluate")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (b *bench) tally(t *testing.T) tally {
	t.Helper()
	state, err := mailbox.Ask[tally](t.Context(), b.stage.Client, readTally{})
	if err != nil {
		t.Fatalf("ask for the state: got %v, want nil", err)
	}
	return state
}

func wantIDs(t *testing.T, what string, got, want []int) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestAnEventThatPanicsOnceIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, actors.Options{})
		list := items(1, 5)
		list[2].step = panics(1, "boom")
		b.put(t, list)
		wantIDs(t, "passed", ids(b.out.All()), numbers(1, 5))
		if r := b.record(t); r.Restarts != 0 || b.stage.cell.Quarantined() != 0 || len(b.dlq.All()) != 0 {
			t.Errorf("got %d restarts, %d quarantined, %d dead letters, want none",
				r.Restarts, b.stage.cell.Quarantined(), len(b.dlq.All()))
		}
		if b.settled.Load() != 5 || b.receipt.Overdrawn() != 0 {
			t.Errorf("got %d settled, %d too often, want 5 and 0", b.settled.Load(), b.receipt.Overdrawn())
		}
	})
}

func TestAnEventThatPanicsTwiceIsQuarantined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, actors.Options{})
		list := items(1, 5)
		list[2].step, list[2].raw = panics(always, "boom"), "line 3"
		b.put(t, list)
		wantIDs(t, "passed", ids(b.out.All()), []int{1, 2, 4, 5})
		deadLetters := b.dlq.All()
		if len(deadLetters) != 1 {
			t.Fatalf("dead letters: got %d, want 1", len(deadLetters))
		}
		l := deadLetters[0]
		if l.Stage != "evaluate" || l.Error != "panic: boom" || string(l.Original) != "line 3" {
			t.Errorf("dead letter: got %q, %q, %q, want evaluate, panic: boom, line 3", l.Stage, l.Error, l.Original)
		}
		if r := b.record(t); r.Restarts != 0 || b.stage.cell.Quarantined() != 1 {
			t.Errorf("got %d restarts, %d quarantined, want 0 and 1", r.Restarts, b.stage.cell.Quarantined())
		}
		if b.receipt.Open() != 1 {
			t.Errorf("open before the dead letter is written: got %d, want 1", b.receipt.Open())
		}
		l.Token.Settle()
		if b.settled.Load() != 5 || b.receipt.Overdrawn() != 0 {
			t.Errorf("got %d settled, %d too often, want 5 and 0", b.settled.Load(), b.receipt.Overdrawn())
		}
	})
}

func TestWithoutADeadLetterQueueTheLineIsLoggedAndSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, actors.Options{})
		b.stage = spawnCounter(t, b.sys, b.out, counterOptions{name: graph.StageObserve, ends: true})
		list := items(1, 1)
		list[0].step = panics(always, "boom")
		b.put(t, list)
		if b.settled.Load() != 1 {
			t.Errorf("settled: got %d, want 1", b.settled.Load())
		}
		if got := b.log.Matching("level=ERROR", "panic=boom", "stack="); len(got) != 1 {
			t.Errorf("error logs with stack: got %d, want 1", len(got))
		}
	})
}

func TestARolledBackEventIsCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, actors.Options{})
		groups := map[string]int{}
		list := items(1, 3)
		for _, it := range list {
			touched := []string{}
			boom := func() {}
			if it.id == 3 {
				boom = panics(1, "boom")
			}
			it.step = func() {
				for _, g := range []string{"a", "b"} {
					groups[g]++
					touched = append(touched, g)
				}
				boom()
			}
			it.undo = func() {
				for _, g := range touched {
					groups[g]--
				}
				touched = touched[:0]
			}
		}
		b.put(t, list)
		if groups["a"] != 3 || groups["b"] != 3 {
			t.Errorf("groups: got %v, want 3 each", groups)
		}
		if r := b.record(t); r.Restarts != 0 {
			t.Errorf("restarts: got %d, want 0", r.Restarts)
		}
		wantIDs(t, "passed", ids(b.out.All()), numbers(1, 3))
	})
}

func TestAPanickingRollBackMakesTheStateSuspect(t *testing.T) {
	for _, tc := range []struct {
		name string
		save bool
		want []int
		warn string
	}{
		{"without a save the state is empty and event 3 is counted as first", false, []int{3}, "state lost"},
		{"with a save after event 2 event 3 is the third", true, []int{1, 2, 3}, "state replaced"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, actors.Options{})
				b.put(t, items(1, 2))
				if tc.save {
					view := b.tally(t)
					b.sys.Saved(map[graph.Stage]any{graph.StageEvaluate: &view}, time.Now())
				}
				last := items(3, 3)
				last[0].step, last[0].undo = panics(1, "boom"), panics(1, "undo")
				b.put(t, last)
				time.Sleep(time.Second)
				synctest.Wait()
				wantIDs(t, "state", b.tally(t).seen, tc.want)
				wantIDs(t, "passed", ids(b.out.All()), numbers(1, 3))
				r := b.record(t)
				if r.Restarts != 1 || r.LastError != "panic: undo" || r.State != actors.StateRunning {
					t.Errorf("record: got %d restarts, %q, %s, want 1, panic: undo, running", r.Restarts, r.LastError, r.State)
				}
				if got := b.log.Matching("level=WARN", tc.warn); len(got) != 1 {
					t.Errorf("warnings: got %d, want 1", len(got))
				}
			})
		})
	}
}

func TestAPanicThatLeavesTheStateWholeKeepsIt(t *testing.T) {
	for _, tc := range []struct {
		name  string
		spoil func(b *bench, list []*item)
	}{
		{"in a control message", func(b *bench, _ []*item) {
			_, err := mailbox.Ask[marked](context.Background(), b.stage.Client, explode{"boom"})
			if !errors.Is(err, mailbox.ErrPanicked) {
				panic(fmt.Sprintf("ask: got %v, want %v", err, mailbox.ErrPanicked))
			}
		}},
		{"in the bookkeeping after an event, which is not applied again", func(_ *bench, list []*item) {
			list[2].after = panics(1, "boom")
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, actors.Options{})
				b.put(t, items(1, 2))
				list := items(3, 7)
				tc.spoil(b, list)
				b.put(t, list)
				time.Sleep(time.Second)
				synctest.Wait()
				wantIDs(t, "state", b.tally(t).seen, numbers(1, 7))
				wantIDs(t, "passed", ids(b.out.All()), numbers(1, 7))
				if r := b.record(t); r.Restarts != 1 || r.LastRestart == nil {
					t.Errorf("record: got %d restarts at %v, want 1 with its time", r.Restarts, r.LastRestart)
				}
				if b.receipt.Open() != 0 || b.receipt.Overdrawn() != 0 {
					t.Errorf("tokens: got %d open, %d settled too often, want none", b.receipt.Open(), b.receipt.Overdrawn())
				}
			})
		})
	}
}

func TestQuestionsWaitForTheRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, actors.Options{})
		list := items(1, 1)
		list[0].after = panics(1, "boom")
		b.put(t, list)
		if r := b.record(t); r.State != actors.StateRestarting {
			t.Errorf("state in the back-off: got %s, want restarting", r.State)
		}
		if d := b.sys.Detail(t.Context(), "evaluate"); d == nil {
			t.Error("detail: got nil, want the answer after the restart")
		}
		if r := b.record(t); r.State != actors.StateRunning {
			t.Errorf("state after the restart: got %s, want running", r.State)
		}
	})
}

func TestPoisonCostsNoBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, actors.Options{})
		var want []int
		const n, every = 10_000, 100
		for from := 1; from <= n; from += 500 {
			list := items(from, from+499)
			for _, it := range list {
				if it.id%every == 0 {
					it.step = panics(always, "boom")
				} else {
					want = append(want, it.id)
				}
			}
			b.put(t, list)
		}
		wantIDs(t, "passed", ids(b.out.All()), want)
		if r := b.record(t); r.Restarts != 0 || b.stage.cell.Quarantined() != n/every {
			t.Errorf("got %d restarts, %d quarantined, want 0 and %d", r.Restarts, b.stage.cell.Quarantined(), n/every)
		}
		if got := b.log.Matching("level=ERROR"); len(got) != 1 {
			t.Errorf("error logs: got %d, want one per text and minute", len(got))
		}
	})
}

func TestTheBudgetOfRestarts(t *testing.T) {
	for _, tc := range []struct {
		name  string
		quiet int // after this many panics come two minutes of quiet
		want  actors.State
	}{
		{"the eleventh panic within a minute suspends", -1, actors.StateSuspended},
		{"two minutes of quiet after the fifth: none is suspended", 5, actors.StateRunning},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var suspended atomic.Int64
				b := newBench(t, actors.Options{OnSuspended: func(string) { suspended.Add(1) }})
				for i := range 11 {
					if i == tc.quiet {
						time.Sleep(2 * time.Minute)
					}
					// The question waits for the restart, which may take longer than it may.
					for {
						_, err := mailbox.Ask[marked](t.Context(), b.stage.Client, explode{"boom"})
						if errors.Is(err, mailbox.ErrPanicked) {
							break
						}
					}
				}
				time.Sleep(20 * time.Second)
				synctest.Wait()
				r := b.record(t)
				if r.State != tc.want || r.Restarts != 11 {
					t.Errorf("got %s after %d panics, want %s", r.State, r.Restarts, tc.want)
				}
				if got, want := suspended.Load() == 1, tc.want == actors.StateSuspended; got != want {
					t.Errorf("daemon told: got %t, want %t", got, want)
				}
			})
		})
	}
}

func TestTheBackOffDoubles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, actors.Options{})
		list := items(1, 1)
		list[0].apply = panics(4, "boom")
		b.put(t, list)
		for _, tc := range []struct {
			wait     time.Duration
			restarts int64
			passed   int
		}{
			{99 * time.Millisecond, 1, 0},
			{2 * time.Millisecond, 2, 0},
			{200 * time.Millisecond, 3, 0},
			{400 * time.Millisecond, 4, 0},
			{798 * time.Millisecond, 4, 0},
			{2 * time.Millisecond, 4, 1},
		} {
			time.Sleep(tc.wait)
			synctest.Wait()
			if r := b.record(t); r.Restarts != tc.restarts || len(b.out.All()) != tc.passed {
				t.Errorf("%v later: got %d restarts, %d passed, want %d and %d",
					tc.wait, r.Restarts, len(b.out.All()), tc.restarts, tc.passed)
			}
		}
	})
}
