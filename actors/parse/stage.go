package parse

import (
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/filter"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/internal/ratelog"
	"github.com/sluicehq/sluice/sigma/engine"
)

// Input is where lines come from.
type Input struct {
	Source  string          // as log lines name it
	Decoder *format.Decoder // of lines that are not structured
	Own     bool            // the format is that of the input, whatever --input-format says
}

// setting is what changes the format of the input.
func (in *Input) setting() string {
	if in.Own {
		return "?format= of this input"
	}
	return "--input-format"
}

// Options describe the stage. Inputs, Set, Next, Metrics and Log are required.
type Options struct {
	actors.StageOptions         // the data lane is the input queue
	BatchSize           int     // lines, at most
	Workers             int     // batches decoded at once; 0 is one per processor
	Inputs              []Input // by the number that lines have
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

	set   *graph.RuleSet
	epoch *graph.Epoch
	seq   uint64             // of the next batch
	last  *graph.Publication // the batch before, nil when that is another one
	steps []*step.Decode     // one per worker
	doubt ratelog.Limit      // of warnings about suspects
	loss  ratelog.Limit      // of warnings about lines that were not read
	cut   ratelog.Limit      // of warnings about lines that the event filter has cut short

	filter *filter.Filter // of all inputs; nil when there is none
	kept   time.Time      // when there was an event behind the filter last
	barren ratelog.Limit  // of warnings that it leaves nothing

	batches sync.Pool
	metrics *Metrics
}

// doubtPause is how often at most a warning tells of lines that look like broken JSON, and
// of lines that could not be decoded.
const doubtPause = time.Minute

// New builds the stage.
func New(o Options) *Stage {
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	s := &Stage{o: o, set: o.Set, epoch: graph.NewEpoch(o.Open), metrics: o.Metrics, doubt: ratelog.Limit{Every: doubtPause}, loss: ratelog.Limit{Every: doubtPause}, cut: ratelog.Limit{Every: doubtPause}, barren: ratelog.Limit{Every: doubtPause}}
	decoders := make([]*format.Decoder, 0, len(o.Inputs))
	for _, in := range o.Inputs {
		decoders = append(decoders, in.Decoder)
		if in.Decoder != nil && in.Decoder.Filter != nil {
			s.filter = in.Decoder.Filter
		}
	}
	for range o.Workers {
		s.steps = append(s.steps, step.NewDecode(decoders...))
	}
	s.Stage = actors.NewStage(o.StageOptions, actors.Shape[graph.Line]{
		Name: string(graph.StageParse), Size: graph.SizeOfLine, Join: o.BatchSize,
	})
	s.next = mailbox.NewOutbox(s.Cell(), o.Next)
	s.pool = mailbox.NewOrderedPool(s.Cell(), o.Workers)
	s.metrics.depth.Of(s.Cell())
	s.batches.New = func() any { return &graph.Batch{Events: new(engine.Events), Release: s.release} }
	return s
}

// Feature is the row of the stage.
func (s *Stage) Feature() actors.Feature {
	return actors.Feature{Name: string(graph.StageParse), Actors: []actors.Actor{s}, Status: func() []actors.Member {
		return []actors.Member{{Name: "parse_errors", Value: s.ParseErrors()}}
	}}
}

// ParseErrors is how many lines could not be decoded or were too long.
func (s *Stage) ParseErrors() int64 { return s.metrics.parseErrors.Load() }

// release takes a batch back that nobody needs any more.
func (s *Stage) release(b *graph.Batch) {
	b.Reset()
	s.batches.Put(b)
}
