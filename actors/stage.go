package actors

import (
	"bytes"
	"context"
	"time"

	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// StageOptions are what every stage is given.
type StageOptions struct {
	Capacity    int         // of the data lane, in units of its elements
	Bytes       int         // of the data lane; 0: not bounded
	DeadLetters DeadLetters // nil without a dead letter queue
	Open        *graph.Open // counts lines; nil for nobody
}

// DeadLetters is the lane of the dead letter queue.
type DeadLetters interface {
	mailbox.Outlet[graph.DeadLetter]
	Put(ctx context.Context, run []graph.DeadLetter) (admitted int, err error)
}

// Shape is what tells the actor of one stage from that of another.
type Shape[T any] struct {
	Name   string
	Kind   mailbox.Kind               // KindStage unless set
	Size   func(T) (units, bytes int) // nil: one unit, no bytes
	Join   int                        // units joined into one run at most; 0: each element is a run
	Linger time.Duration              // how long a run that is not full waits for more; 0: never
	Tick   time.Duration              // 0: no ticks
}

// runBytes bounds what an actor takes in hand at once: no lane counts it any more.
const runBytes = 1 << 20

// Stage is what the stages have in common, and what of a stage outlives a restart of
// its actor. Only the actor touches it, except for Lane and Cell.
type Stage[T any] struct {
	cell        *mailbox.Cell
	lane        *mailbox.Lane[T]
	deadLetters *mailbox.Outbox[graph.DeadLetter]
	open        *graph.Open
}

// NewStage builds a stage. The caller attaches outboxes and a pool to its Cell.
func NewStage[T any](o StageOptions, s Shape[T]) Stage[T] {
	if s.Kind == "" {
		s.Kind = KindStage
	}
	cell := mailbox.NewCell(s.Name, s.Kind, mailbox.CellOptions{Tick: s.Tick})
	lane := mailbox.NewLane(cell, mailbox.LaneOptions[T]{
		Capacity: o.Capacity, Bytes: o.Bytes, Size: s.Size, Join: s.Join, JoinBytes: runBytes, Linger: s.Linger,
	})
	return Stage[T]{cell, lane, mailbox.NewOutbox[graph.DeadLetter](cell, o.DeadLetters), o.Open}
}

// Lane is the stage's input.
func (s *Stage[T]) Lane() *mailbox.Lane[T] { return s.lane }

// Cell is the stage's actor.
func (s *Stage[T]) Cell() *mailbox.Cell { return s.cell }

// Open counts lines; it may be nil.
func (s *Stage[T]) Open() *graph.Open { return s.open }

// Export hands in the state of the stage when a barrier passes. view is nil for a
// stage without state. A nil barrier is none.
func (s *Stage[T]) Export(b *graph.Barrier, view any) {
	if b != nil {
		b.Export(graph.Stage(s.cell.Name()), view)
	}
}

// Reject moves a line, of which it copies the bytes, to the dead letter queue.
// Without a queue the line is lost and settled.
func (s *Stage[T]) Reject(d graph.DeadLetter) {
	if s.deadLetters == nil {
		d.Token.Settle()
		return
	}
	d.Original = bytes.Clone(d.Original)
	s.deadLetters.Push(d)
}

// Quarantine rejects a line whose step panicked twice, with what mailbox.Isolate
// gave as the cause.
func (s *Stage[T]) Quarantine(original []byte, t graph.Token, cause error) {
	s.Reject(graph.DeadLetter{Original: original, Error: cause.Error(), Stage: s.cell.Name(), Token: t})
}
