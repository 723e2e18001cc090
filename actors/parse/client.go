package parse

import (
	"context"
	"time"

	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/internal/ratelog"
)

const (
	// stageIngest is the stage of the dead letter of a line that never came in.
	stageIngest = "ingest"
	// errOversize is its error.
	errOversize = "event exceeds maximum size (1048576 bytes)"
)

// Intake is the way into the stage for one kind of producer. It may be used by
// any number of them.
type Intake struct {
	stage    *Stage
	number   uint8 // of the input, in lines
	producer string
	now      func() time.Time
	full     ratelog.Limit
}

// Intake returns the way in for producers of one kind, with the clock of its log
// messages. Their lines have the format of the first input.
func (s *Stage) Intake(producer string, now func() time.Time) *Intake {
	return s.IntakeOf(0, producer, now)
}

// IntakeOf returns the way in for the input with a number.
func (s *Stage) IntakeOf(number int, producer string, now func() time.Time) *Intake {
	return &Intake{stage: s, number: uint8(number), producer: producer, now: now}
}

// Put admits lines in order and waits while the queue is full. It returns how
// many were admitted: all of them, unless ctx ended or the stage is draining.
func (n *Intake) Put(ctx context.Context, run []graph.Line) (admitted int, err error) {
	defer func() { n.stage.Open().Admitted(admitted) }()
	if n.number != 0 {
		for i := range run {
			run[i].Input = n.number
		}
	}
	admitted = n.stage.Lane().TryPut(run)
	if admitted == len(run) {
		return admitted, nil
	}
	if !n.stage.Lane().Closed() { // what is refused does not wait
		waiting := len(run) - admitted
		n.stage.metrics.waited.Add(int64(waiting))
		if held, ok := n.full.Allow("", waiting, n.now()); ok {
			n.stage.o.Log.Warn("input queue full, producer waits", "source", n.producer, "lines", held+waiting)
		}
	}
	more, err := n.stage.Lane().Put(ctx, run[admitted:])
	return admitted + more, err
}

// Oversize counts a line that was too long to come in and shows its excerpt to
// the dead letter queue, which settles token. Without one it is settled at once.
func (n *Intake) Oversize(ctx context.Context, excerpt []byte, token graph.Token) error {
	n.stage.metrics.parseErrors.Add(1)
	kept := n.stage.o.DeadLetters != nil
	n.stage.o.Log.Debug("line exceeds maximum size", "source", n.producer)
	if held, ok := n.stage.loss.Allow("oversize", 1, n.now()); ok {
		attrs := []any{"lines", held + 1, "source", n.producer, "err", errOversize, "outline", format.Outline(excerpt)}
		if !kept {
			attrs = append(attrs, "hint", "--dlq keeps the beginning of such lines")
		}
		n.stage.o.Log.Warn("lines are too long and were refused", attrs...)
	}
	if !kept {
		token.Settle()
		return nil
	}
	_, err := n.stage.o.DeadLetters.Put(ctx, []graph.DeadLetter{{
		Original: excerpt, Error: errOversize, Stage: stageIngest, Token: token,
	}})
	return err
}

// Client asks the stage.
type Client struct{ c *mailbox.Client }

// Client returns a client of the stage, which answers once it is spawned.
func (s *Stage) Client() *Client { return &Client{mailbox.NewClient(s.Cell())} }

// Publish makes set the rule set of every batch from now on.
func (c *Client) Publish(ctx context.Context, set *graph.RuleSet) error {
	_, err := mailbox.Ask[Published](ctx, c.c, Publish{Set: set})
	return err
}

// Cut sends a barrier down the data lanes, behind everything taken so far.
func (c *Client) Cut(ctx context.Context, b *graph.Barrier) error {
	_, err := mailbox.Ask[CutMade](ctx, c.c, Cut{Barrier: b})
	return err
}
