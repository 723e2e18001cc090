package correlate

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
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
	engine *correlation.Engine
	now    int64 // Unix seconds, at the begin of the step

	// The event in hand: its record, and what came of it.
	record  []byte
	fired   []*correlation.Result
	outcome correlation.Outcome

	step, process, undo func() // event, apply and rollback, made once
}

// Produce makes an instance of the actor: the first with the state the stage was
// built with, another with that of the one before it or of the last save.
func (s *Stage) Produce(h actors.RestartState) actor.Actor {
	sh := &shell{Stage: s}
	switch {
	case h.State != nil:
		sh.engine = h.State.(*correlation.Engine)
	case h.Export != nil:
		sh.engine = s.revive(h.Export.(*correlation.View), time.Now().Unix())
	case s.first != nil:
		sh.engine, s.first = s.first, nil
	default:
		sh.engine = s.empty()
	}
	sh.step, sh.process, sh.undo = sh.event, sh.apply, sh.rollback
	s.metrics.groups.Store(int64(sh.engine.Groups()))
	return sh
}

// Detail is what the stage's record shows beside the common members.
type Detail struct {
	CorrelationRules int   `json:"correlation_rules"`
	StateEntries     int   `json:"state_entries"`
	StreamClock      int64 `json:"stream_clock"`
	Quarantined      int64 `json:"quarantined"`
}

// State is handed over to the next instance after a panic that left it whole.
func (s *shell) State() any { return s.engine }

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
		c.Respond(s.engine.Export())
	case actors.Detail:
		c.Respond(Detail{
			CorrelationRules: s.engine.Program().Len(), StateEntries: s.engine.Groups(),
			StreamClock: s.engine.StreamClock(s.now), Quarantined: s.Cell().Quarantined(),
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
	if s.engine.Program().Len() == 0 {
		return nil
	}
	s.exported = s.engine.Revision()
	return s.engine.Export()
}

// batch goes on with b and reports whether it is through.
func (s *shell) batch(run *mailbox.Run[*graph.Batch], b *graph.Batch) bool {
	begin := time.Now()
	if s.begun != b {
		s.begin(b)
		s.merge.took = time.Since(begin)
		begin = begin.Add(s.merge.took)
	}
	counted := s.merge.counting
	through := s.lines(run, b)
	s.merge.sending += time.Since(begin) - (s.merge.counting - counted)
	if through {
		s.end(b)
	}
	return through
}

// lines goes on with the lines of b until all are sent or something else goes
// first.
func (s *shell) lines(run *mailbox.Run[*graph.Batch], b *graph.Batch) (through bool) {
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
	if b.Set != s.set {
		s.set = b.Set
		s.metrics.serve(b.Set)
	}
	s.swap()
	s.merge.begin(b)
	s.metrics.count(b, &s.merge)
	s.begun = b
}

// line sends one line where it goes. Whoever gets it has to settle its token.
func (s *shell) line(b *graph.Batch, i int) {
	line, f := &b.Lines[i], &b.Outcomes[i]
	switch f.Kind {
	case graph.Undecodable:
		s.Reject(graph.DeadLetter{Original: line.Raw, Error: errUndecodable, Stage: string(graph.StageParse), Token: line.Token})
	case graph.Decoded:
		if f.Matches.Len() > 0 {
			if p := s.counted(b, i); p != nil {
				s.Quarantine(line.Raw, line.Token, p)
				return
			}
		}
		if list := s.merge.list(b, i, &s.arenas); list != nil {
			s.next.Push(list)
		} else {
			line.Token.Settle()
		}
	}
}

// counted counts the matches of line i and takes the time.
func (s *shell) counted(b *graph.Batch, i int) error {
	begin := time.Now()
	p := s.correlate(b, i, begin)
	s.merge.counting += time.Since(begin)
	return p
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
	s.metrics.groups.Store(int64(s.engine.Groups()))
	if b.Barrier != nil {
		s.Export(b.Barrier, s.export())
		s.next.Push(&graph.ResultSet{Barrier: b.Barrier})
	}
	if !b.Empty() {
		s.metrics.phases(b, &s.merge)
		s.leaving = append(s.leaving, b.Timing.Taken)
		if s.next.Waiting() == 0 {
			s.left()
		}
	}
	s.merge.end()
	s.begun = nil
	if b.Release != nil {
		b.Release(b)
	}
}
