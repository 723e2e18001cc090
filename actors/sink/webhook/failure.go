package webhook

import (
	"errors"
	"strings"
	"time"
)

// maxPatience is the longest wait that a receiver can ask for.
const maxPatience = time.Minute

// failure is an attempt that did not deliver.
type failure struct {
	id        string
	cause     error
	permanent bool
	after     time.Duration
}

// Error names the webhook and what happened.
func (f *failure) Error() string { return "webhook " + f.id + ": " + f.cause.Error() }

// Unwrap gives what happened.
func (f *failure) Unwrap() error { return f.cause }

// Permanent reports whether trying again is in vain.
func (f *failure) Permanent() bool { return f.permanent }

// RetryAfter is how long the receiver wants to be left alone.
func (f *failure) RetryAfter() time.Duration { return f.after }

// maxCause is the most of an error of a connection that is told: it may quote what a
// server sent.
const maxCause = 300

// shortened is err with a text of bounded length.
func shortened(err error) error {
	if text := err.Error(); len(text) > maxCause {
		return errors.New(strings.ToValidUTF8(text[:maxCause], "") + " ...")
	}
	return err
}
