package actors_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// idleLane is a lane whose actor is not started: nothing leaves it.
func idleLane(capacity, bytes int) *mailbox.Lane[graph.Line] {
	cell := mailbox.NewCell("parse", actors.KindStage, mailbox.CellOptions{})
	return mailbox.NewLane(cell, mailbox.LaneOptions[graph.Line]{
		Capacity: capacity, Bytes: bytes, Size: graph.SizeOfLine, Join: 512,
	})
}

func lines(n, size int) []graph.Line {
	list := make([]graph.Line, n)
	for i := range list {
		list[i].Raw = make([]byte, size)
	}
	return list
}

func TestLaneAdmission(t *testing.T) {
	const kib = 1 << 10
	for _, tc := range []struct {
		name            string
		capacity, bytes int
		before          []graph.Line
		put             []graph.Line
		want            int
	}{
		{"everything fits", 10, 0, nil, lines(10, 1), 10},
		{"the leading part fits", 10, 0, nil, lines(11, 1), 10},
		{"a full lane admits nothing", 10, 0, lines(10, 1), lines(1, 1), 0},
		{"two lines of 600 KiB never wait together", 10, 1024 * kib, nil, lines(2, 600*kib), 1},
		{"a line of 1 MiB passes when the lane is empty", 10, 1024 * kib, nil, lines(1, 1024*kib), 1},
		{"a line larger than the lane passes when it is empty", 10, 1024 * kib, nil, lines(1, 2048*kib), 1},
		{"the same does not pass beside another", 10, 1024 * kib, lines(1, 1), lines(1, 1024*kib), 0},
		{"no bound in bytes", 10, 0, lines(1, 1), lines(1, 4096*kib), 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			lane := idleLane(tc.capacity, tc.bytes)
			lane.TryPut(tc.before)
			if got := lane.TryPut(tc.put); got != tc.want {
				t.Errorf("admitted: got %d, want %d", got, tc.want)
			}
		})
	}
}

func TestRoomIsWhatCanBePutAtOnce(t *testing.T) {
	for _, tc := range []struct {
		name                 string
		capacity, bytes      int
		before               []graph.Line
		wantUnits, wantBytes int
	}{
		{name: "an empty lane", capacity: 10, bytes: 100, wantUnits: 10, wantBytes: 100},
		{name: "a lane with lines", capacity: 10, bytes: 100, before: lines(3, 20), wantUnits: 7, wantBytes: 40},
		{name: "a full lane", capacity: 3, bytes: 100, before: lines(3, 20), wantUnits: 0, wantBytes: 40},
		{name: "no bound in bytes", capacity: 10, before: lines(3, 20), wantUnits: 7, wantBytes: math.MaxInt},
		{name: "a line larger than the lane", capacity: 10, bytes: 100, before: lines(1, 200), wantUnits: 9, wantBytes: 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			lane := idleLane(tc.capacity, tc.bytes)
			lane.TryPut(tc.before)
			if units, bytes := lane.Available(); units != tc.wantUnits || bytes != tc.wantBytes {
				t.Errorf("got room for %d units and %d bytes, want %d and %d", units, bytes, tc.wantUnits, tc.wantBytes)
			}
		})
	}
}

func TestAnElementLargerThanTheLaneIsAdmittedWhenTheLaneIsEmpty(t *testing.T) {
	cell := mailbox.NewCell("evaluate", actors.KindStage, mailbox.CellOptions{})
	lane := mailbox.NewLane(cell, mailbox.LaneOptions[*graph.Batch]{Capacity: 8, Size: graph.SizeOfBatch})
	batches := []*graph.Batch{{Lines: lines(64, 1)}, {Lines: lines(64, 1)}}
	if got := lane.TryPut(batches); got != 1 {
		t.Errorf("batches of 64 lines into a lane of 8: got %d, want 1 at a time", got)
	}
	if got := lane.Stats().Depth; got != 64 {
		t.Errorf("depth: got %d, want 64", got)
	}
}

func TestAClientThatLeavesLearnsHowManyLinesWereAdmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lane := idleLane(100, 0)
		ctx, leave := context.WithCancel(t.Context())
		go func() {
			time.Sleep(time.Second)
			leave()
		}()
		got, err := lane.Put(ctx, lines(300, 1))
		if got != 100 || !errors.Is(err, context.Canceled) {
			t.Errorf("put: got %d, %v, want 100, %v", got, err, context.Canceled)
		}
		if s := lane.Stats(); s.Depth != 100 || s.Parked != 0 || s.Blocked != time.Second || s.Waits != 1 {
			t.Errorf("lane: got %+v, want depth 100, parked 0, one wait of 1s", s)
		}
	})
}

func TestAResizeDropsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{MaxRestarts: 10})
		out := actorstest.NewRecorder[*item]()
		stage := spawnCounter(t, s, out, counterOptions{name: graph.StageParse, capacity: 100, join: 1})
		go mailbox.Ask[marked](t.Context(), stage.Client, stall{time.Second})
		synctest.Wait()
		if n := stage.lane.TryPut(items(1, 100)); n != 100 {
			t.Fatalf("admitted: got %d, want 100", n)
		}
		r, err := s.Resize("parse", 5)
		if err != nil || r.Mailbox.Capacity != 5 || r.Mailbox.Depth != 100 || r.Mailbox.HighWatermark != 100 {
			t.Errorf("record: got %+v, %v, want capacity 5, depth 100, high watermark 100", r.Mailbox, err)
		}
		out.SetAvailable(96) // of which the first 95 leave a depth of 5, the run in hand aside
		done := make(chan int, 1)
		go func() {
			n, _ := stage.lane.Put(t.Context(), items(101, 101))
			done <- n
		}()
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		if len(done) != 0 {
			t.Errorf("a put above the new capacity: got %d admitted, want it to wait", <-done)
		}
		out.SetAvailable(-1)
		time.Sleep(time.Second)
		synctest.Wait()
		if got, want := ids(out.All()), numbers(1, 101); !slices.Equal(got, want) {
			t.Errorf("passed: got %v, want %v", got, want)
		}
		r, _ = s.Resize("parse", 50)
		if r.Mailbox.HighWatermark != 0 {
			t.Errorf("high watermark after a resize: got %d, want 0", r.Mailbox.HighWatermark)
		}
	})
}

func TestALargerCapacityWakesBlockedSendersAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actorstest.System(t, actors.Options{MaxRestarts: 10})
		out := actorstest.NewRecorder[*item]()
		out.SetAvailable(0)
		stage := spawnCounter(t, s, out, counterOptions{name: graph.StageParse, capacity: 5, join: 1})
		done := make(chan int, 1)
		go func() {
			n, _ := stage.lane.Put(t.Context(), items(1, 40))
			done <- n
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(done) != 0 {
			t.Fatal("put into a full lane: got an answer, want it to wait")
		}
		if _, err := s.Resize("parse", 50); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(done) != 1 {
			t.Fatal("put after the resize: got no answer, want 40 at once")
		}
		out.SetAvailable(-1)
		synctest.Wait()
		if got, want := ids(out.All()), numbers(1, 40); !slices.Equal(got, want) {
			t.Errorf("passed: got %v, want %v", got, want)
		}
	})
}

// A lane behind which an actor is slow stays full. Its senders come in waves, not one by one.
func TestSendersWhoWaitAreLetInTogether(t *testing.T) {
	for _, tc := range []struct {
		name           string
		capacity, wave int
	}{
		{"when a quarter of the lane is free", 16, 4},
		{"when there is room for several runs", 100, 8},
		{"at once where a quarter is nothing", 3, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := actorstest.System(t, actors.Options{MaxRestarts: 10})
				out := actorstest.NewRecorder[*item]()
				out.SetAvailable(0)
				stage := spawnCounter(t, s, out, counterOptions{name: graph.StageParse, capacity: tc.capacity, join: 1})
				all := 3 * tc.capacity
				// Nothing is taken before all have their place, in the lane or before it.
				go mailbox.Ask[marked](t.Context(), stage.Client, stall{time.Second})
				synctest.Wait()
				go func() { _, _ = stage.lane.Put(t.Context(), items(1, all)) }()
				time.Sleep(2 * time.Second)
				for taken := 1; taken <= 2*tc.wave+1; taken++ { // one of them is in hand
					synctest.Wait()
					free := taken % tc.wave
					depth, parked := tc.capacity-free, all-tc.capacity-taken+free
					if got := stage.lane.Stats(); got.Depth != depth || got.Parked != parked {
						t.Errorf("%d taken: %d wait in the lane and %d before it, want %d and %d", taken, got.Depth, got.Parked, depth, parked)
					}
					out.SetAvailable(1)
				}
				out.SetAvailable(-1)
				synctest.Wait()
				if got, want := ids(out.All()), numbers(1, all); !slices.Equal(got, want) {
					t.Errorf("passed: got %v, want %v", got, want)
				}
			})
		})
	}
}

func TestCapacityOutOfBounds(t *testing.T) {
	s := actorstest.System(t, actors.Options{})
	spawnCounter(t, s, nil, counterOptions{name: graph.StageParse})
	for _, tc := range []struct {
		name  string
		actor string
		n     int
		want  error
	}{
		{"zero", "parse", 0, actors.ErrCapacity},
		{"above a million", "parse", 1_000_001, actors.ErrCapacity},
		{"an unknown actor", "nope", 5, actors.ErrNoActor},
		{"a million", "parse", 1_000_000, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := s.Resize(tc.actor, tc.n); !errors.Is(err, tc.want) {
				t.Errorf("resize %s to %d: got %v, want %v", tc.actor, tc.n, err, tc.want)
			}
		})
	}
}
