package parse

import (
	"context"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/sigma/engine"
)

// DeadLetters is the lane of the dead letter queue.
type DeadLetters interface {
	mailbox.Outlet[graph.DeadLetter]
	Put(ctx context.Context, run []graph.DeadLetter) (admitted int, err error)
}

// Options describe the stage. Decoder, Set, Next and Log are required.
type Options struct {
	Capacity    int             // of the data lane, in lines: the input queue
	Bytes       int             // of the data lane
	BatchSize   int             // lines, at most
	Workers     int             // batches decoded at once; 0 is one per processor
	Decoder     *format.Decoder // of lines that are not structured
	Set         *graph.RuleSet
	Next        mailbox.Outlet[*graph.Batch]
	DeadLetters DeadLetters // nil without a dead letter queue
	Log         *slog.Logger
}

// Stage is the stage: what of it outlives a restart of its actor. Only the actor
// touches it, except for the counters and the pool of batches.
type Stage struct {
	o           Options
	cell        *mailbox.Cell
	lane        *mailbox.Lane[graph.Line]
	pool        *mailbox.Pool
	next        *mailbox.Outbox[*graph.Batch]
	deadLetters *mailbox.Outbox[graph.DeadLetter]

	set   *graph.RuleSet
	epoch *graph.Epoch
	seq   uint64         // of the next batch
	steps []*step.Decode // one per worker

	batches     sync.Pool
	parseErrors atomic.Int64
	waited      atomic.Int64 // lines that had to wait for room
	metrics     *Metrics
}

// New builds the stage.
func New(o Options) *Stage {
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	s := &Stage{o: o, set: o.Set, epoch: graph.NewEpoch(), metrics: newMetrics()}
	for range o.Workers {
		s.steps = append(s.steps, step.NewDecode(o.Decoder))
	}
	s.cell = mailbox.NewCell(string(graph.StageParse), actors.KindStage, mailbox.CellOptions{})
	s.lane = mailbox.NewLane(s.cell, mailbox.LaneOptions[graph.Line]{
		Capacity: o.Capacity, Bytes: o.Bytes, Size: graph.SizeOfLine, Join: o.BatchSize,
	})
	s.next = mailbox.NewOutbox(s.cell, o.Next)
	if o.DeadLetters != nil {
		s.deadLetters = mailbox.NewOutbox[graph.DeadLetter](s.cell, o.DeadLetters)
	}
	s.pool = mailbox.NewOrderedPool(s.cell, o.Workers)
	s.batches.New = func() any { return &graph.Batch{Events: new(engine.Events), Release: s.release} }
	return s
}

// Lane is the input queue.
func (s *Stage) Lane() *mailbox.Lane[graph.Line] { return s.lane }

// Cell is the stage's actor.
func (s *Stage) Cell() *mailbox.Cell { return s.cell }

// release takes a batch back that nobody needs any more.
func (s *Stage) release(b *graph.Batch) {
	b.Reset()
	s.batches.Put(b)
}
