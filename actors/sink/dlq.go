package sink

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/ratelog"
)

// DLQOptions describe the dead letter queue. Transport, Metrics and Log are
// required.
type DLQOptions struct {
	Kind      Kind
	Transport Transport
	Retry     Retry
	BatchMax  int
	Capacity  int // of the queue, in records
	Bytes     int // of the queue
	Metrics   *Metrics
	Log       *slog.Logger
}

// DLQ is the dead letter queue: its records are written like a sink's items, and
// a record that cannot be written is logged and lost. Its lane always blocks.
type DLQ struct {
	actors.Stage[graph.DeadLetter]
	o        DLQOptions
	pool     *mailbox.Pool
	retrier  retrier[graph.DeadLetter]
	counters *counters
	losing   ratelog.Limit
	ids      graph.DeliveryIDs
}

// NewDLQ builds the dead letter queue. It writes once it is spawned.
func NewDLQ(o DLQOptions) *DLQ {
	q := &DLQ{o: o, counters: o.Metrics.ofDLQ()}
	q.Stage = actors.NewStage(actors.StageOptions{Capacity: o.Capacity, Bytes: o.Bytes}, actors.Shape[graph.DeadLetter]{
		Name: labelDLQ, Kind: actors.KindSink, Size: graph.SizeOfDeadLetter, Join: max(1, o.BatchMax),
	})
	q.pool = mailbox.NewPool(q.Cell(), 1)
	q.retrier = retrier[graph.DeadLetter]{transport: o.Transport, retry: o.Retry, whole: o.Kind.row().unit, report: q.outcomes()}
	return q
}

// Reopen makes a destination with a path look at it again.
func (q *DLQ) Reopen() { q.o.Transport.Reopen() }

// Close flushes and releases the destination. The actor must have stopped.
func (q *DLQ) Close() error {
	if err := q.o.Transport.Close(); err != nil {
		return fmt.Errorf("close dead letter queue: %w", err)
	}
	return nil
}

func (q *DLQ) outcomes() outcomes[graph.DeadLetter] {
	lost := func(d *Delivery[graph.DeadLetter], attempts int, err error) {
		q.counters.failures.add()
		if kept, ok := q.losing.Allow("", 1, time.Now()); ok {
			q.o.Log.Error("dead letter not written", "stage", d.Item.Stage, "cause", d.Item.Error, "attempts", attempts, "err", err, "suppressed", kept)
		}
		if !errors.Is(err, errDrainTimeout) {
			q.counters.lost.Add(1)
			d.Item.Token.Settle()
		}
	}
	return outcomes[graph.DeadLetter]{
		done: func(ds []Delivery[graph.DeadLetter]) {
			q.counters.written.Add(int64(len(ds)))
			for i := range ds {
				ds[i].Item.Token.Settle()
			}
		},
		parked: func(d *Delivery[graph.DeadLetter], attempts int, err error) {
			d.Item.Token.Retain(1)
			lost(d, attempts, err)
		},
		failed:  lost,
		retried: func(int, error) { q.counters.retries.add() },
		partial: func(err error) {
			q.counters.failures.add()
			if kept, ok := q.losing.Allow("in part", 1, time.Now()); ok {
				q.o.Log.Error("dead letters written in part", "err", err, "suppressed", kept)
			}
		},
		panics: func(text string, stack []byte) {
			q.o.Log.Error("dead letter panicked", "panic", text, "stack", string(stack))
		},
	}
}
