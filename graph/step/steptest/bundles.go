package steptest

import (
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/step"
)

// Bundles renders a set that is not long, as dispatch does one that comes alone. It
// returns the bundle of each sink, nil for one whose form takes nothing of it. When that is
// so for all, the line ends.
func Bundles(r *step.Render, set *graph.ResultSet, id graph.DeliveryID, now time.Time) []*graph.Bundle {
	r.Close()
	takers, _ := r.Piece(set, 0, id, now)
	if takers == 0 {
		set.Token.Settle()
	} else {
		set.Token.Retain(takers - 1)
	}
	r.Add(set.Token)
	bundles := make([]*graph.Bundle, r.Sinks())
	for i := range bundles {
		bundles[i] = r.Begun(i)
	}
	return bundles
}
