package sink

import (
	"context"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// spillWait is how long after the end of the drain the dead letter queue may
// still take what a worker held.
const spillWait = time.Second

// shell is the actor of a sink, of the dead letter queue and of a sink of lines. It gives runs to
// its one worker, where everything that waits happens.
type shell[T any] struct {
	lane    *mailbox.Lane[T]
	pool    *mailbox.Pool
	retrier *retrier[T]
	open    func(item T, now time.Time) Delivery[T]
	detail  func() any
	leave   func() // tells what was kept back, at the end
	label   string
	log     *slog.Logger
	items   []T
	batch   []Delivery[T] // the worker's while one is working
	working chan struct{} // closed when the batch at hand has ended; nil before the first
}

// delivered is the completion of a batch.
type delivered struct{}

// Produce makes an instance of the actor.
func (s *Sink) Produce(actors.RestartState) actor.Actor {
	return &shell[*graph.Rendered]{
		lane: s.Lane(), pool: s.pool, retrier: &s.retrier, label: s.o.Label, log: s.o.Log,
		open: func(r *graph.Rendered, _ time.Time) Delivery[*graph.Rendered] {
			return Delivery[*graph.Rendered]{Item: r, Messages: r.Messages}
		},
		detail: func() any { return s.detail() },
		leave: func() {
			if kept := s.failing.Rest(""); kept > 0 {
				s.o.Log.Warn("further deliveries failed", "sink", s.o.Label, "count", kept)
			}
			if kept := s.partial.Rest(""); kept > 0 {
				s.o.Log.Warn("further deliveries in part", "sink", s.o.Label, "count", kept)
			}
		},
	}
}

// Produce makes an instance of the actor.
func (q *DLQ) Produce(actors.RestartState) actor.Actor {
	return &shell[graph.DeadLetter]{
		lane: q.Lane(), pool: q.pool, retrier: &q.retrier, label: labelDLQ, log: q.o.Log,
		open: func(d graph.DeadLetter, now time.Time) Delivery[graph.DeadLetter] {
			q.o.Metrics.deadLetters.Inc()
			return Delivery[graph.DeadLetter]{Item: d, Messages: []graph.Message{{
				Envelope: &graph.Envelope{ID: q.ids.Next(), Time: now}, Kind: graph.KindDeadLetter, Body: q.o.Kind.Body(AppendDeadLetter(nil, d, now)),
			}}}
		},
		detail: func() any { return detailOf(q.o.Kind, Block, q.counters) },
		leave: func() {
			if kept := q.losing.Rest("") + q.losing.Rest("in part"); kept > 0 {
				q.o.Log.Error("further dead letters not written", "count", kept)
			}
		},
	}
}

// Produce makes an instance of the actor.
func (l *Lines) Produce(actors.RestartState) actor.Actor {
	return &shell[*Line]{
		lane: l.Lane(), pool: l.pool, retrier: &l.retrier, label: l.o.Name, log: l.o.Log,
		open: func(line *Line, now time.Time) Delivery[*Line] {
			return Delivery[*Line]{Item: line, Messages: []graph.Message{{
				Envelope: &graph.Envelope{ID: l.ids.Next(), Time: now}, Kind: l.o.About, Body: l.o.Kind.Body(line.Body),
			}}}
		},
		detail: func() any { return l.detail() },
		leave:  func() {},
	}
}

// Receive hands on, counts and answers.
func (s *shell[T]) Receive(c actor.Context) {
	now := time.Now()
	switch m := c.Message().(type) {
	case *mailbox.Run[T]:
		s.items = m.TakeInto(s.items[:0])
		s.batch = s.deliveries(s.batch[:0], s.items, now)
		s.start(s.batch)
	case delivered:
		clear(s.batch)
		clear(s.items)
	case actors.Detail:
		c.Respond(s.detail())
	case mailbox.Drain:
		if m.Expired {
			s.spill(now)
		}
		s.leave()
	}
}

func (s *shell[T]) start(batch []Delivery[T]) {
	ended := make(chan struct{})
	s.working = ended
	s.pool.Start(len(batch), func(ctx context.Context, _ int) any {
		s.retrier.deliver(ctx, batch)
		close(ended)
		return delivered{}
	})
}

func (s *shell[T]) deliveries(dst []Delivery[T], items []T, now time.Time) []Delivery[T] {
	for _, item := range items {
		dst = append(dst, s.open(item, now))
	}
	return dst
}

// spill gives up what still waits when the drain is over. It is the one step that
// waits, briefly: the worker has been told to stop, and what it held becomes dead
// letters before anything else does.
func (s *shell[T]) spill(now time.Time) {
	if s.working != nil {
		select {
		case <-s.working:
		case <-time.After(spillWait / 2):
			s.retrier.abandon(s.batch)
		}
	}
	s.retrier.end(s.deliveries(nil, s.lane.Remaining(), now), 0, errDrainTimeout)
	if items := s.retrier.late.Load(); items > 0 {
		s.log.Warn("items left at the end of the drain", "sink", s.label, "items", items)
	}
}
