package sink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/ratelog"
)

// DeadLetters is where a sink puts what it could not deliver: the lane of the dead
// letter queue. Put waits for room.
type DeadLetters interface {
	Put(ctx context.Context, run []graph.DeadLetter) (admitted int, err error)
}

// Options describe one sink. Form, Transport, Metrics and Log are required.
type Options struct {
	Label       string
	Kind        Kind
	OnFull      OnFull
	Form        graph.Form
	Transport   Transport
	Retry       Retry
	BatchMax    int           // items of a batch
	Linger      time.Duration // how long a batch waits to fill; 0 for never
	Capacity    int           // of the queue, in items
	Bytes       int           // of the queue, rendered
	DeadLetters DeadLetters   // nil without a dead letter queue
	Metrics     *Metrics
	Log         *slog.Logger
}

// Sink is one destination. Its lane is its queue.
type Sink struct {
	actors.Stage[*graph.Bundle]
	o        Options
	pool     *mailbox.Pool
	retrier  retrier[part]
	counters *counters
	noisy    ratelog.Limit          // retries
	failing  ratelog.Limit          // deliveries given up
	dropping ratelog.Limit          // what found the queue full
	partial  ratelog.Limit          // deliveries of which the destination kept a part
	late     func() context.Context // for dead letters after the end of the drain
}

// New builds a sink. It delivers once it is spawned.
func New(o Options) (*Sink, error) {
	s := &Sink{o: o, late: lateLetters()}
	s.Stage = actors.NewStage(actors.StageOptions{Capacity: o.Capacity, Bytes: o.Bytes}, actors.Shape[*graph.Bundle]{
		Name: "sink:" + o.Label, Kind: actors.KindSink, Size: graph.SizeOfBundle, Join: o.Kind.together(o.BatchMax), Linger: o.Linger,
	})
	s.pool = mailbox.NewPool(s.Cell(), 1)
	s.retrier = retrier[part]{transport: o.Transport, retry: o.Retry, whole: o.Kind.row().unit, most: s.AtOnce(), report: s.outcomes()}
	var err error
	s.counters, err = o.Metrics.of(o.Label, func() float64 {
		stats := s.Lane().Stats()
		return float64(stats.Depth + stats.Parked)
	})
	if err != nil {
		return nil, fmt.Errorf("sink %s: %w", o.Label, err)
	}
	return s, nil
}

// Label is the sink's name in metrics and records.
func (s *Sink) Label() string { return s.o.Label }

// Form is what the sink takes, and how.
func (s *Sink) Form() graph.Form { return s.o.Form }

// Drops reports whether a full queue drops items instead of making dispatch wait.
func (s *Sink) Drops() bool { return s.o.OnFull == Drop }

// Dropped counts an item that found the queue full, and tells it once in a while.
func (s *Sink) Dropped() {
	s.counters.dropped.add()
	if kept, ok := s.dropping.Allow("", 1, time.Now()); ok {
		s.o.Log.Warn("queue full, results dropped", "sink", s.o.Label, "suppressed", kept)
	}
}

// Reopen makes a destination with a path look at it again, as after a rotation.
func (s *Sink) Reopen() { s.o.Transport.Reopen() }

// Close flushes and releases the destination. The actor must have stopped.
func (s *Sink) Close() error {
	if err := s.o.Transport.Close(); err != nil {
		return fmt.Errorf("close sink %s: %w", s.o.Label, err)
	}
	return nil
}

// Detail is what the record of a sink shows beside the common members.
type Detail struct {
	SinkKind         string `json:"sink_kind"`
	OnFull           string `json:"on_full"`
	Retries          int64  `json:"retries"`
	Dropped          int64  `json:"dropped"`
	DeliveryFailures int64  `json:"delivery_failures"`
}

func (s *Sink) detail() Detail { return detailOf(s.o.Kind, s.o.OnFull, s.counters) }

func detailOf(k Kind, f OnFull, c *counters) Detail {
	return Detail{
		SinkKind: string(k), OnFull: string(f),
		Retries: c.retries.total.Load(), Dropped: c.dropped.total.Load(), DeliveryFailures: c.failures.total.Load(),
	}
}

// AtOnce is how many result sets a batch of the sink has, at most.
func (s *Sink) AtOnce() int { return max(1, s.o.BatchMax) }

