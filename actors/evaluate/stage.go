package evaluate

import (
	"runtime"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/engine"
)

// Options describe the stage. Set, Next and Metrics are required.
type Options struct {
	actors.StageOptions
	Workers int // batches evaluated at once; 0 is one per processor
	Set     *graph.RuleSet
	Timed   bool // events without a time of their own do not reach correlations
	Next    mailbox.Outlet[*graph.Batch]
	Metrics *Metrics
}

// Stage is the stage: what of it outlives a restart of its actor.
type Stage struct {
	actors.Stage[*graph.Batch]
	pool *mailbox.Pool
	next *mailbox.Outbox[*graph.Batch]

	judges  []judge // one per worker
	timed   bool
	set     *graph.RuleSet // of the newest batch seen
	metrics *Metrics
}

// judge is what a worker evaluates with.
type judge struct {
	set      *graph.RuleSet
	worker   *engine.Worker
	matching *matching
}

// New builds the stage.
func New(o Options) *Stage {
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	s := &Stage{
		Stage: actors.NewStage(o.StageOptions, actors.Shape[*graph.Batch]{Name: string(graph.StageEvaluate), Size: graph.SizeOfBatch}),
		set:   o.Set, judges: make([]judge, o.Workers), timed: o.Timed, metrics: o.Metrics,
	}
	s.next = mailbox.NewOutbox(s.Cell(), o.Next)
	s.pool = mailbox.NewOrderedPool(s.Cell(), o.Workers)
	return s
}

// judge returns what a slot judges with by a rule set. Each slot is used by one
// goroutine at a time.
func (s *Stage) judge(slot int, set *graph.RuleSet) *judge {
	j := &s.judges[slot]
	if j.set == nil || !j.set.Same(set) {
		*j = judge{set, set.Engine.NewWorker(), newMatching(set, s.timed)}
	}
	return j
}
