package alert

import (
	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// Detail is what the stage's record shows beside the common members.
type Detail struct {
	Silence      Silences `json:"silence"`
	TailSessions int      `json:"tail_sessions"`
	Quarantined  int64    `json:"quarantined"`
}

// Silences counts the silences the stage knows.
type Silences struct {
	Active int `json:"active"`
	Total  int `json:"total"`
}

// New builds the stage. Results pass unchanged.
func New(o actors.StageOptions, next mailbox.Outlet[*graph.ResultSet]) *actors.Pass {
	return actors.NewPass(graph.StageAlert, o, next, func(quarantined int64) any { return Detail{Quarantined: quarantined} })
}
