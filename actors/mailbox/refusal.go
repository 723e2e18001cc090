package mailbox

import (
	"errors"
	"fmt"
)

// Why a question has no answer. A Refusal wraps one of them.
var (
	ErrFull     = errors.New("control mailbox is full")
	ErrTimeout  = errors.New("no answer in time")
	ErrStopped  = errors.New("actor has stopped")
	ErrPanicked = errors.New("request panicked")
	ErrReply    = errors.New("unexpected reply")
)

// Refusal is the error of a question that the actor did not answer. Errors an
// actor answers with are passed on as they are, and are no refusals.
type Refusal struct {
	Actor  string
	Reason error // one of the sentinels above
}

// Error is the text the control API shows.
func (r *Refusal) Error() string {
	switch {
	case errors.Is(r.Reason, ErrFull):
		return fmt.Sprintf("control mailbox of '%s' is full", r.Actor)
	case errors.Is(r.Reason, ErrTimeout):
		return fmt.Sprintf("actor '%s' did not answer in time", r.Actor)
	case errors.Is(r.Reason, ErrStopped):
		return "shutting down"
	default:
		return "internal error"
	}
}

// Unwrap returns the reason.
func (r *Refusal) Unwrap() error { return r.Reason }
