package actors

import (
	"bytes"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/graph"
)

// Kind says what an actor is for. It decides who supervises it.
type Kind string

// The kinds.
const (
	KindStage   Kind = "stage"
	KindSink    Kind = "sink"
	KindControl Kind = "control"
)

// parent is the supervisor of actors of this kind.
func (k Kind) parent() string {
	switch k {
	case KindStage:
		return "dataflow"
	case KindSink:
		return "delivery"
	default:
		return "control"
	}
}

// CellOptions tune a cell. The zero value is an actor without timer.
type CellOptions struct {
	Tick time.Duration // 0: no ticks
}

// RestartState is what a new instance of an actor starts with. Both fields are nil
// for the first instance, and for one that has to start empty.
type RestartState struct {
	State  any // what the previous instance returned from State, when it was left whole
	Export any // the actor's view in the save that is current, when the state was suspect
}

// Stateful is an actor whose state survives a panic that left it whole.
type Stateful interface {
	actor.Actor
	State() any
}

// Cell is what of an actor survives a restart. Lane, outboxes and pool are
// attached before System.Spawn starts the actor.
type Cell struct {
	name string
	kind Kind
	box  *mailbox
	tick *ticker

	lane     laneState // nil for an actor without data lane
	outboxes []outboxState
	pool     *Pool
	guard    *Isolate

	system *System
	pid    *actor.PID
	log    *slog.Logger

	counters counters
	busy     busyMeter
	life     lifeRecord
}

// counters are the totals of a record.
type counters struct {
	batches, events       atomic.Int64
	restarts, quarantined atomic.Int64
}

// NewCell returns a cell without lanes.
func NewCell(name string, kind Kind, o CellOptions) *Cell {
	c := &Cell{name: name, kind: kind, log: slog.New(slog.DiscardHandler)}
	c.box = newMailbox(c)
	c.guard = &Isolate{cell: c}
	c.life.state = StateRunning
	if o.Tick > 0 {
		c.tick = newTicker(o.Tick, c.box.postTick)
	}
	return c
}

// Name is the actor's name.
func (c *Cell) Name() string { return c.name }

// Guard protects the steps of the actor itself. Workers have guards of their own.
func (c *Cell) Guard() *Isolate { return c.guard }

// Quarantined is the number of events taken out because their own step panicked twice.
func (c *Cell) Quarantined() int64 { return c.counters.quarantined.Load() }

// Finished counts work of which the cell does not know by itself: one message
// with the given units.
func (c *Cell) Finished(units int) {
	c.counters.batches.Add(1)
	c.counters.events.Add(int64(units))
}

// Quarantine moves a copy of a poisonous line to the dead-letter queue. Without
// one (a nil outbox) the line is lost, which the guard has already logged, and
// settled.
func (c *Cell) Quarantine(to *Outbox[graph.DeadLetter], original []byte, t graph.Token, p *Poison) {
	if to == nil {
		t.Settle()
		return
	}
	to.Push(graph.DeadLetter{Original: bytes.Clone(original), Error: p.Error(), Stage: c.name, Token: t})
}

// Resume asks, from within a Tick, for another one behind the next step of data, or
// at once while there is none: for work that would keep the data waiting if it were
// done in one go.
func (c *Cell) Resume() { c.box.resumeTick() }

// Hold keeps data from the actor until Release, beyond what its outboxes and its
// pool do by themselves. Both are called from Receive and nest.
func (c *Cell) Hold() { c.box.hold() }

// Release ends a Hold.
func (c *Cell) Release() { c.box.release() }
