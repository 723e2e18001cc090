package parse

import "github.com/sluicehq/sluice/graph"

// Publish asks the stage to stamp the batches from now on with Set. An empty
// batch carries it through an idle graph. The reply is Published.
type Publish struct{ Set *graph.RuleSet }

// Published confirms that no later batch has an older rule set.
type Published struct{}

// Detail is what the stage's record shows beside the common members.
type Detail struct {
	BatchSize   int   `json:"batch_size"`
	ParseErrors int64 `json:"parse_errors"`
	Quarantined int64 `json:"quarantined"`
}

// Cut asks the stage to send a barrier down the data lanes, behind everything taken
// so far. It comes in even when the control lane is full. The reply is CutMade.
type Cut struct{ Barrier *graph.Barrier }

// Lifecycle marks the request for its mailbox.
func (Cut) Lifecycle() {}

// CutMade confirms that the barrier is on its way.
type CutMade struct{}
