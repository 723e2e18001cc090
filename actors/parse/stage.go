package parse

import (
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/sigma/engine"
)

// Options describe the stage. Set, Next, Metrics and Log are required.
type Options struct {
	actors.StageOptions     // the data lane is the input queue
	BatchSize           int // lines, at most
	Workers             int // batches decoded at once; 0 is one per processor
	Format              format.Format
	Zone                *time.Location // of syslog timestamps that name none; nil is UTC
	KeepBOM             bool           // leave a byte order mark at the start of a syslog message
	Set                 *graph.RuleSet
	Next                mailbox.Outlet[*graph.Batch]
	Metrics             *Metrics
	Log                 *slog.Logger
}

// Stage is the stage: what of it outlives a restart of its actor. Only the actor
// touches it, except for the counters and the pool of batches.
type Stage struct {
	actors.Stage[graph.Line]
	o    Options
	pool *mailbox.Pool
	next *mailbox.Outbox[*graph.Batch]

	set      *graph.RuleSet
	epoch    *graph.Epoch
	seq      uint64 // of the next batch
	format   format.Decoder
	decoders []decoder // one per worker

	batches sync.Pool
	metrics *Metrics
}

// decoder is what a worker decodes with.
type decoder struct {
	set    *engine.Set
	worker *engine.Worker
}

// New builds the stage.
func New(o Options) *Stage {
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	s := &Stage{o: o, set: o.Set, epoch: graph.NewEpoch(), decoders: make([]decoder, o.Workers), metrics: o.Metrics}
	s.format = format.Decoder{Format: o.Format, Zone: o.Zone, KeepBOM: o.KeepBOM}
	s.Stage = actors.NewStage(o.StageOptions, actors.Shape[graph.Line]{
		Name: string(graph.StageParse), Size: graph.SizeOfLine, Join: o.BatchSize,
	})
	s.next = mailbox.NewOutbox(s.Cell(), o.Next)
	s.pool = mailbox.NewOrderedPool(s.Cell(), o.Workers)
	s.metrics.depth.Of(s.Cell())
	s.batches.New = func() any { return &graph.Batch{Events: new(engine.Events), Release: s.release} }
	return s
}

// release takes a batch back that nobody needs any more.
func (s *Stage) release(b *graph.Batch) {
	b.Events.Reset()
	graph.ReleaseLines(b.Lines)
	clear(b.Lines) // what they refer to is needed no longer
	*b = graph.Batch{Events: b.Events, Lines: b.Lines[:0], Outcomes: b.Outcomes[:0], Release: b.Release}
	s.batches.Put(b)
}
