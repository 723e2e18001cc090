package sink

import (
	"context"
	"errors"
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

// shell is the actor of a sink, whose lane has elements T, of the dead letter queue and of a
// sink of lines. It gives runs to its one worker, where everything that waits happens.
type shell[T, D any] struct {
	lane    *mailbox.Lane[T]
	pool    *mailbox.Pool
	retrier *retrier[D]
	open    func(dst []Delivery[D], element T, now time.Time) []Delivery[D]
	units   func(element T) int
	begin   func(ctx context.Context, elements []T) attempt // the first one at all of them; nil for none
	release func(elements []T)                              // nobody needs them any more
	detail  func() any
	leave   func() // tells what was kept back, at the end
	label   string
	log     *slog.Logger

	items   []T           // the worker's while one is working
	batch   []Delivery[D] // of them, as soon as they are told apart
	job     mailbox.Job   // delivers them
	working bool          // since the first batch
	ended   chan struct{} // has an element when the batch at hand has ended
}

// part is a set of a bundle, which ends by itself.
type part struct {
	*graph.Rendered
	of *graph.Bundle
	at int
}

// Produce makes an instance of the actor.
func (s *Sink) Produce(actors.RestartState) actor.Actor {
	return &shell[*graph.Bundle, part]{
		lane: s.Lane(), pool: s.pool, retrier: &s.retrier, label: s.o.Label, log: s.o.Log,
		open: func(dst []Delivery[part], b *graph.Bundle, _ time.Time) []Delivery[part] {
			for i := range b.Sets {
				dst = append(dst, Delivery[part]{Item: part{&b.Sets[i], b, i}, Messages: b.Sets[i].Messages})
			}
			return dst
		},
		units: func(b *graph.Bundle) int { return len(b.Sets) },
		begin: s.begin,
		release: func(bundles []*graph.Bundle) {
			for _, b := range bundles {
				b.Release()
			}
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
	return &shell[graph.DeadLetter, graph.DeadLetter]{
		lane: q.Lane(), pool: q.pool, retrier: &q.retrier, label: labelDLQ, log: q.o.Log,
		open: func(dst []Delivery[graph.DeadLetter], d graph.DeadLetter, now time.Time) []Delivery[graph.DeadLetter] {
			q.o.Metrics.deadLetters.Inc()
			return append(dst, Delivery[graph.DeadLetter]{Item: d, Messages: []graph.Message{{
				Envelope: &graph.Envelope{ID: q.ids.Next(), Time: now}, Kind: graph.KindDeadLetter, Body: q.o.Kind.Body(AppendDeadLetter(nil, d, now)),
			}}})
		},
		units:   func(graph.DeadLetter) int { return 1 },
		release: func([]graph.DeadLetter) {},
		detail:  func() any { return detailOf(q.o.Kind, Block, q.counters) },
		leave: func() {
			if kept := q.losing.Rest("") + q.losing.Rest("in part"); kept > 0 {
				q.o.Log.Error("further dead letters not written", "count", kept)
			}
		},
	}
}

// Produce makes an instance of the actor.
func (l *Lines) Produce(actors.RestartState) actor.Actor {
	return &shell[*Line, *Line]{
		lane: l.Lane(), pool: l.pool, retrier: &l.retrier, label: l.o.Name, log: l.o.Log,
		open: func(dst []Delivery[*Line], line *Line, now time.Time) []Delivery[*Line] {
			return append(dst, Delivery[*Line]{Item: line, Messages: []graph.Message{{
				Envelope: &graph.Envelope{ID: l.ids.Next(), Time: now}, Kind: l.o.About, Body: l.o.Kind.Body(line.Body),
			}}})
		},
		units:   func(*Line) int { return 1 },
		release: func([]*Line) {},
		detail:  func() any { return l.detail() },
		leave:   func() {},
	}
}

// Receive hands on, counts and answers.
func (s *shell[T, D]) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *mailbox.Run[T]:
		s.items = m.TakeInto(s.items[:0])
		s.start()
	case actors.Detail:
		c.Respond(s.detail())
	case mailbox.Drain:
		if m.Expired {
			s.spill(time.Now())
		}
		s.leave()
	}
}

// start gives what is in hand to the worker.
func (s *shell[T, D]) start() {
	if s.batch = s.batch[:0]; s.job == nil {
		s.job, s.ended = s.deliver, make(chan struct{}, 1)
	} else {
		select {
		case <-s.ended: // of the batch before
		default:
		}
	}
	s.working = true
	units := 0
	for i := range s.items {
		units += s.units(s.items[i])
	}
	s.pool.Start(units, s.job)
}

// deliver is the job of the worker.
func (s *shell[T, D]) deliver(ctx context.Context, _ int) any {
	if s.work(ctx) {
		s.retrier.forget()
		s.release(s.items)
		clear(s.batch)
		clear(s.items)
	}
	s.ended <- struct{}{}
	return nil
}

// work delivers what is in hand. It tells items apart only if they do not end all at once,
// and reports false when they were taken away meanwhile.
func (s *shell[T, D]) work(ctx context.Context) bool {
	var first attempt
	if len(s.batch) == 0 { // else they were told apart before a panic
		if s.begin != nil && ctx.Err() == nil {
			if first = s.begin(ctx, s.items); first.all || errors.Is(first.err, errAbandoned) {
				return first.all
			}
		}
		s.batch = s.deliveries(s.batch, s.items, time.Now())
	}
	return s.retrier.deliver(ctx, s.batch, first)
}

func (s *shell[T, D]) deliveries(dst []Delivery[D], elements []T, now time.Time) []Delivery[D] {
	for _, e := range elements {
		dst = s.open(dst, e, now)
	}
	return dst
}

// spill gives up what still waits when the drain is over. It is the one step that
// waits, briefly: the worker has been told to stop, and what it held becomes dead
// letters before anything else does.
func (s *shell[T, D]) spill(now time.Time) {
	if s.working {
		select {
		case <-s.ended:
		case <-time.After(spillWait / 2):
			s.retrier.abandon(func() []Delivery[D] {
				if len(s.batch) == 0 {
					s.batch = s.deliveries(s.batch, s.items, now)
					advance(s.batch, s.retrier.begun)
				}
				return s.batch
			})
		}
	}
	s.retrier.end(s.deliveries(nil, s.lane.Remaining(), now), 0, errDrainTimeout)
	if items := s.retrier.late.Load(); items > 0 {
		s.log.Warn("items left at the end of the drain", "sink", s.label, "items", items)
	}
}
