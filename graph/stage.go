package graph

import "slices"

// Stage names a stage of the dataflow. It is the name of its actor, the stage
// of a dead letter and the key of its part in a save.
type Stage string

// The stages.
const (
	StageParse     Stage = "parse"
	StageObserve   Stage = "observe"
	StageEvaluate  Stage = "evaluate"
	StageCorrelate Stage = "correlate"
	StageEnrich    Stage = "enrich"
	StageRisk      Stage = "risk"
	StageAlert     Stage = "alert"
	StageDispatch  Stage = "dispatch"
)

// Stages lists the stages in graph order: data walks from each to the next, and
// they stop in this order.
func Stages() []Stage {
	return []Stage{
		StageParse, StageObserve, StageEvaluate, StageCorrelate,
		StageEnrich, StageRisk, StageAlert, StageDispatch,
	}
}

// Position is the stage's place in graph order, -1 for a name that is none.
func (s Stage) Position() int { return slices.Index(Stages(), s) }
