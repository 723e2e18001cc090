package correlate

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/sigma/correlation"
)

// errUndecodable is the error of the dead letter of a line that did not decode.
const errUndecodable = "parse error"

// Timers are looked at between batches, for a short time at most: a hundred thousand
// of them may be due in the same second.
const (
	pieceOfTick  = 500 * time.Microsecond
	timersAtOnce = 256
)

// shell is the actor: it goes through batches line by line, so that a question
// never waits for more than one.
type shell struct {
	*Stage
	isolate step.Isolate
	now     int64 // Unix seconds, at the begin of the step
}

// Produce makes an instance of the actor: the first with the state the stage was
// built with, another with that of the one before it or of the last save.
func (s *Stage) Produce(h actors.RestartState) actor.Actor {
	switch {
	case h.State != nil:
		s.step.Engine = h.State.(*correlation.Engine)
	case h.Export != nil:
		s.step.Engine = s.revive(h.Export.(*correlation.View), time.Now().Unix())
	case s.first != nil:
		s.step.Engine, s.first = s.first, nil
	default:
		s.step.Engine = s.empty()
	}
	s.metrics.hold(s.step.Engine)
	return &shell{Stage: s, isolate: s.Cell().Isolate()}
}

// Detail is what the stage's record shows beside the common members.
type Detail struct {
	CorrelationRules int   `json:"correlation_rules"`
	StateEntries     int   `json:"state_entries"`
	StreamClock      int64 `json:"stream_clock"`
	Quarantined      int64 `json:"quarantined"`
}

// State is handed over to the next instance after a panic that left it whole.
func (s *shell) State() any { return s.step.Engine }

// Receive ends batches in order.
func (s *shell) Receive(c actor.Context) {
	now := time.Now()
	s.now = now.Unix()
	switch m := c.Message().(type) {
	case *mailbox.Run[*graph.Batch]:
		for b := range m.All() {
			if !s.batch(m, b) {
				return
			}
		}
	case mailbox.Tick:
		for !s.advance(now) {
			if time.Since(now) >= pieceOfTick {
				s.Cell().Resume()
				return
			}
		}
	case Export:
		c.Respond(s.step.Engine.Export())
	case Find:
		c.Respond(Found{s.step.Engine.Page(m.Order, m.From, m.N)})
	case actors.Detail:
		c.Respond(Detail{
			CorrelationRules: s.step.Engine.Program().Len(), StateEntries: s.step.Engine.Groups(),
			StreamClock: s.step.Engine.StreamClock(s.now), Quarantined: s.Cell().Quarantined(),
		})
	case mailbox.Drain:
		s.notices.rest(s.log, now)
		if view := s.export(); view != nil {
			c.Respond(view)
		}
	}
}

// export is what a save keeps of the stage; nil is nothing.
func (s *shell) export() any {
	if s.step.Engine.Program().Len() == 0 {
		return nil
	}
	s.exported = s.step.Engine.Revision()
	return s.step.Engine.Export()
}

// batch goes on with b and reports whether it is through.
func (s *shell) batch(run *mailbox.Run[*graph.Batch], b *graph.Batch) bool {
	begin := time.Now()
	if s.begun != b {
		s.begin(b)
		s.times.merging = time.Since(begin)
		begin = begin.Add(s.times.merging)
	}
	counted := s.times.counting
	through := s.lines(run, b)
	s.times.sending += time.Since(begin) - (s.times.counting - counted)
	if through {
		s.end(b)
	}
	return through
}

// lines goes on with the lines of b until all are sent or something else goes
// first.
func (s *shell) lines(run *mailbox.Run[*graph.Batch], b *graph.Batch) (through bool) {
	defer func() { s.Open().Ended(s.ended); s.ended = 0 }()
	for i := run.Pos(); i < len(b.Lines); i++ {
		s.line(b, i)
		run.SetPos(i + 1)
		if i+1 < len(b.Lines) && run.Urgent() {
			return false
		}
	}
	return true
}

