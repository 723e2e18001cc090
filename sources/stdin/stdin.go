// Package stdin is the input of events on standard input. It is finite: at the
// end of the stream, or when it breaks, the source has ended.
package stdin

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sources"
)

// Source reads events from one stream, usually standard input. Its lines carry
// no token: what a crash takes with it is lost.
type Source struct {
	// Encoded, if it is set, is called when the stream shows that it is no text in UTF-8.
	// It is read as lines like all else.
	Encoded func(sources.Encoding)

	in io.Reader
}

// New returns a source of the lines of in.
func New(in io.Reader) *Source { return &Source{in: in} }

// watched tells when it reads the beginning of what is no text.
type watched struct {
	io.Reader
	mark sources.Mark
	tell func(sources.Encoding)
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if e := w.mark.In(p[:n]); e != sources.Text8 && w.tell != nil {
		w.tell(e)
	}
	return n, err
}

// Run hands over lines until the stream ends. A read that is parked on an idle
// pipe cannot be interrupted, so at the end of ctx its goroutine is left behind;
// what it may still read is handed to nobody.
func (s *Source) Run(ctx context.Context, in sources.Intake) error {
	gate := &gate{in: in}
	ended := make(chan error, 1)
	go func() {
		pump := sources.Pump{Intake: gate}
		_, err := pump.Run(ctx, new(sources.Buffers).NewReader(&watched{Reader: s.in, tell: s.Encoded}))
		ended <- err
	}()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		gate.shut()
	}
	var broken *sources.ReadError
	if errors.As(err, &broken) {
		return broken
	}
	return nil
}

// gate lets runs through until it is shut, which waits for the one on its way.
type gate struct {
	in    sources.Intake
	mu    sync.Mutex // held while a run is handed over
	isOff bool
}

var errShut = errors.New("source stopped")

func (g *gate) Put(ctx context.Context, run []graph.Line) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isOff {
		return 0, errShut
	}
	return g.in.Put(ctx, run)
}

func (g *gate) Oversize(ctx context.Context, excerpt []byte, token graph.Token) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isOff {
		return errShut
	}
	return g.in.Oversize(ctx, excerpt, token)
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.isOff = true
}
