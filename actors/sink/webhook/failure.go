package webhook

import (
	"errors"
	"net/http"
	"strconv"
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

// retryAfter reads the header of that name, in seconds or as a date. What cannot be read
// asks for nothing.
func retryAfter(text string, now time.Time) time.Duration {
	text = strings.Trim(text, " \t")
	if text == "" {
		return 0
	}
	if strings.Trim(text, "0123456789") == "" {
		seconds, err := strconv.Atoi(text)
		if err != nil || seconds > int(maxPatience/time.Second) {
			return maxPatience
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), maxPatience)
}

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
