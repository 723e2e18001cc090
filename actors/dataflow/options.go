package dataflow

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/correlate"
	"github.com/sluicehq/sluice/actors/dispatch"
	"github.com/sluicehq/sluice/actors/enrich"
	"github.com/sluicehq/sluice/actors/evaluate"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/actors/parse"
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
	Bytes       int            // of each lane; 0: not bounded
	DeadLetters actors.DeadLetters
	Set         *graph.RuleSet // to begin with
	Metrics     *Metrics

	// What is special to a stage. New fills in its StageOptions, Set, Next and Metrics.
	Parse     parse.Options
	Evaluate  evaluate.Options
	Correlate correlate.Options
	Dispatch  dispatch.Options
}

// defaultCapacity is the capacity of a lane between two stages.
const defaultCapacity = 1024

// stage returns what a stage is given: the capacity that is set for it, else the
// buffer size for the lanes that are the input and the output queue, else the
// default, which a small buffer lowers.
func (o *Options) stage(s graph.Stage) actors.StageOptions {
	capacity, set := o.Capacities[string(s)]
	switch {
	case set:
	case s == graph.StageParse, s == graph.StageEnrich:
		capacity = o.BufferSize
	default:
		capacity = min(defaultCapacity, o.BufferSize)
	}
	return actors.StageOptions{Capacity: capacity, Bytes: o.Bytes, DeadLetters: o.DeadLetters}
}

// Metrics are the series of the stages. They are made before the stages, so that a
// scrape finds them from the start.
type Metrics struct {
	parse     *parse.Metrics
	evaluate  *evaluate.Metrics
	correlate *correlate.Metrics
	enrich    *enrich.Metrics
}

// NewMetrics registers the series. timed is that of evaluate's Options.
func NewMetrics(reg prometheus.Registerer, timed bool) (*Metrics, error) {
	m := &Metrics{}
	var errs [4]error
	m.parse, errs[0] = parse.NewMetrics(reg)
	m.evaluate, errs[1] = evaluate.NewMetrics(reg, timed)
	m.correlate, errs[2] = correlate.NewMetrics(reg)
	m.enrich, errs[3] = enrich.NewMetrics(reg)
	return m, errors.Join(errs[:]...)
}