// begin takes a batch over: its rule set, its counts, and room for its lists.
func (s *shell) begin(b *graph.Batch) {
	if b.Seq != s.seq {
		s.log.Error("batch out of order", "batch", b.Seq, "want", s.seq)
	}
	s.seq = b.Seq + 1
	if b.Publication != nil {
		b.Set = b.Publication.Arrive()
	}
	if b.Set != s.set {
		s.set = b.Set
		s.metrics.serve(b.Set)
	}
	begun := s.step.Begin(s.isolate, b, s.now)
	for _, d := range begun.Dropped {
		s.log.Warn("correlation state dropped", "correlation", d.Correlation, "reason", d.Reason, "groups", d.Groups)
		s.metrics.effects.reload.Add(float64(d.Groups))
	}
	s.metrics.count(b, begun, s.now)
	s.times = times{events: begun.Events}
	s.begun = b
}

// line sends one line where it goes. Whoever gets it has to settle its token.
func (s *shell) line(b *graph.Batch, i int) {
	line, f := &b.Lines[i], &b.Outcomes[i]
	switch f.Kind {
	case graph.Undecodable:
		line.Token.Undecoded()
		s.Reject(graph.DeadLetter{Original: line.Raw, Error: errUndecodable, Stage: string(graph.StageParse), Token: s.Open().Token(line.Token)})
	case graph.Decoded:
		if f.Matches.Len() > 0 {
			if err := s.count(b, i); err != nil {
				s.Quarantine(line.Raw, s.Open().Token(line.Token), err)
				return
			}
		}
		switch results := s.step.Merge(b, i); {
		case results != nil:
			results.Token = s.Open().Token(results.Token)
			s.next.Push(results)
		case line.Token.Counts():
			line.Token.Settle()
		default:
			s.ended++
		}
	}
}

// count brings the matches of line i to the correlations, takes the time and says
// what happened.
func (s *shell) count(b *graph.Batch, i int) error {
	begin := time.Now()
	counted, err := s.step.Count(s.isolate, b, i, s.now)
	for j := range counted.Effects {
		o := &counted.Effects[j]
		s.metrics.effects.add(o)
		s.notices.add(o)
		if o.Evicted > 0 {
			s.notices.evicted(s.log, o, s.step.Engine.Limits(), begin)
		}
	}
	for _, f := range counted.Firings {
		s.metrics.fired(f.Result.Rule, s.now)
	}
	s.times.counting += time.Since(begin)
	return err
}

// advance lets go of groups whose time is over: of some, if there are many, and
// reports whether that was all.
func (s *shell) advance(now time.Time) (all bool) {
	var o correlation.Outcome
	s.isolate.Apply(func() { o, all = s.step.Engine.AdvanceSome(now.Unix(), timersAtOnce) })
	s.metrics.effects.add(&o)
	s.metrics.hold(s.step.Engine)
	s.notices.tell(s.log, now)
	return all
}

// left tells how long the batches took that have handed on all of their results.
func (s *Stage) left() {
	now := time.Now()
	for _, taken := range s.leaving {
		s.metrics.latency.Observe(now.Sub(taken).Seconds())
	}
	s.leaving = s.leaving[:0]
}

// end reports the batch and gives it back.
func (s *shell) end(b *graph.Batch) {
	s.metrics.hold(s.step.Engine)
	if b.Barrier != nil {
		s.Export(b.Barrier, s.export())
		s.next.Push(&graph.ResultSet{Barrier: b.Barrier})
	}
	if !b.Empty() {
		s.metrics.phases(b, &s.times)
		s.leaving = append(s.leaving, b.Timing.Taken)
		if s.next.Waiting() == 0 {
			s.left()
		}
	}
	s.step.End()
	s.begun = nil
	if b.Release != nil {
		b.Release(b)
	}
}
