package dispatch

import (
	"math"

	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// Queue is the lane of a sink.
type Queue interface {
	mailbox.Outlet[*graph.Bundle]
	// Available is how much can be put at once, for sure as long as nobody else puts
	// anything.
	Available() (units, bytes int)
}

// available is what every sink that blocks has room for. Sets that fit leave together,
// since no sink can be full before the last of them. There is no room while some
// sink has something of ours to take.
type available struct{ units, bytes int }

func (s *shell) available() available {
	r := available{math.MaxInt, math.MaxInt}
	for i := range s.sinks {
		if s.sinks[i].Dropped != nil {
			continue // drops what does not fit
		}
		units, bytes := s.sinks[i].To.Available()
		if s.sinks[i].box.Waiting() > 0 {
			units = 0
		}
		r.units, r.bytes = min(r.units, units), min(r.bytes, bytes)
	}
	return r
}

// take reports whether every sink has room for so much, and counts it.
func (r *available) take(units, bytes int) bool {
	if units > r.units || bytes > r.bytes {
		return false
	}
	r.units -= units
	r.bytes -= bytes
	return true
}
