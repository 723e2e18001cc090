// Package stdout writes messages as lines to standard output.
//
// One Stream stands for the output of the process: every line is one write call
// under its lock, so lines of several sinks never mix.
package stdout

import (
	"context"
	"io"
	"sync"

	"github.com/sluicehq/sluice/graph"
)

// Stream is an output that several transports share.
type Stream struct {
	mu  sync.Mutex // guards out: one line at a time
	out io.Writer
}

// NewStream returns a stream that writes to out.
func NewStream(out io.Writer) *Stream { return &Stream{out: out} }

// keptLine bounds the memory that is kept for the next line.
const keptLine = 256 << 10

// Transport writes lines to a stream. It belongs to one sink.
type Transport struct {
	stream *Stream
	taken  int // bytes of the first unconfirmed line that are out already
	line   []byte
}

// New returns a transport to s.
func New(s *Stream) *Transport { return &Transport{stream: s} }

// Write writes each message as a line and returns how many are complete. A line that
// broke off goes on where it stopped when it is offered again.
func (t *Transport) Write(ctx context.Context, messages []graph.Message) (int, error) {
	for i := range messages {
		if err := ctx.Err(); err != nil {
			return i, err
		}
		t.line = append(append(t.line[:0], messages[i].Body...), '\n')
		n, err := t.stream.write(t.line[t.taken:])
		if cap(t.line) > keptLine {
			t.line = nil
		}
		if err != nil {
			t.taken += n
			return i, err
		}
		t.taken = 0
	}
	return len(messages), nil
}

// Abandon forgets a line that broke off; what follows begins on a line of its own.
func (t *Transport) Abandon() {
	if t.taken > 0 {
		t.taken = 0
		_, _ = t.stream.write([]byte{'\n'}) // the line is lost anyway
	}
}

// Reopen has nothing to do: standard output has no name.
func (t *Transport) Reopen() {}

// Close leaves the stream open, since others may write to it.
func (t *Transport) Close() error { return nil }

func (s *Stream) write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.out.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return n, err
}
