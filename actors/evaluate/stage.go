package evaluate

import (
	"runtime"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/step"
)

// Options describe the stage. Set, Next and Metrics are required.
type Options struct {
	actors.StageOptions
	Workers int // batches evaluated at once; 0 is one per processor
	Set     *graph.RuleSet
	Timed   bool // events without a time of their own are not counted over
	Next    mailbox.Outlet[*graph.Batch]
	Metrics *Metrics
}

// Stage is the stage: what of it outlives a restart of its actor.
type Stage struct {
	actors.Stage[*graph.Batch]
	pool *mailbox.Pool
	next *mailbox.Outbox[*graph.Batch]

	steps   []*step.Detect // one per worker
	set     *graph.RuleSet // of the newest batch seen
	metrics *Metrics
}

// New builds the stage.
func New(o Options) *Stage {
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	s := &Stage{
		Stage: actors.NewStage(o.StageOptions, actors.Shape[*graph.Batch]{Name: string(graph.StageEvaluate), Size: graph.SizeOfBatch}),
		set:   o.Set, metrics: o.Metrics,
	}
	for range o.Workers {
		s.steps = append(s.steps, step.NewDetect(o.Timed))
	}
	s.next = mailbox.NewOutbox(s.Cell(), o.Next)
	s.pool = mailbox.NewOrderedPool(s.Cell(), o.Workers)
	return s
}
