package mailbox

import "time"

// Stats are the figures of a cell at one moment. They are read without asking the
// actor, so one that is stuck can be looked at too.
type Stats struct {
	Lane            LaneStats // zero without a data lane
	ControlCapacity int       // messages
	ControlDepth    int
	Batches, Events int64 // processed
	Quarantined     int64
	Workers         int           // at least 1
	Busy            time.Duration // spent processing since the start, summed over the workers
	BusyRatio       float64       // of the last ten seconds, 0 to 1
}

// Stats are the cell's figures.
func (c *Cell) Stats() Stats {
	s := Stats{
		ControlCapacity: controlCapacity,
		Batches:         c.counters.batches.Load(),
		Events:          c.counters.events.Load(),
		Quarantined:     c.counters.quarantined.Load(),
		Workers:         max(1, c.busy.workers),
	}
	s.Busy, s.BusyRatio = c.busy.read(time.Now())
	c.box.mu.Lock()
	defer c.box.mu.Unlock()
	s.ControlDepth = c.box.control.len()
	if c.lane != nil {
		s.Lane = c.lane.stats()
	}
	return s
}

// Resize changes the capacity of the data lane, if there is one. Nothing is
// dropped.
func (c *Cell) Resize(capacity int) {
	if c.lane != nil {
		c.lane.resize(capacity)
	}
}
