package actors

import (
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// State is what an operator sees of an actor's life.
type State string

// The states.
const (
	StateRunning    State = "running"
	StateRestarting State = "restarting" // from a panic to the new instance, back-off included
	StateSuspended  State = "suspended"  // its restart budget is used up
	StateStopped    State = "stopped"    // drained
)

// Record describes an actor from outside: it is made without asking the actor,
// so one that is stuck can be looked at too.
type Record struct {
	Name             string        `json:"name"`
	Kind             Kind          `json:"kind"`
	Parent           string        `json:"parent"`
	State            State         `json:"state"`
	Mailbox          MailboxRecord `json:"mailbox"`
	BatchesProcessed int64         `json:"batches_processed"`
	EventsProcessed  int64         `json:"events_processed"`
	Restarts         int64         `json:"restarts"`
	LastRestart      *time.Time    `json:"last_restart,omitempty"`
	LastError        string        `json:"last_error,omitempty"`
	BusyRatio        float64       `json:"busy_ratio"`
	Workers          int           `json:"workers"`
}

// MailboxRecord describes the lanes of an actor.
type MailboxRecord struct {
	Capacity            int     `json:"capacity"`
	Depth               int     `json:"depth"`
	HighWatermark       int     `json:"high_watermark"`
	ControlCapacity     int     `json:"control_capacity"`
	ControlDepth        int     `json:"control_depth"`
	BlockedSecondsTotal float64 `json:"blocked_seconds_total"`
}

// lifeRecord is what the supervisor knows of a cell.
type lifeRecord struct {
	repeats repeats

	mu          sync.Mutex // guards the rest
	state       State
	broken      bool // panicked, and no new instance has replied since
	suspect     bool // the state at the last panic may be half changed
	lastRestart time.Time
	lastError   string
	failures    []time.Time // within the restart window
	delay       time.Duration
	restart     *time.Timer
	export      any // of the save that is current
	exported    time.Time
	instance    actor.Actor
}

// record makes the cell's record.
func (c *Cell) record(now time.Time) Record {
	r := Record{
		Name: c.name, Kind: c.kind, Parent: c.kind.parent(),
		BatchesProcessed: c.counters.batches.Load(),
		EventsProcessed:  c.counters.events.Load(),
		Restarts:         c.counters.restarts.Load(),
		Workers:          max(1, c.busy.workers),
	}
	_, r.BusyRatio = c.busy.read(now)
	r.Mailbox.ControlCapacity = controlCapacity
	c.box.mu.Lock()
	r.Mailbox.ControlDepth = c.box.control.len()
	if c.lane != nil {
		s := c.lane.stats()
		r.Mailbox.Capacity, r.Mailbox.Depth, r.Mailbox.HighWatermark = s.Capacity, s.Depth, s.HighWatermark
		r.Mailbox.BlockedSecondsTotal = s.Blocked.Seconds()
	}
	c.box.mu.Unlock()
	c.life.mu.Lock()
	defer c.life.mu.Unlock()
	r.State, r.LastError = c.life.state, c.life.lastError
	if !c.life.lastRestart.IsZero() {
		at := c.life.lastRestart.UTC().Truncate(time.Second)
		r.LastRestart = &at
	}
	return r
}
