package sink

import (
	"errors"
	"math/rand/v2"
	"time"
)

// Retry says how often and how patiently a failed delivery is tried again.
type Retry struct {
	Max  int           // retries after the first attempt
	Base time.Duration // before the first retry; doubles with each
	Cap  time.Duration // no wait is longer, unless the destination asks for it

	// Scale is the factor by which the next wait is multiplied, so that sinks that
	// failed together do not try again together. Nil draws from 0.8 to 1.2.
	Scale func() float64
}

// DefaultRetry is the policy without configuration: four attempts, with about
// 100, 200 and 400 ms between them.
func DefaultRetry() Retry {
	return Retry{Max: 3, Base: 100 * time.Millisecond, Cap: 5 * time.Second}
}

// Delay returns the wait before retry number attempt, counted from 1. The
// destination's own delay, carried by err, is a lower bound that is not scaled.
func (r Retry) Delay(attempt int, err error) time.Duration {
	delay := r.Base
	for range attempt - 1 {
		if delay >= r.Cap/2 {
			delay = r.Cap
			break
		}
		delay *= 2
	}
	scale := r.Scale
	if scale == nil {
		scale = func() float64 { return 0.8 + 0.4*rand.Float64() }
	}
	delay = time.Duration(scale() * float64(min(delay, r.Cap)))
	var hint interface{ RetryAfter() time.Duration }
	if errors.As(err, &hint) {
		delay = max(delay, hint.RetryAfter())
	}
	return delay
}

// renderError is a message that the sink's form could not write.
type renderError struct{ error }

func (renderError) Permanent() bool { return true }

// IsPermanent reports whether a delivery error will not go away by trying again.
// A transport says so by an error with the method Permanent() bool.
func IsPermanent(err error) bool {
	var p interface{ Permanent() bool }
	return errors.As(err, &p) && p.Permanent()
}

// Cause is the error text of a dead letter for a delivery that failed with err.
func Cause(err error) string {
	var p *panicError
	switch {
	case errors.As(err, &p):
		return "sink delivery failure: " + p.Error()
	case errors.Is(err, errDrainTimeout):
		return "sink delivery failure: drain timeout"
	case IsPermanent(err):
		return "sink delivery failure: permanent delivery failure: " + err.Error()
	}
	return "sink delivery failure: I/O error: " + err.Error()
}

// errDrainTimeout ends what a sink still held when the drain was over.
var errDrainTimeout = errors.New("drain timeout")

// errQueueFull ends a line that found no room in its queue.
var errQueueFull = errors.New("queue full")

// panicError is a transport that panicked on the same item twice.
type panicError struct{ text string }

func (e *panicError) Error() string   { return "panic: " + e.text }
func (e *panicError) Permanent() bool { return true }
