package dispatch

import (
	"math"

	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// Queue is the lane of a sink.
type Queue interface {
	mailbox.Outlet[*graph.Item]
	// Room is how much can be put at once, for sure as long as nobody else puts
	// anything.
	Room() (units, bytes int)
}

// room is what every sink that blocks has room for: items that fit leave together, since no
// sink can be full before the last of them. It is nothing while some sink has
// items of ours to take.
type room struct{ units, bytes int }

func (s *shell) room() room {
	r := room{math.MaxInt, math.MaxInt}
	for i := range s.sinks {
		if s.sinks[i].box == nil {
			continue // drops what does not fit
		}
		units, bytes := s.sinks[i].To.Room()
		if s.sinks[i].box.Waiting() > 0 {
			units = 0
		}
		r.units, r.bytes = min(r.units, units), min(r.bytes, bytes)
	}
	return r
}

// take reports whether the item fits, and counts it.
func (r *room) take(i *graph.Item) bool {
	units, bytes := graph.SizeOfItem(i)
	if units > r.units || bytes > r.bytes {
		return false
	}
	r.units -= units
	r.bytes -= bytes
	return true
}
