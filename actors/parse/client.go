package parse

import (
	"context"
	"sync"
	"time"

	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

const (
	// stageIngest is the stage of the dead letter of a line that never came in.
	stageIngest = "ingest"
	// errOversize is its error.
	errOversize = "event exceeds maximum size (1048576 bytes)"
	logEvery    = 10 * time.Second
)

// Intake is the way into the stage for one kind of producer. It may be used by
// any number of them.
type Intake struct {
	stage    *Stage
	producer string

	mu   sync.Mutex // guards the rest
	next time.Time  // when the next message may be logged
	kept int        // lines that waited and are not logged yet
}

// Intake returns the way in for producers of one kind.
func (s *Stage) Intake(producer string) *Intake { return &Intake{stage: s, producer: producer} }

// Put admits lines in order and waits while the queue is full. It returns how
// many were admitted: all of them, unless ctx ended or the stage is draining.
func (n *Intake) Put(ctx context.Context, run []graph.Line) (admitted int, err error) {
	admitted = n.stage.Lane().TryPut(run)
	if admitted == len(run) {
		return admitted, nil
	}
	if !n.stage.Lane().Closed() { // what is refused does not wait
		n.stage.metrics.waited.Add(int64(len(run) - admitted))
		n.limited(len(run) - admitted)
	}
	more, err := n.stage.Lane().Put(ctx, run[admitted:])
	return admitted + more, err
}

// Oversize counts a line that was too long to come in and shows its excerpt to
// the dead letter queue, which settles token. Without one it is settled at once.
func (n *Intake) Oversize(ctx context.Context, excerpt []byte, token graph.Token) error {
	n.stage.metrics.parseErrors.Add(1)
	if n.stage.o.DeadLetters == nil {
		n.stage.o.Log.Debug("line exceeds maximum size", "source", n.producer)
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
