package mailbox

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/internal/ratelog"
)

// Kind is a label of a cell for whoever runs it. Nothing in this package depends on
// it.
type Kind string

// CellOptions tune a cell. The zero value is an actor without timer.
type CellOptions struct {
	Tick time.Duration // 0: no ticks
}

// Runtime is what a cell gets from the system that runs its actor.
type Runtime struct {
	Library *actor.ActorSystem
	PID     *actor.PID // of the actor
	Host    Host
	Log     *slog.Logger
}

// Host decides what follows a panic. Its methods are called from the actor's own
// goroutine, except for Closed.
type Host interface {
	// Panicked is told of a panic at the actor's boundary, before the library is.
	Panicked(Panic)
	// Resumed is called when the library lets a restarted actor go on.
	Resumed()
	// Closed is called, possibly more than once, when the actor takes nothing any
	// more. From then on it must not be restarted.
	Closed()
}

// Panic is a panic at the boundary of an actor.
type Panic struct {
	Text    string // the panic value, at most 512 bytes
	Stack   []byte // of its origin
	Suspect bool   // it happened in Isolate.Apply: the actor's state may be half changed
}

// Cell is what of an actor survives a restart. Lane, outboxes and pool are
// attached before System.Spawn starts the actor.
type Cell struct {
	name string
	kind Kind
	box  *mailbox
	tick time.Duration

	lane     laneState // nil for an actor without data lane
	outboxes []outboxState
	pool     *Pool
	isolate  *Isolate
	runtime  Runtime

	counters    counters
	busy        busyMeter
	quarantines ratelog.Limit
}

// counters are the totals of Stats.
type counters struct {
	batches, events, quarantined atomic.Int64
}

// NewCell returns a cell without lanes.
func NewCell(name string, kind Kind, o CellOptions) *Cell {
	c := &Cell{name: name, kind: kind, tick: o.Tick, quarantines: ratelog.Limit{Every: time.Minute}}
	c.box = newMailbox(c)
	c.isolate = &Isolate{cell: c}
	return c
}

// Attach connects the cell to its system. It is called once, before the library
// spawns the actor with the cell's Mailbox.
func (c *Cell) Attach(r Runtime) { c.runtime = r }

// Mailbox is what the library delivers through.
func (c *Cell) Mailbox() actor.Mailbox { return c.box }

// Close refuses everything from now on and answers the requests that wait.
func (c *Cell) Close() { c.box.close() }

// Name is the actor's name.
func (c *Cell) Name() string { return c.name }

// Kind is the label the cell was made with.
func (c *Cell) Kind() Kind { return c.kind }

// Isolate protects the steps of the actor itself. Workers have theirs in the Pool.
func (c *Cell) Isolate() *Isolate { return c.isolate }

// Quarantined is the number of events taken out because their own step panicked twice.
func (c *Cell) Quarantined() int64 { return c.counters.quarantined.Load() }

// Resume asks, from within a Tick, for another one behind the next step of data, or
// at once while there is none: for work that would keep the data waiting if it were
// done in one go.
func (c *Cell) Resume() { c.box.resumeTick() }

// resumed is called when the library lets a restarted actor go on.
func (c *Cell) resumed() {
	c.runtime.Host.Resumed()
	if c.pool != nil {
		c.pool.resume()
	}
}

// panicked reports a panic at the actor's boundary.
func (c *Cell) panicked(value any, stack []byte) {
	suspect := c.isolate.applying
	c.isolate.applying = false
	c.runtime.Host.Panicked(Panic{Text: panicText(value), Stack: stack, Suspect: suspect})
}
