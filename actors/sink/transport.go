package sink

import (
	"context"

	"github.com/sluicehq/sluice/graph"
)

// Transport writes messages to one destination. It belongs to one sink, whose
// worker alone calls it; Reopen alone may come from anywhere.
type Transport interface {
	// Write delivers messages in order and returns how many of them are confirmed.
	// Fewer than all of them come with an error. An error beside all of them says what
	// the destination made of them: it is counted and told, and nothing is tried again.
	// A permanent error is about the first unconfirmed message, or about as many as its
	// method Messages() int says. Its method Confirmed(i int) bool, if it has one, tells
	// of messages behind the first unconfirmed one which were taken all the same: they are
	// not given up with it. The first unconfirmed message is
	// offered again first, so a transport that can write part of a message
	// remembers that part until then. Write returns soon after the end of ctx, and
	// keeps nothing of the messages.
	Write(ctx context.Context, messages []graph.Message) (confirmed int, err error)
	// Abandon says that the first unconfirmed message will not be offered again.
	Abandon()
	// Reopen asks for what is named by a path to be opened again.
	Reopen()
	// Close flushes and releases the destination.
	Close() error
}

// LineWriter is a transport that writes each body as a line.
type LineWriter interface {
	Transport
	// WriteLines is Write for messages of which the bodies lie in one text, each with a line
	// feed behind it.
	WriteLines(ctx context.Context, messages []graph.Message, lines []byte) (confirmed int, err error)
}
