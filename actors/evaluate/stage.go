package evaluate

import (
	"runtime"
	"sync/atomic"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/step"
)

// Options describe the stage. Set and Next are required.
type Options struct {
	Capacity    int // of the data lane, in lines
	Bytes       int // of the data lane
	Workers     int // batches evaluated at once; 0 is one per processor
	Set         *graph.RuleSet
	Timed       bool // events without a time of their own do not reach correlations
	Next        mailbox.Outlet[*graph.Batch]
	DeadLetters mailbox.Outlet[graph.DeadLetter] // nil without a dead letter queue
}

// Stage is the stage: what of it outlives a restart of its actor.
type Stage struct {
	cell        *mailbox.Cell
	lane        *mailbox.Lane[*graph.Batch]
	pool        *mailbox.Pool
	next        *mailbox.Outbox[*graph.Batch]
	deadLetters *mailbox.Outbox[graph.DeadLetter]

	steps []*step.Detect // one per worker
	timed bool
	set   *graph.RuleSet // of the newest batch seen

	pruned, unsourced, fallbacks atomic.Uint64
}

// New builds the stage.
func New(o Options) *Stage {
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	s := &Stage{
		cell: mailbox.NewCell(string(graph.StageEvaluate), actors.KindStage, mailbox.CellOptions{}),
		set:  o.Set, timed: o.Timed,
	}
	for range o.Workers {
		s.steps = append(s.steps, step.NewDetect(o.Timed))
	}
	s.lane = mailbox.NewLane(s.cell, mailbox.LaneOptions[*graph.Batch]{
		Capacity: o.Capacity, Bytes: o.Bytes, Size: graph.SizeOfBatch,
	})
	s.next = mailbox.NewOutbox(s.cell, o.Next)
	s.deadLetters = mailbox.NewOutbox(s.cell, o.DeadLetters)
	s.pool = mailbox.NewOrderedPool(s.cell, o.Workers)
	return s
}

// Lane is the stage's input.
func (s *Stage) Lane() *mailbox.Lane[*graph.Batch] { return s.lane }

// Cell is the stage's actor.
func (s *Stage) Cell() *mailbox.Cell { return s.cell }
