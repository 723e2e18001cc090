package dataflow

import (
	"errors"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/alert"
	"github.com/sluicehq/sluice/actors/correlate"
	"github.com/sluicehq/sluice/actors/dispatch"
	"github.com/sluicehq/sluice/actors/enrich"
	"github.com/sluicehq/sluice/actors/evaluate"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/actors/observe"
	"github.com/sluicehq/sluice/actors/parse"
	"github.com/sluicehq/sluice/actors/risk"
	"github.com/sluicehq/sluice/graph"
)

// Options describe the dataflow. Set and Metrics are required.
type Options struct {
	// Stages are the stages of this process: neighbours, in graph order. Nil is all.
	Stages []graph.Stage
	// Batches and Results lead on behind the last of Stages, unless that is dispatch.
	Batches mailbox.Outlet[*graph.Batch]     // behind parse, observe or evaluate
	Results mailbox.Outlet[*graph.ResultSet] // behind correlate to alert

	BufferSize  int            // units of the input queue and of the output queue
	Capacities  map[string]int // units of the lanes that do not have the default, by stage
	Bytes       int            // of the input queue and of the output queue; 0: not bounded
	DeadLetters actors.DeadLetters
	Set         *graph.RuleSet // to begin with
	Open        *graph.Open    // counts the lines; nil makes one
	Metrics     *Metrics

	// What is special to a stage. New fills in its StageOptions, Set, Next and Metrics.
	Parse     parse.Options
	Evaluate  evaluate.Options
	Correlate correlate.Options
	Alert     alert.Options
	Dispatch  dispatch.Options
}

// defaultCapacity is the capacity of a lane between two stages.
const defaultCapacity = 1024

// between is the part of Bytes that each lane between two stages has, so that all of
// them together hold about as much as one queue.
const between = 8

// stage returns what a stage is given: the capacity that is set for it, else the
// buffer size for the lanes that are the input and the output queue, else the
// default, which a small buffer lowers.
func (o *Options) stage(s graph.Stage) actors.StageOptions {
	capacity, bytes := o.BufferSize, o.Bytes
	if s != graph.StageParse && s != graph.StageEnrich {
		capacity, bytes = min(defaultCapacity, o.BufferSize), o.Bytes/between
	}
	if set, ok := o.Capacities[string(s)]; ok {
		capacity = set
	}
	return actors.StageOptions{Capacity: capacity, Bytes: bytes, DeadLetters: o.DeadLetters, Open: o.Open}
}

// Metrics are the series of the stages. They are made before the stages, so that a
// scrape finds them from the start.
type Metrics struct {
	parse     *parse.Metrics
	evaluate  *evaluate.Metrics
	correlate *correlate.Metrics
	enrich    *enrich.Metrics
	alert     *alert.Metrics
}

// NewMetrics registers the series. timed is that of evaluate's Options.
func NewMetrics(reg prometheus.Registerer, timed bool) (*Metrics, error) {
	m := &Metrics{}
	var errs [6]error
	fallbacks, err := correlate.NewFallbacks(reg, timed)
	errs[4] = err
	m.parse, errs[0] = parse.NewMetrics(reg)
	m.evaluate, errs[1] = evaluate.NewMetrics(reg, fallbacks)
	m.correlate, errs[2] = correlate.NewMetrics(reg)
	m.enrich, errs[3] = enrich.NewMetrics(reg)
	m.alert, errs[5] = alert.NewMetrics(reg)
	return m, errors.Join(errs[:]...)
}

// Dataflow is the stages of a process, each connected with the next. Those that
// somebody outside asks are fields, nil when the process does not run them.
type Dataflow struct {
	Parse     *parse.Stage
	Evaluate  *evaluate.Stage
	Correlate *correlate.Stage
	Alert     *alert.Stage

	Open *graph.Open // lines from their admission to their end

	rows []actors.Feature // from the sinks to the inputs
}

// New builds the stages. They work once they are spawned.
func New(o Options) *Dataflow {
	if o.Stages == nil {
		o.Stages = graph.Stages()
	}
	if o.Open == nil {
		o.Open = graph.NewOpen()
	}
	d := &Dataflow{Open: o.Open}
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
		return d.Parse.Feature()
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
		o.Alert.StageOptions, o.Alert.Next, o.Alert.Metrics = common, o.Results, o.Metrics.alert
		d.Alert = alert.New(o.Alert)
		o.Results = d.Alert.Lane()
		return d.Alert.Feature()
	case graph.StageDispatch:
		o.Dispatch.StageOptions = common
		s := dispatch.New(o.Dispatch)
		o.Results = s.Lane()
		return row(name, s)
	}
	panic("no such stage: " + name) // graph.Stages lists one that nobody builds
}

// Features are the rows of the stages, in reverse graph order.
func (d *Dataflow) Features() []actors.Feature { return d.rows }

// Spawn starts the stages, in reverse graph order.
func (d *Dataflow) Spawn(s *actors.System) error { return s.SpawnAll(d.rows) }
