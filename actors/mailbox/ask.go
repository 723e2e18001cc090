package mailbox

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

const (
	// AskTimeout bounds a question, whatever its context allows.
	AskTimeout = 5 * time.Second
	// answerGrace is how much longer a question waits that the actor had begun
	// with at the deadline, so that a change that was made is also confirmed.
	answerGrace = 100 * time.Millisecond
)

// Client asks one actor.
type Client struct{ cell *Cell }

// NewClient returns a client of the cell's actor.
func NewClient(c *Cell) *Client { return &Client{c} }

// Name is the actor's name.
func (c *Client) Name() string { return c.cell.name }

// Ask sends a request to the actor's control lane and waits for the reply, for
// five seconds at most, or until ctx is done. An error the actor replies with is
// returned as it is; a question without an answer gives a *Refusal. A request
// whose deadline passed before the actor began with it is never carried out.
func Ask[R any](ctx context.Context, c *Client, request any) (R, error) {
	var none R
	answer, err := c.ask(ctx, request)
	if err != nil {
		return none, err
	}
	switch reply := answer.(type) {
	case *Refusal:
		return none, reply
	case *actor.DeadLetterResponse:
		return none, c.refusal(ErrStopped)
	case error:
		return none, reply
	case R:
		return reply, nil
	default:
		return none, c.refusal(ErrReply)
	}
}

func (c *Client) refusal(reason error) error {
	return &Refusal{Actor: c.cell.name, Reason: reason}
}

func (c *Client) ask(ctx context.Context, request any) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, AskTimeout)
	defer cancel()
	if ctx.Err() != nil { // an actor that is quick would carry it out
		return nil, c.refusal(ErrTimeout)
	}
	inbox, self := c.cell.newInbox()
	defer c.cell.removeInbox(self)
	q := &question{message: request}
	c.cell.runtime.Library.Root.RequestWithCustomSender(c.cell.runtime.PID, q, self)
	select {
	case answer := <-inbox:
		return answer, nil
	case <-ctx.Done():
	}
	if q.abandon() {
		return nil, c.refusal(ErrTimeout)
	}
	grace := time.NewTimer(answerGrace)
	defer grace.Stop()
	select {
	case answer := <-inbox:
		return answer, nil
	case <-grace.C:
	}
	select {
	case answer := <-inbox: // both came while nothing ran here
		return answer, nil
	default:
		return nil, c.refusal(ErrTimeout)
	}
}

// question is a request with a deadline: either the actor takes it or the asker
// abandons it, never both.
type question struct {
	message any
	state   atomic.Int32
}

const (
	questionTaken     = 1
	questionAbandoned = 2
)

func (q *question) take() bool    { return q.state.CompareAndSwap(0, questionTaken) }
func (q *question) abandon() bool { return q.state.CompareAndSwap(0, questionAbandoned) }

// inbox is the process that a reply is sent to: one answer, the first.
type inbox chan any

var _ actor.Process = inbox(nil)

// SendUserMessage takes the answer.
func (in inbox) SendUserMessage(_ *actor.PID, message any) {
	select {
	case in <- actor.UnwrapEnvelopeMessage(message):
	default:
	}
}

// SendSystemMessage ignores what the library tells its processes.
func (in inbox) SendSystemMessage(*actor.PID, any) {}

// Stop does nothing: the asker removes the inbox.
func (in inbox) Stop(*actor.PID) {}

func (c *Cell) newInbox() (inbox, *actor.PID) {
	in := make(inbox, 1)
	registry := c.runtime.Library.ProcessRegistry
	pid, _ := registry.Add(in, "ask"+registry.NextID())
	return in, pid
}

func (c *Cell) removeInbox(pid *actor.PID) { c.runtime.Library.ProcessRegistry.Remove(pid) }
