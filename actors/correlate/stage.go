package correlate

import (
	"bytes"
	"log/slog"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/sigma/correlation"
)

// tick is how often groups are looked at that may have expired.
const tick = time.Second

// Options describe the stage. Set, Next, Metrics and Log are required.
type Options struct {
	actors.StageOptions
	Set     *graph.RuleSet
	Limits  correlation.Limits
	Next    mailbox.Outlet[*graph.ResultSet]
	Metrics *Metrics
	Log     *slog.Logger
}

// Stage is the stage: what of it outlives a restart of its actor.
type Stage struct {
	actors.Stage[*graph.Batch]
	next    *mailbox.Outbox[*graph.ResultSet]
	ended   int // lines that nobody waits for, since they were last counted
	log     *slog.Logger
	metrics *Metrics

	limits correlation.Limits
	first  *correlation.Engine // of the first instance of the actor

	exported uint64 // revision of the last export
	seq      uint64 // of the next batch
	set      *graph.RuleSet
	begun    *graph.Batch // in hand, and counted
	leaving  []time.Time  // when the batches were taken whose results are on their way
	times    times        // of it
	step     *step.Correlate
	notices  notices
}

// times say where the time of the batch in hand went.
type times struct {
	events   int           // decoded and evaluated
	merging  time.Duration // preparing to merge results
	counting time.Duration // correlations
	sending  time.Duration // dispatch, interruptions and correlations excluded
}

// New builds the stage.
func New(o Options) *Stage {
	s := &Stage{
		Stage: actors.NewStage(o.StageOptions, actors.Shape[*graph.Batch]{
			Name: string(graph.StageCorrelate), Size: graph.SizeOfBatch, Tick: tick,
		}),
		log: o.Log, metrics: o.Metrics, set: o.Set, limits: o.Limits,
	}
	s.next = mailbox.NewOutbox(s.Cell(), o.Next)
	s.next.OnSent(s.left)
	s.first = s.empty()
	s.step = step.NewCorrelate(s.first)
	s.metrics.serve(o.Set)
	return s
}

// Groups is the number of live groups over all correlations. It may be called
// from any goroutine.
func (s *Stage) Groups() int { return int(s.metrics.groups.Load()) }

// empty returns an engine without state.
func (s *Stage) empty() *correlation.Engine {
	e := correlation.New(step.Program(s.set), s.limits)
	e.ContinueRevision(s.exported)
	return e
}

// revive returns an engine with the state of a view.
func (s *Stage) revive(v *correlation.View, now int64) *correlation.Engine {
	e := s.empty()
	var saved bytes.Buffer
	err := v.Encode(&saved, now)
	if err == nil {
		_, err = e.Restore(&saved, now)
	}
	if err != nil {
		s.log.Warn("correlation state lost", "err", err)
	}
	return e
}
