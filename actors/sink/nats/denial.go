package nats

import (
	"errors"
	"strings"

	"github.com/nats-io/nats.go"
)

// denial is a subject that the server does not let us publish to. It does not say which
// message that was.
type denial struct {
	subject string // empty when the server does not name it: it may be any
	err     error
}

// refused takes note of what the server does not let us publish.
func (t *Transport) refused(err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return
	}
	select {
	case t.denied <- denial{subjectOf(err.Error()), err}:
	default: // there are others; the wait ends by its time
	}
}

// subjectOf is the subject that a text of the server names, as in: Permissions Violation for
// Publish to "incidents.high". It is empty if there is none.
func subjectOf(text string) string {
	_, rest, _ := strings.Cut(text, `for Publish to "`)
	subject, _, _ := strings.Cut(rest, `"`)
	return subject
}

func (d denial) covers(subject string) bool { return d.subject == "" || d.subject == subject }

// deny ends the wait for the messages that go to a subject, and for no others.
func (t *Transport) deny(d denial) {
	for i := range t.hand {
		subject := t.hand[i].Subject()
		if subject == "" {
			subject = t.subject
		}
		if t.entries[i].sent && d.covers(subject) {
			t.answered(i, d.err)
		}
	}
}

// passOver forgets what happened before an attempt.
func (t *Transport) passOver() {
	for {
		select {
		case <-t.stop:
		case <-t.denied:
		default:
			return
		}
	}
}
