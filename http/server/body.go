package server

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// slow ends a request whose body does not come.
type slow struct {
	status int
	text   string
}

var (
	errSlow    = &slow{http.StatusRequestTimeout, fmt.Sprintf("the request body did not go on within %s", readTimeout)}
	errLeaving = &slow{http.StatusServiceUnavailable, "shutting down"}
)

// Error is what the client is told.
func (e *slow) Error() string { return e.text }

// Status is the HTTP status that says so.
func (e *slow) Status() int { return e.status }

// Unwrap gives the cause.
func (e *slow) Unwrap() error { return os.ErrDeadlineExceeded }

// watchedBody bounds every wait for more of a body, and knows whether its reader
// has come to the end.
type watchedBody struct {
	io.ReadCloser
	control      *http.ResponseController
	server       *Server
	conn         *conn
	begun, ended atomic.Bool
	slow         atomic.Bool // it did not go on
	taken        atomic.Int64

	stream bool // of HTTP/2, whose deadline ends the body also between two reads

	mu    sync.Mutex // guards the rest and the deadline
	armed time.Time  // when the deadline was last set
	gone  bool       // the request has ended, and its connection may have another
}

// armAgain is how old a deadline may be at the begin of a read: most reads wait for
// nothing, and setting one costs more than they do.
const armAgain = time.Second

func (b *watchedBody) Read(p []byte) (int, error) {
	b.begun.Store(true)
	b.wait(readTimeout)
	n, err := b.ReadCloser.Read(p)
	b.taken.Add(int64(n))
	if err != nil || b.stream {
		b.wait(0) // the connection is listened to behind the body, for its end
	}
	if err == nil {
		return n, nil
	}
	// Of a trailer that did not come, net/http says only that it is not there.
	b.slow.Store(errors.Is(err, os.ErrDeadlineExceeded) || !b.stream && err != io.EOF && b.conn.late.Load())
	switch {
	case err == io.EOF:
		b.ended.Store(true)
	case b.slow.Load() && b.server.leaving.Load() != 0:
		err = errLeaving
	case b.slow.Load():
		b.conn.late.Store(true)
		b.server.count(readTimedOut)
		err = errSlow
	}
	return n, err
}

// wait bounds the next read, or none with 0: the handler may be about to wait for
// something else. Nothing is waited for beyond the time of a server that is leaving.
func (b *watchedBody) wait(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var by time.Time
	if leaving := b.server.leaving.Load(); d > 0 && leaving != 0 {
		by = time.Unix(0, leaving)
	} else if d > 0 {
		now := time.Now()
		if now.Sub(b.armed) < armAgain && !b.stream {
			return
		}
		b.armed, by = now, now.Add(d)
	}
	if !b.gone {
		_ = b.control.SetReadDeadline(by) // on what has no deadlines, the client has all the time
	}
}

func (s *Server) enter(b *watchedBody) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies[b] = struct{}{}
}

func (s *Server) exit(b *watchedBody) {
	s.mu.Lock()
	delete(s.bodies, b)
	s.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone = true
}

// leave ends the wait for bodies that do not come.
func (s *Server) leave() {
	s.leaving.Store(time.Now().Add(leaveTime).UnixNano())
	s.mu.Lock()
	bodies := slices.Collect(maps.Keys(s.bodies))
	s.mu.Unlock()
	for _, b := range bodies {
		if b.begun.Load() && !b.ended.Load() {
			b.wait(readTimeout)
		}
	}
}
