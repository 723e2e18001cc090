package sink

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// Line is a record on its way to a sink of lines.
type Line struct {
	Body []byte // without a line ending
	lost bool
}

// LinesOptions describe a sink of lines. All fields but Bytes are required.
type LinesOptions struct {
	Name      string     // of the actor
	About     graph.Kind // what its messages are
	Kind      Kind
	OnFull    OnFull
	Transport Transport
	Retry     Retry
	BatchMax  int // lines taken at a time
	Capacity  int // of the queue, in lines
	Bytes     int // of the queue
	// Lost is told of each line that is not written, and why. It may come from any
	// goroutine.
	Lost func(err error)
	Log  *slog.Logger
}

// Lines is a sink of records that do not come from the dataflow: a queue, and an
// actor of its own that writes what is in it to one destination, in order, with the
// retries of every sink. It has no series and no dead letters: whoever feeds it is told
// what is lost.
type Lines struct {
	actors.Stage[*Line]
	o                LinesOptions
	pool             *mailbox.Pool
	retrier          retrier[*Line]
	ids              graph.DeliveryIDs
	written, dropped atomic.Int64
}

// NewLines builds a sink of lines. It writes once it is spawned.
func NewLines(o LinesOptions) *Lines {
	l := &Lines{o: o}
	l.Stage = actors.NewStage(actors.StageOptions{Capacity: o.Capacity, Bytes: o.Bytes}, actors.Shape[*Line]{
		Name: o.Name, Kind: actors.KindControl, Join: max(1, o.BatchMax),
		Size: func(line *Line) (units, bytes int) { return 1, len(line.Body) },
	})
	l.pool = mailbox.NewPool(l.Cell(), 1)
	l.retrier = retrier[*Line]{transport: o.Transport, retry: o.Retry, whole: o.Kind.row().unit, report: l.outcomes()}
	return l
}

// Offer gives a line its place in the queue, without waiting. A line that a full queue
// does not take is lost with the policy drop; with the policy block it has its turn
// later. wait, which has to be called, waits for that turn, at most until ctx ends: then
// the line is lost.
func (l *Lines) Offer(body []byte) (wait func(ctx context.Context)) {
	run := []*Line{{Body: body}}
	switch lane := l.Lane(); {
	case lane.TryPut(run) == 1:
		return func(context.Context) {}
	case l.o.OnFull == Drop || lane.Closed():
		l.lose(errQueueFull)
		return func(context.Context) {}
	default:
		turn := lane.Queue(run)
		return func(ctx context.Context) {
			if n, err := turn(ctx); n == 0 {
				l.lose(fmt.Errorf("%w: %w", errQueueFull, err))
			}
		}
	}
}

func (l *Lines) lose(err error) {
	l.dropped.Add(1)
	l.o.Lost(err)
}

// Reopen makes a destination with a path look at it again, as after a rotation.
func (l *Lines) Reopen() { l.o.Transport.Reopen() }

// Close flushes and releases the destination. The actor must have stopped.
func (l *Lines) Close() error {
	if err := l.o.Transport.Close(); err != nil {
		return fmt.Errorf("close sink %s: %w", l.o.Name, err)
	}
	return nil
}

// LinesDetail is what the record of a sink of lines shows beside the common members.
type LinesDetail struct {
	Written int64 `json:"written"`
	Dropped int64 `json:"dropped"` // by a full queue, or given up
}

func (l *Lines) detail() LinesDetail {
	return LinesDetail{Written: l.written.Load(), Dropped: l.dropped.Load()}
}

// outcomes count. They run in the worker.
func (l *Lines) outcomes() outcomes[*Line] {
	lost := func(d *Delivery[*Line], _ int, err error) {
		d.Item.lost = true
		l.lose(err)
	}
	return outcomes[*Line]{
		done: func(ds []Delivery[*Line]) {
			for i := range ds {
				if !ds[i].Item.lost { // one that was parked is done, too
					l.written.Add(1)
				}
			}
		},
		parked: lost, failed: lost,
		retried: func(attempt int, err error) {
			l.o.Log.Debug("delivery retried", "sink", l.o.Name, "attempt", attempt, "err", err)
		},
		partial: func(err error) { l.o.Log.Debug("delivered in part", "sink", l.o.Name, "err", err) },
		panics: func(text string, stack []byte) {
			l.o.Log.Error("delivery panicked", "sink", l.o.Name, "panic", text, "stack", string(stack))
		},
	}
}