// begin tries to deliver all sets of bundles, where batches are units. It looks at no
// single set. Bundles of several batches are tried together where the kind has them wait for
// one acknowledgement.
func (s *Sink) begin(ctx context.Context, bundles []*graph.Bundle) attempt {
	c := &s.retrier
	if !c.whole || slices.ContainsFunc(bundles, func(b *graph.Bundle) bool { return b.Faulty }) {
		return attempt{}
	}
	_, writes := s.o.Transport.(LineWriter)
	alone := func(b *graph.Bundle) bool { return writes && len(b.Lines) >= longLines }
	c.begun = 0
	for from, to := 0, 0; from < len(bundles); from = to {
		to = from + 1
		for !alone(bundles[from]) && to < len(bundles) && !alone(bundles[to]) {
			to++
		}
		var lines []byte
		if to-from == 1 {
			c.messages, lines = bundles[from].Messages, bundles[from].Lines
		} else {
			c.forget()
			c.joined = c.joined[:0]
			for _, b := range bundles[from:to] {
				c.joined = append(c.joined, b.Messages...)
			}
			c.messages = c.joined
		}
		n, err := c.offer(ctx, lines)
		if errors.Is(err, errAbandoned) {
			return attempt{err: err} // begun is read by who has taken the batch away
		}
		if c.begun += n; err != nil {
			return attempt{made: true, confirmed: c.begun, err: err}
		}
	}
	for _, b := range bundles {
		b.Ended(0, len(b.Sets))
	}
	return attempt{made: true, all: true}
}

// longLines is the length from which the lines of a bundle are worth a system call of their
// own, rather than a copy.
const longLines = 8 << 10

// outcomes settle tokens and write dead letters. They run in the worker.
func (s *Sink) outcomes() outcomes[part] {
	return outcomes[part]{
		done: func(ds []Delivery[part]) {
			for from, to := 0, 0; from < len(ds); from = to {
				first := ds[from].Item
				for to = from + 1; to < len(ds) && ds[to].Item.of == first.of; to++ {
				}
				first.of.Ended(first.at, first.at+to-from)
			}
		},
		parked: func(d *Delivery[part], attempts int, err error) {
			s.giveUp(d.Item.Rendered, d.Next, d.Next+1, attempts, err)
		},
		failed: func(d *Delivery[part], attempts int, err error) {
			s.giveUp(d.Item.Rendered, d.Next, len(d.Messages), attempts, err)
			d.Item.of.Ended(d.Item.at, d.Item.at+1)
		},
		retried: func(attempt int, err error) {
			s.counters.retries.add()
			if kept, ok := s.noisy.Allow("", 1, time.Now()); ok {
				s.o.Log.Warn("delivery retried", "sink", s.o.Label, "attempt", attempt, "err", err, "suppressed", kept)
			}
		},
		partial: func(err error) {
			s.counters.failures.add()
			if kept, ok := s.partial.Allow("", 1, time.Now()); ok {
				s.o.Log.Warn("delivered in part", "sink", s.o.Label, "err", err, "suppressed", kept)
			}
		},
		panics: func(text string, stack []byte) {
			s.o.Log.Error("delivery panicked", "sink", s.o.Label, "panic", text, "stack", string(stack))
		},
	}
}

// giveUp turns the messages from up to to into a dead letter, which gets a share of
// their token. At the end of the drain the line is late: the source, if it
// can, delivers again, and without a dead letter the line has not ended.
func (s *Sink) giveUp(r *graph.Rendered, from, to, attempts int, err error) {
	r.Token.Retain(1)
	late := errors.Is(err, errDrainTimeout)
	if late {
		r.Token.Late()
	} else {
		s.counters.failures.add()
	}
	if s.o.DeadLetters == nil {
		if kept, ok := s.failing.Allow("", 1, time.Now()); ok {
			s.o.Log.Warn("delivery failed, its results are lost", "sink", s.o.Label, "err", Cause(err), "attempts", attempts, "suppressed", kept, "hint", "--dlq keeps such results")
		}
		if !late {
			s.counters.lost.Add(1)
			r.Token.Settle()
		}
		return
	}
	if !late {
		if kept, ok := s.failing.Allow("", 1, time.Now()); ok {
			s.o.Log.Warn("delivery failed, its results become dead letters", "sink", s.o.Label, "err", Cause(err), "attempts", attempts, "suppressed", kept)
		}
	}
	letter := []graph.DeadLetter{{
		Original: r.AppendOriginal(nil, from, to), Error: Cause(err), Stage: StageDelivery, Sink: s.o.Label, Attempts: attempts, Token: r.Token,
	}}
	ctx := context.Background()
	if late {
		ctx = s.late()
	}
	if n, err := s.o.DeadLetters.Put(ctx, letter); n == 0 && !late { // the end of the drain is told once, with a count
		s.o.Log.Error("dead letter lost", "sink", s.o.Label, "err", err)
	}
}

// lateLetters returns the function whose context ends a moment after its first
// call: all dead letters of the end of the drain share it.
func lateLetters() func() context.Context {
	return sync.OnceValue(func() context.Context {
		ctx, cancel := context.WithTimeout(context.Background(), spillWait/2)
		context.AfterFunc(ctx, cancel)
		return ctx
	})
}
