package actors_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// Whatever panics where, under any capacity and any resizing: every event that
// is not poisonous arrives once and in order, every poisonous one is a dead
// letter, and every token is settled once.
func TestNothingIsLostOrDoubledUnderPanics(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { chaos(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func chaos(t *testing.T, rnd *rand.Rand) {
	t.Helper()
	const n = 300
	s := actorstest.System(t, actors.Options{MaxRestarts: 1 << 20})
	out := actorstest.NewRecorder[*item]()
	dlq := actorstest.NewRecorder[graph.DeadLetter]()
	names := graph.Stages()[1:5]
	var next mailbox.Outlet[*item] = out
	var first *counterStage
	clients := map[graph.Stage]*counterStage{}
	for i := len(names) - 1; i >= 0; i-- {
		capacity := 1 + rnd.IntN(20)
		first = spawnCounter(t, s, next, counterOptions{
			name: names[i], capacity: capacity, join: 1 + rnd.IntN(8), dlq: dlq, tick: 70 * time.Millisecond,
		})
		clients[names[i]], next = first, first.lane
	}
	receipt := graph.NewReceipt(n, func() {})
	var want []int
	poisonous := 0
	list := items(1, n)
	for i, it := range list {
		it.token = receipt.Token(i)
		switch rnd.IntN(40) {
		case 0:
			it.step = panics(1, "once")
		case 1:
			it.step = panics(always, "always")
			poisonous++
			continue
		case 2:
			it.apply = panics(1, "apply")
		case 3:
			it.after = panics(1, "after")
		case 4:
			it.step, it.undo = panics(1, "step"), panics(1, "undo")
		case 5:
			it.step = func() { time.Sleep(time.Millisecond) }
		}
		want = append(want, it.id)
	}
	ctx, stop := context.WithCancel(t.Context())
	for _, c := range clients {
		go disturb(ctx, s, c, rand.New(rand.NewPCG(rnd.Uint64(), 2)))
	}
	go func() {
		for ctx.Err() == nil {
			time.Sleep(time.Duration(rnd.IntN(50)) * time.Millisecond)
			out.SetAvailable(rnd.IntN(20))
		}
		out.SetAvailable(-1)
	}()
	if got, err := first.lane.Put(ctx, list); got != n || err != nil {
		t.Fatalf("put: got %d, %v, want all", got, err)
	}
	time.Sleep(time.Minute)
	stop()
	time.Sleep(time.Minute)
	wantIDs(t, "delivered", ids(out.All()), want)
	for _, it := range out.All() {
		it.token.Settle()
	}
	deadLetters := dlq.All()
	for _, l := range deadLetters {
		l.Token.Settle()
	}
	if len(deadLetters) != poisonous || receipt.Open() != 0 || receipt.Overdrawn() != 0 {
		t.Errorf("got %d dead letters, %d tokens open, %d overdrawn, want %d, 0, 0",
			len(deadLetters), receipt.Open(), receipt.Overdrawn(), poisonous)
	}
	for _, r := range s.Records() {
		if r.State != actors.StateRunning || r.Mailbox.Depth != 0 {
			t.Errorf("%s: got %s with depth %d, want running and empty", r.Name, r.State, r.Mailbox.Depth)
		}
	}
}

// disturb asks, resizes and breaks an actor until ctx ends.
func disturb(ctx context.Context, s *actors.System, c *counterStage, rnd *rand.Rand) {
	for ctx.Err() == nil {
		time.Sleep(time.Duration(rnd.IntN(300)) * time.Millisecond)
		switch rnd.IntN(5) {
		case 0:
			_, _ = mailbox.Ask[marked](ctx, c.Client, explode{"asked for"})
		case 1:
			_, _ = s.Resize(c.Name(), 1+rnd.IntN(30))
		default:
			_, _ = mailbox.Ask[tally](ctx, c.Client, readTally{})
		}
	}
}

// Whenever clients leave: exactly the leading part they are told about is
// processed, in each sender's order.
func TestWhatASenderIsToldIsWhatIsProcessed(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { leavingClients(t, seed) })
		})
	}
}

func leavingClients(t *testing.T, seed uint64) {
	t.Helper()
	const senders = 8
	s := actorstest.System(t, actors.Options{})
	out := actorstest.NewRecorder[*item]()
	stage := spawnCounter(t, s, out, counterOptions{name: graph.StageParse, capacity: 20, join: 4})
	want := make([][]int, senders)
	var wg sync.WaitGroup
	for i := range want {
		rnd := rand.New(rand.NewPCG(seed, uint64(i)))
		wg.Go(func() {
			for run := range 20 {
				list := items(1, 1+rnd.IntN(30))
				for _, it := range list {
					it.raw, it.id = fmt.Sprint(i), 100*run+it.id
					it.step = func() { time.Sleep(time.Millisecond) }
				}
				ctx, leave := context.WithTimeout(t.Context(), time.Duration(rnd.IntN(200))*time.Millisecond)
				n, err := stage.lane.Put(ctx, list)
				leave()
				if (err == nil) != (n == len(list)) {
					t.Errorf("put %d: got %d, %v, want an error exactly when not all were admitted", len(list), n, err)
				}
				want[i] = append(want[i], ids(list[:n])...)
			}
		})
	}
	wg.Wait()
	time.Sleep(time.Minute)
	got := make([][]int, senders)
	for _, it := range out.All() {
		sender, _ := strconv.Atoi(it.raw)
		got[sender] = append(got[sender], it.id)
	}
	for i := range want {
		wantIDs(t, fmt.Sprintf("sender %d", i), got[i], want[i])
	}
	if st := stage.lane.Stats(); st.Depth != 0 || st.Parked != 0 {
		t.Errorf("lane: got depth %d, parked %d, want an empty lane", st.Depth, st.Parked)
	}
}
