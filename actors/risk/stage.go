package risk

import (
	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// Detail is what the stage's record shows beside the common members.
type Detail struct {
	Entities      int   `json:"entities"`
	Contributions int   `json:"contributions"`
	Quarantined   int64 `json:"quarantined"`
}

// New builds the stage. Results pass unchanged.
func New(o actors.StageOptions, next mailbox.Outlet[*graph.ResultSet]) *actors.Pass {
	return actors.NewPass(graph.StageRisk, o, next, func(quarantined int64) any { return Detail{Quarantined: quarantined} })
}
