package actors_test

import (
	"slices"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// item is what travels through the tests' stages.
type item struct {
	id      int
	raw     string
	token   graph.Token
	step    func() // run in the event's own step
	undo    func() // run when the step is rolled back
	apply   func() // run while the change is applied
	after   func() // run in the bookkeeping after it
	barrier *graph.Barrier
}

func items(from, to int) []*item {
	var list []*item
	for i := from; i <= to; i++ {
		list = append(list, &item{id: i})
	}
	return list
}

func ids(list []*item) []int {
	var out []int
	for _, it := range list {
		out = append(out, it.id)
	}
	return out
}

func numbers(from, to int) []int { return ids(items(from, to)) }

func call(f func()) {
	if f != nil {
		f()
	}
}

// tally is the state of a counter stage.
type tally struct {
	seen  []int
	marks []string // control requests that were applied
	ticks int
}

func (t *tally) clone() *tally {
	return &tally{seen: slices.Clone(t.seen), marks: slices.Clone(t.marks), ticks: t.ticks}
}

// The requests of a counter stage.
type (
	readTally struct{}              // reply: tally
	mark      struct{ text string } // reply: marked
	marked    struct{}
	explode   struct{ text string } // panics
	stall     struct{ d time.Duration }
)

// counter is a stage of the tests' own: it counts what passes and answers questions.
type counter struct {
	stage *actors.Stage[*item]
	cell  *mailbox.Cell
	state *tally
	next  *mailbox.Outbox[*item]
	ends  bool // settles what it has counted
}

func (a *counter) State() any { return a.state }

func (a *counter) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *mailbox.Run[*item]:
		for it := range m.All() {
			a.pass(m, it)
		}
	case mailbox.Tick:
		a.state.ticks++
	case mailbox.Drain:
		c.Respond(*a.state.clone())
	case actors.Detail:
		c.Respond(map[string]int{"seen": len(a.state.seen)})
	case readTally:
		c.Respond(*a.state.clone())
	case mark:
		a.state.marks = append(a.state.marks, m.text)
		c.Respond(marked{})
	case explode:
		panic(m.text)
	case stall:
		time.Sleep(m.d)
		c.Respond(marked{})
	}
}

func (a *counter) pass(run *mailbox.Run[*item], it *item) {
	if it.barrier != nil {
		a.stage.Export(it.barrier, a.state.clone())
		a.next.Push(it)
		return
	}
	if p := a.cell.Isolate().Step(func() { call(it.step) }, func() { call(it.undo) }); p != nil {
		a.stage.Quarantine([]byte(it.raw), it.token, p)
		return
	}
	a.cell.Isolate().Apply(func() {
		call(it.apply)
		a.state.seen = append(a.state.seen, it.id)
	})
	if a.ends {
		it.token.Settle()
	}
	a.next.Push(it)
	run.Done()
	call(it.after)
}

// counterOptions describe one counter stage of a test.
type counterOptions struct {
	name     graph.Stage
	capacity int
	join     int
	tick     time.Duration
	ends     bool
	dlq      actors.DeadLetters
}

type counterStage struct {
	*mailbox.Client
	lane *mailbox.Lane[*item]
	cell *mailbox.Cell
}

// spawnCounter starts a counter stage in front of next, which may be nil.
func spawnCounter(tb testing.TB, s *actors.System, next mailbox.Outlet[*item], o counterOptions) *counterStage {
	tb.Helper()
	if o.capacity == 0 {
		o.capacity = 1024
	}
	if o.join == 0 {
		o.join = 64
	}
	stage := actors.NewStage(actors.StageOptions{Capacity: o.capacity, DeadLetters: o.dlq}, actors.Shape[*item]{
		Name: string(o.name), Join: o.join, Tick: o.tick,
	})
	cell := stage.Cell()
	out := mailbox.NewOutbox(cell, next)
	client, err := s.Spawn(cell, func(h actors.RestartState) actor.Actor {
		state := &tally{}
		switch {
		case h.State != nil:
			state = h.State.(*tally)
		case h.Export != nil:
			state = h.Export.(*tally).clone()
		}
		return &counter{stage: &stage, cell: cell, state: state, next: out, ends: o.ends}
	})
	if err != nil {
		tb.Fatalf("spawn %s: got %v, want nil", o.name, err)
	}
	return &counterStage{Client: client, lane: stage.Lane(), cell: cell}
}

// chain starts counter stages with the given names, each in front of the next,
// the last in front of end.
func chain(tb testing.TB, s *actors.System, end mailbox.Outlet[*item], capacity int, names ...graph.Stage) []*counterStage {
	tb.Helper()
	stages := make([]*counterStage, len(names))
	for i := len(names) - 1; i >= 0; i-- {
		stages[i] = spawnCounter(tb, s, end, counterOptions{name: names[i], capacity: capacity, join: min(capacity, 64)})
		end = stages[i].lane
	}
	return stages
}
