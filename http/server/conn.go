package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// What a connection may wait for, beside the header: more of a body, and a client
// that takes what is written to it.
const (
	readTimeout  = 60 * time.Second
	writeTimeout = 30 * time.Second

	// pieceBytes is the most that is written under one deadline, so that a client
	// which reads slowly is not taken for one that does not read.
	pieceBytes = 64 << 10
	// acceptPause is how long failing accepts are told once.
	acceptPause = 10 * time.Second
)

// reason is why a connection was closed, or not accepted.
type reason string

const (
	headerTimedOut reason = "header_timeout"
	readTimedOut   reason = "read_timeout"
	writeTimedOut  reason = "write_timeout"
	acceptFailed   reason = "accept_error"
)

// newClosed makes the series of closed connections, all at zero.
func newClosed() *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "api_connections_closed_total",
		Help: "Connections closed because the client kept the server waiting, by what for; accept_error counts connections that could not be accepted.",
	}, []string{"reason"})
	for _, r := range []reason{headerTimedOut, readTimedOut, writeTimedOut, acceptFailed} {
		v.WithLabelValues(string(r))
	}
	return v
}

func (s *Server) count(r reason) { s.closed.WithLabelValues(string(r)).Inc() }

// acceptor wraps the connections of a listener, and tells of those that it cannot
// accept.
type acceptor struct {
	net.Listener
	server *Server
	told   time.Time
	kept   int // failures that were not told
}

// Accept is called by one goroutine, which tries again after an error.
func (a *acceptor) Accept() (net.Conn, error) {
	c, err := a.Listener.Accept()
	if err == nil {
		return &conn{Conn: c, server: a.server}, nil
	}
	if !errors.Is(err, net.ErrClosed) {
		a.server.count(acceptFailed)
		if a.kept++; a.told.IsZero() || time.Since(a.told) >= acceptPause {
			a.server.log.Warn("connection not accepted (a limit of open files can be raised with ulimit -n)", "err", err, "failures", a.kept)
			a.told, a.kept = time.Now(), 0
		}
	}
	return nil, err
}

// conn is a connection whose client is expected to go on.
type conn struct {
	net.Conn
	server *Server
	state  atomic.Int32 // http.ConnState
	began  atomic.Bool  // bytes have come since the last request ended
	ended  atomic.Bool  // and counted
}

// end closes the connection.
func (c *conn) end(r reason) {
	if c.ended.CompareAndSwap(false, true) {
		c.server.count(r)
		_ = c.Close()
	}
}

// NetConn is the connection below.
func (c *conn) NetConn() net.Conn { return c.Conn }

// entered notes the state of a connection.
func (c *conn) entered(s http.ConnState) {
	if s == http.StateIdle {
		c.began.Store(false)
	}
	c.state.Store(int32(s))
}

// Read counts a header that does not come. An idle connection that ends after its
// time is none.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.began.Store(true)
	}
	if err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		switch s := http.ConnState(c.state.Load()); {
		case s == http.StateNew, s == http.StateIdle && c.began.Load():
			c.end(headerTimedOut) // at once: net/http would answer, as if the header were wrong
		}
	}
	return n, err
}

// Write gives each piece its own time.
func (c *conn) Write(p []byte) (n int, err error) {
	size := len(p)
	p = inJSON(p)
	for {
		piece := p[n:min(len(p), n+pieceBytes)]
		_ = c.SetWriteDeadline(time.Now().Add(writeTimeout)) // fails with the write
		m, err := c.Conn.Write(piece)
		if n += m; err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				c.end(writeTimedOut)
			}
			return min(n, size), err
		}
		if n == len(p) {
			return size, nil
		}
	}
}

// plainErrors are the headers of the answers that net/http gives by itself, to
// requests that it cannot read.
const plainErrors = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// inJSON gives an answer of net/http's own the form of every other error.
func inJSON(p []byte) []byte {
	if !bytes.HasPrefix(p, []byte("HTTP/1.1 ")) {
		return p
	}
	line, rest, ok := bytes.Cut(p, []byte("\r\n"))
	if !ok || !bytes.HasPrefix(rest, []byte(plainErrors[2:])) {
		return p
	}
	protocol, status, _ := strings.Cut(string(line), " ")
	code, text, _ := strings.Cut(status, " ")
	if _, after, ok := strings.Cut(text, ": "); ok {
		text = strings.TrimSuffix(text, ": "+after)
		status = code + " " + text
		text = strings.ToLower(text) + ": " + after
	} else {
		body := string(rest[len(plainErrors)-2:])
		if text = strings.ToLower(text); !strings.HasPrefix(strings.ToLower(body), code) {
			text += ": " + body
		}
	}
	answer, err := json.Marshal(struct {
		Error string `json:"error"`
	}{text})
	if err != nil {
		return p
	}
	out := protocol + " " + status + "\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
	return append(append([]byte(out), answer...), '\n')
}

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

// timedWriter bounds the writes of an HTTP/2 stream, whose client may take the
// others' and not this one's.
type timedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	server  *Server
}

func (w *timedWriter) Write(p []byte) (n int, err error) {
	w.timed(func() error { n, err = w.ResponseWriter.Write(p); return err })
	return n, err
}

// FlushError lets streams through.
func (w *timedWriter) FlushError() (err error) {
	w.timed(func() error { err = w.control.Flush(); return err })
	return err
}

// Unwrap gives http.ResponseController the writer of the stream.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *timedWriter) timed(write func() error) {
	begin := time.Now()
	_ = w.control.SetWriteDeadline(begin.Add(writeTimeout))
	err := write()
	_ = w.control.SetWriteDeadline(time.Time{})
	if err != nil && time.Since(begin) >= writeTimeout {
		w.server.count(writeTimedOut)
	}
}
