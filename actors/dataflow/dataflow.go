package dataflow

import (
	"slices"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/alert"
	"github.com/sluicehq/sluice/actors/correlate"
	"github.com/sluicehq/sluice/actors/dispatch"
	"github.com/sluicehq/sluice/actors/enrich"
	"github.com/sluicehq/sluice/actors/evaluate"
	"github.com/sluicehq/sluice/actors/observe"
	"github.com/sluicehq/sluice/actors/parse"
	"github.com/sluicehq/sluice/actors/risk"
	"github.com/sluicehq/sluice/graph"
)

// Dataflow is the stages of a process, each connected with the next. Those that
// somebody outside asks are fields, nil when the process does not run them.
type Dataflow struct {
	Parse     *parse.Stage
	Evaluate  *evaluate.Stage
	Correlate *correlate.Stage

	rows []actors.Feature // from the sinks to the inputs
}

// New builds the stages. They work once they are spawned.
func New(o Options) *Dataflow {
	if o.Stages == nil {
		o.Stages = graph.Stages()
	}
	d := &Dataflow{}
	for _, name := range slices.Backward(o.Stages) {
		d.rows = append(d.rows, d.build(&o, name))
	}
	return d
}

// row is that of a stage that has nothing but its actor.
func row(name graph.Stage, a actors.Actor) actors.Feature {
	return actors.Feature{Name: string(name), Actors: []actors.Actor{a}}
}

// build builds one stage and leaves in o what leads to it. It returns the row of the
// stage.
func (d *Dataflow) build(o *Options, name graph.Stage) actors.Feature {
	common := o.stage(name)
	switch name {
	case graph.StageParse:
		o.Parse.StageOptions, o.Parse.Set, o.Parse.Next, o.Parse.Metrics = common, o.Set, o.Batches, o.Metrics.parse
		d.Parse = parse.New(o.Parse)
		return row(name, d.Parse)
	case graph.StageObserve:
		s := observe.New(common, o.Batches)
		o.Batches = s.Lane()
		return row(name, s)
	case graph.StageEvaluate:
		o.Evaluate.StageOptions, o.Evaluate.Set, o.Evaluate.Next, o.Evaluate.Metrics = common, o.Set, o.Batches, o.Metrics.evaluate
		d.Evaluate = evaluate.New(o.Evaluate)
		o.Batches = d.Evaluate.Lane()
		return row(name, d.Evaluate)
	case graph.StageCorrelate:
		o.Correlate.StageOptions, o.Correlate.Set, o.Correlate.Next, o.Correlate.Metrics = common, o.Set, o.Results, o.Metrics.correlate
		d.Correlate = correlate.New(o.Correlate)
		o.Batches = d.Correlate.Lane()
		return d.Correlate.Feature()
	case graph.StageEnrich:
		s := enrich.New(common, o.Results, o.Metrics.enrich)
		o.Results = s.Lane()
		return row(name, s)
	case graph.StageRisk:
		s := risk.New(common, o.Results)
		o.Results = s.Lane()
		return row(name, s)
	case graph.StageAlert:
		s := alert.New(common, o.Results)
		o.Results = s.Lane()
		return row(name, s)
	default:
		o.Dispatch.StageOptions = common
		s := dispatch.New(o.Dispatch)
		o.Results = s.Lane()
		return row(name, s)
	}
}

// Features are the rows of the stages, those that others lead to first.
func (d *Dataflow) Features() []actors.Feature { return d.rows }

// Spawn starts the stages, those that others lead to first.
func (d *Dataflow) Spawn(s *actors.System) error { return s.SpawnAll(d.rows) }
