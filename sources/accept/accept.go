// Package accept reads the streams of those who connect: as many as are allowed, each in a
// goroutine of its own.
//
// A connection that is idle holds no buffer. One that ends, in whatever way, leaves the
// others alone, and what it sent before is handed over, however long that waits for room.
package accept

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicehq/sluice/internal/ratelog"
	"github.com/sluicehq/sluice/sources"
)

// retryPause is how long accepting rests after it failed.
const retryPause = 100 * time.Millisecond

// Options are what inputs differ in.
type Options struct {
	Name     string // of the input, in the log and as a label
	Max      int    // connections at once
	Log      *slog.Logger
	Counters *Counters // those of Metrics.Of

	// Reader makes the reader of a connection.
	Reader func(sources.Pausing) sources.PausingReader
	// Secure, if it is set, makes the stream of a connection, in the goroutine of that
	// connection. It ends soon, and tells of errors itself.
	Secure func(net.Conn) (net.Conn, error)
	// Patience is how long a text may pause before its end. What has come of it is then a
	// text, and the connection is closed. 0 waits for ever.
	Patience time.Duration
}

// Server is a source of the lines that its connections send.
type Server struct {
	o        Options
	listener net.Listener
	pumps    sync.Pool
	active   atomic.Int64
	limit    ratelog.Limit
}

// New returns a source that accepts from l, and closes it in the end.
func New(l net.Listener, o Options) *Server { return &Server{o: o, listener: l} }

// Addr is the address of the listener.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Close closes the listener. It is for a server that never runs; Run does it by itself.
func (s *Server) Close() error {
	if err := s.listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Run implements sources.Source.
func (s *Server) Run(ctx context.Context, in sources.Intake) error {
	ctx, stop := context.WithCancel(ctx)
	var connections sync.WaitGroup
	defer connections.Wait()
	defer stop()
	s.pumps.New = func() any { return &sources.Pump{Intake: in} }
	closing := context.AfterFunc(ctx, func() { _ = s.listener.Close() })
	defer closing()
	defer func() { _ = s.listener.Close() }()
	for {
		c, err := s.listener.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = c.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil:
			s.warn("accept", "connection not accepted (a limit of open files can be raised with ulimit -n)", "err", err)
			select {
			case <-ctx.Done():
			case <-time.After(retryPause):
			}
			continue
		}
		if s.active.Load() >= int64(s.o.Max) {
			_ = c.Close()
			s.o.Counters.refused.Inc()
			s.warn("refused", "connection refused: too many at once", "limit", s.o.Max)
			continue
		}
		s.active.Add(1)
		s.o.Counters.open.Inc()
		connections.Go(func() {
			defer s.o.Counters.open.Dec()
			defer s.active.Add(-1)
			if s.serve(ctx, c) {
				stop()
			}
		})
	}
}

// warn logs what repeats once in a while.
func (s *Server) warn(key, message string, attrs ...any) {
	if held, ok := s.limit.Allow(key, 1, time.Now()); ok {
		if held > 0 {
			attrs = append(attrs, "suppressed", held)
		}
		s.o.Log.Warn(message, append(attrs, "source", s.o.Name)...)
	}
}

// serve reads one connection to its end. It reports that the intake refuses.
func (s *Server) serve(ctx context.Context, raw net.Conn) (refused bool) {
	release := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer release()
	defer func() { _ = raw.Close() }()
	c := raw
	if s.o.Secure != nil {
		secured, err := s.o.Secure(raw)
		if err != nil {
			return false
		}
		c = secured
	}
	stream := newStream(c)
	reader := s.o.Reader(stream)
	defer reader.Close()
	for {
		if err := s.available(ctx, reader); err != nil {
			if err == io.EOF { //nolint:errorlint // it is ours
				_ = c.Close() // with the goodbye of TLS
			}
			return s.ended(ctx, err)
		}
		unfinished := reader.Rest()
		if unfinished && s.o.Patience > 0 {
			_ = c.SetReadDeadline(time.Now().Add(s.o.Patience)) // fails with the read
		}
		stream.wait()
		if unfinished && s.o.Patience > 0 {
			_ = c.SetReadDeadline(time.Time{})
		}
	}
}

// available hands over what can be read now. An error is io.EOF at the end of the stream.
func (s *Server) available(ctx context.Context, r sources.PausingReader) error {
	pump := s.pumps.Get().(*sources.Pump)
	defer s.pumps.Put(pump)
	_, paused, err := pump.Available(ctx, r)
	if err == nil && !paused {
		return io.EOF
	}
	return err
}

// ended tells why a connection ended, and reports that the intake refuses.
func (s *Server) ended(ctx context.Context, err error) (refused bool) {
	var broken *sources.ReadError
	switch {
	case err == io.EOF, ctx.Err() != nil: //nolint:errorlint // it is ours
		return false
	case errors.As(err, &broken):
		s.o.Log.Debug("connection broke off", "source", s.o.Name, "err", broken.Err)
		return false
	}
	return true
}
