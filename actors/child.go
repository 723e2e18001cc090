package actors

import (
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors/mailbox"
)

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

// errorLimit is the length of the text of a record's last error, in bytes.
const errorLimit = 512

// child is an actor of the system: its cell, and what the supervisor knows of its
// life.
type child struct {
	system *System
	cell   *mailbox.Cell
	pid    *actor.PID

	mu          sync.Mutex // guards the rest
	state       State
	broken      bool // panicked, and no new instance has replied since
	suspect     bool // the state at the last panic may be half changed
	restarts    int64
	lastRestart time.Time
	lastError   string
	failures    []time.Time // within the restart window
	delay       time.Duration
	restart     *time.Timer
	export      any // of the save that is current
	exported    time.Time
	instance    actor.Actor
}

var _ mailbox.Host = (*child)(nil)

func (c *child) suspended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state == StateSuspended
}

func (c *child) stopped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state == StateStopped
}

// Panicked records a panic at the actor's boundary.
func (c *child) Panicked(p mailbox.Panic) {
	c.mu.Lock()
	c.restarts++
	c.state = StateRestarting
	c.broken = true
	c.suspect = c.suspect || p.Suspect
	c.lastRestart = time.Now()
	text := "panic: " + p.Text
	c.lastError = text[:min(len(text), errorLimit)]
	c.mu.Unlock()
	c.system.log.Error("actor panicked", "actor", c.cell.Name(), "panic", p.Text, "stack", string(p.Stack))
}

// Resumed notes that a restarted actor goes on.
func (c *child) Resumed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.broken && c.state == StateRestarting {
		c.state = StateRunning
	}
}

// charge takes a failure from the budget and returns the back-off, or false when
// there is none left.
func (c *child) charge(now time.Time, budget int, window time.Duration) (time.Duration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := c.failures[:0]
	for _, at := range c.failures {
		if now.Sub(at) < window {
			kept = append(kept, at)
		}
	}
	if len(kept) == 0 {
		c.delay = 0
	}
	c.failures = append(kept, now)
	if len(c.failures) > budget {
		c.state = StateSuspended
		return 0, false
	}
	c.delay = min(max(backoffFirst, 2*c.delay), backoffMax)
	return c.delay, true
}

func (c *child) schedule(delay time.Duration, restart func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == StateStopped {
		return
	}
	c.restart = time.AfterFunc(delay, restart)
}

// Closed ends what is scheduled.
func (c *child) Closed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = StateStopped
	if c.restart != nil {
		c.restart.Stop()
	}
}

// incarnate makes an instance of the actor: the first one, or the one after a
// panic, which gets its state handed over.
func (c *child) incarnate(produce func(RestartState) actor.Actor) actor.Actor {
	c.mu.Lock()
	previous, suspect := c.instance, c.suspect
	export, age := c.export, time.Since(c.exported)
	c.mu.Unlock()
	var h RestartState
	if s, ok := previous.(Stateful); ok {
		switch {
		case !suspect:
			h.State = s.State()
		case export != nil:
			h.Export = export
			c.system.log.Warn("state replaced by the last save's", "actor", c.cell.Name(), "age", age)
		default:
			c.system.log.Warn("state lost: it may have been half changed, and there is no save", "actor", c.cell.Name())
		}
	}
	instance := produce(h)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.instance, c.broken, c.suspect = instance, false, false
	return instance
}
