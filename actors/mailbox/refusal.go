package mailbox

import (
	"errors"
	"fmt"
	"net/http"
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

// Status is the HTTP status of the refusal.
func (r *Refusal) Status() int {
	switch {
	case errors.Is(r.Reason, ErrFull), errors.Is(r.Reason, ErrTimeout), errors.Is(r.Reason, ErrStopped):
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

// Hint tells an operator what to do, empty when there is nothing to say.
func (r *Refusal) Hint() string {
	switch {
	case errors.Is(r.Reason, ErrFull):
		return "Too many requests wait for this actor; try again in a second."
	case errors.Is(r.Reason, ErrTimeout):
		return "The actor is busy or restarting; see GET /api/v1/actors/" + r.Actor + "."
	case errors.Is(r.Reason, ErrStopped):
		return "The daemon is draining; ask the instance that takes over."
	default:
		return ""
	}
}

// RetryAfter is the number of seconds after which asking again makes sense, 0
// for no advice.
func (r *Refusal) RetryAfter() int {
	if errors.Is(r.Reason, ErrFull) {
		return 1
	}
	return 0
}
