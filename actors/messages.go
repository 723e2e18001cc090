package actors

import "github.com/sluicehq/sluice/graph"

// Tick is the actor's timer. At most one waits, and it waits while data is held. An
// actor that is not through with one calls Cell.Resume.
type Tick struct{}

// Drain is the last message of an actor: its predecessors have stopped, its lane
// is empty and its workers are idle. The reply is the actor's final export, or
// NoExport. What it still pushes is delivered before the actor stops.
type Drain struct {
	Expired bool // the deadline passed first: what the lane still holds is lost unless it is taken now
}

// NoExport is the reply of an actor that has nothing to save.
type NoExport struct{}

// Detail asks an actor for the members of its detail object (specification part
// 24 section 5.2). The reply is a struct that renders as that object.
type Detail struct{}

// Cut asks parse to send a barrier down the data lanes. The reply is CutMade.
type Cut struct{ Barrier *graph.Barrier }

// CutMade confirms that the barrier is on its way.
type CutMade struct{}

// lifecycle marks messages that are not subject to the capacity of the control lane.
type lifecycle interface{ lifecycle() }

func (Cut) lifecycle() {}
