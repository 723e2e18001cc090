package sink

import "context"

// Transport writes lines to one destination. It belongs to one sink, whose
// worker alone calls it; Reopen alone may come from anywhere.
type Transport interface {
	// Write delivers lines in order, each ending with LF, and returns how many
	// of them are confirmed. Fewer than all of them come with an error. The
	// first unconfirmed line is offered again first, so a transport that can
	// write part of a line remembers that part until then. Write returns soon
	// after the end of ctx.
	Write(ctx context.Context, lines [][]byte) (confirmed int, err error)
	// Abandon says that the first unconfirmed line will not be offered again.
	Abandon()
	// Reopen asks for what is named by a path to be opened again.
	Reopen()
	// Close flushes and releases the destination.
	Close() error
}
