package actors

import (
	"time"

	"github.com/sluicehq/sluice/actors/mailbox"
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
	Kind             mailbox.Kind  `json:"kind"`
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

// Detail asks an actor for the members of its record that no other actor has. The
// reply is a struct that renders as that object.
type Detail struct{}

// MailboxRecord describes the lanes of an actor.
type MailboxRecord struct {
	Capacity            int     `json:"capacity"`
	Depth               int     `json:"depth"`
	HighWatermark       int     `json:"high_watermark"`
	ControlCapacity     int     `json:"control_capacity"`
	ControlDepth        int     `json:"control_depth"`
	BlockedSecondsTotal float64 `json:"blocked_seconds_total"`
}

// record makes the actor's record.
func (c *child) record() Record {
	stats := c.cell.Stats()
	r := Record{
		Name: c.cell.Name(), Kind: c.cell.Kind(), Parent: parentOf(c.cell.Kind()),
		Mailbox: MailboxRecord{
			Capacity: stats.Lane.Capacity, Depth: stats.Lane.Depth, HighWatermark: stats.Lane.HighWatermark,
			ControlCapacity: stats.ControlCapacity, ControlDepth: stats.ControlDepth,
			BlockedSecondsTotal: stats.Lane.Blocked.Seconds(),
		},
		BatchesProcessed: stats.Batches, EventsProcessed: stats.Events,
		BusyRatio: stats.BusyRatio, Workers: stats.Workers,
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r.State, r.LastError, r.Restarts = c.state, c.lastError, c.restarts
	if !c.lastRestart.IsZero() {
		at := c.lastRestart.UTC().Truncate(time.Second)
		r.LastRestart = &at
	}
	return r
}
