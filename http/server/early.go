package server

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// What is read of a body after its request was answered. A client that is
// still writing would otherwise see a reset connection instead of the answer.
const (
	discardBytes = 256 << 10
	discardTime  = time.Second

	// leaveTime is how long after the beginning of Shutdown bodies may still come.
	leaveTime = time.Second
)

// bounded bounds how long next waits for its client.
func (s *Server) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		if r.ProtoMajor != 1 {
			w = &timedWriter{ResponseWriter: w, control: control, server: s}
			defer func() { _ = control.SetWriteDeadline(time.Now().Add(writeTimeout)) }() // of what is still to be flushed
		}
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		body := &watchedBody{ReadCloser: r.Body, control: control, server: s, stream: r.ProtoMajor != 1}
		s.enter(body)
		defer s.exit(body)
		if r.ProtoMajor == 1 {
			answerEarly(next, w, r, body)
			return
		}
		inner := r.WithContext(r.Context())
		inner.Body = body
		next.ServeHTTP(w, inner)
	})
}

// answerEarly makes an answer that comes before the end of an HTTP/1 body
// arrive: it goes out at once, announces the end of the connection, and a
// bounded part of the remaining body is read and forgotten. HTTP/2 resets the
// one stream by itself.
func answerEarly(next http.Handler, w http.ResponseWriter, r *http.Request, body *watchedBody) {
	// A copy: net/http looks at the body of its own request to decide
	// whether the connection can be used again.
	ctx, cancel := endWhenClientLeaves(r, body)
	inner := r.WithContext(ctx)
	inner.Body = body
	func() {
		defer cancel()
		next.ServeHTTP(&earlyWriter{ResponseWriter: w, body: body}, inner)
	}()
	if body.ended.Load() {
		return
	}
	patience := discardTime
	if body.slow.Load() {
		patience = 0 // it has been waited for
	}
	// The deadline also bounds what net/http reads before it closes.
	if body.control.Flush() != nil || body.control.SetReadDeadline(time.Now().Add(patience)) != nil || patience == 0 {
		return
	}
	if !body.begun.Load() && r.Header.Get("Expect") != "" {
		return // the client waits for a word to begin, and gets the answer instead
	}
	_, _ = io.CopyN(io.Discard, body.ReadCloser, discardBytes)
}

// watchedBody bounds every wait for more of a body, and knows whether its reader
// has come to the end.
type watchedBody struct {
	io.ReadCloser
	control      *http.ResponseController
	server       *Server
	begun, ended atomic.Bool
	slow         atomic.Bool // it did not go on

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
	if err != nil || b.stream {
		b.wait(0) // the connection is listened to behind the body, for its end
	}
	if err == nil {
		return n, nil
	}
	b.slow.Store(errors.Is(err, os.ErrDeadlineExceeded))
	switch {
	case err == io.EOF:
		b.ended.Store(true)
	case b.slow.Load() && b.server.leaving.Load() != 0:
		err = errLeaving
	case b.slow.Load():
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

// earlyWriter ends the connection of an answer that leaves body unread, since
// the next request would begin somewhere inside it.
type earlyWriter struct {
	http.ResponseWriter
	body  *watchedBody
	wrote bool
}

func (w *earlyWriter) WriteHeader(status int) {
	if status >= http.StatusOK && !w.wrote {
		w.wrote = true
		if !w.body.ended.Load() {
			w.Header().Set("Connection", "close")
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *earlyWriter) Write(p []byte) (int, error) {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(p)
}

// FlushError lets streams through, with the header of this writer.
func (w *earlyWriter) FlushError() error {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap gives http.ResponseController the writer of the connection.
func (w *earlyWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
