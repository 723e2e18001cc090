package evaluate

import (
	"log/slog"
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
	// Log is told once when most results come from rules of products that the events
	// cannot be from, and once when the rules do not look at the fields that events have.
	// Nil looks for nothing.
	Log *slog.Logger
}

// enoughResults is how many results there are before it is said where they come from.
const enoughResults = 100

// enoughEvents is how many events there are before it is said that the rules do not
// look at their fields.
const enoughEvents = 100

// Stage is the stage: what of it outlives a restart of its actor.
type Stage struct {
	actors.Stage[*graph.Batch]
	pool *mailbox.Pool
	next *mailbox.Outbox[*graph.Batch]

	steps   []*step.Detect // one per worker
	set     *graph.RuleSet // of the newest batch seen
	metrics *Metrics
	log     *slog.Logger
	origins *step.Origins // nil without log
	shapes  *step.Shapes  // likewise
}

// New builds the stage.
func New(o Options) *Stage {
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	s := &Stage{
		Stage: actors.NewStage(o.StageOptions, actors.Shape[*graph.Batch]{Name: string(graph.StageEvaluate), Size: graph.SizeOfBatch}),
		set:   o.Set, metrics: o.Metrics, log: o.Log,
	}
	if o.Log != nil {
		s.origins, s.shapes = &step.Origins{Least: enoughResults}, &step.Shapes{Least: enoughEvents}
	}
	for range o.Workers {
		d := step.NewDetect(o.Timed)
		d.Watch(s.origins, s.shapes)
		s.steps = append(s.steps, d)
	}
	s.next = mailbox.NewOutbox(s.Cell(), o.Next)
	s.pool = mailbox.NewOrderedPool(s.Cell(), o.Workers)
	return s
}
