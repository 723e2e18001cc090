package enrich

import (
	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// Detail is what the stage's record shows beside the common members.
type Detail struct {
	Enrichers   int   `json:"enrichers"`
	InFlight    int   `json:"in_flight"`
	Waiting     int   `json:"waiting"`
	Quarantined int64 `json:"quarantined"`
}

// New builds the stage. Results pass unchanged.
func New(o actors.StageOptions, next mailbox.Outlet[*graph.ResultSet], m *Metrics) *actors.Pass {
	p := actors.NewPass(graph.StageEnrich, o, next, func(quarantined int64) any { return Detail{Quarantined: quarantined} })
	m.depth.Of(p.Cell())
	return p
}
