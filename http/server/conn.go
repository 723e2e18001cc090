package server

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
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

// conn is a connection whose client is expected to go on.
type conn struct {
	net.Conn
	session *session // the same as Conn; nil without TLS
	server  *Server
	state   atomic.Int32 // http.ConnState
	began   atomic.Bool  // bytes have come since the last request ended
	ended   atomic.Bool  // and counted
	late    atomic.Bool  // a body did not go on

	// Of its reader alone.
	shaken  bool  // the handshake is over
	refused error // it has failed
	frames  frames
	armed   time.Time // the deadline of HTTP/2
}

// end closes the connection.
func (c *conn) end(r reason) {
	if c.ended.CompareAndSwap(false, true) {
		c.server.count(r)
		_ = c.cut()
	}
}

// cut closes the connection without another word to its client.
func (c *conn) cut() error {
	if c.session != nil {
		return c.session.cut()
	}
	return c.Conn.Close()
}

// Close closes the connection. A server that cuts everything off waits for nobody.
func (c *conn) Close() error {
	if c.session != nil && c.server.cutting.Load() {
		return c.session.cut()
	}
	return c.Conn.Close()
}

// shake makes the handshake of TLS. The time of the first header begins behind it. Of its
// failure net/http only learns that nothing has come: the client has been told the rest.
func (c *conn) shake() {
	c.shaken = true
	if c.session.shake() != nil {
		_ = c.cut()
		c.refused = io.EOF
		return
	}
	_ = c.SetReadDeadline(time.Now().Add(headerTimeout)) // fails with the read
}

// NetConn is the connection below, TLS or that of the system.
func (c *conn) NetConn() net.Conn { return c.Conn }

// entered notes the state of a connection.
func (c *conn) entered(s http.ConnState) {
	if s == http.StateIdle {
		c.began.Store(false)
	}
	c.state.Store(int32(s))
}

// Read counts a header that does not come, and ends an HTTP/2 connection whose client
// does not go on. An idle connection that ends after its time is none.
func (c *conn) Read(p []byte) (int, error) {
	if c.session != nil && !c.shaken {
		c.shake()
	}
	if c.refused != nil {
		return 0, c.refused
	}
	for {
		if by, _ := c.frames.due(); !by.IsZero() && (c.armed.IsZero() || by.Before(c.armed)) {
			c.arm(by)
		}
		n, err := c.Conn.Read(p)
		if n > 0 {
			c.began.Store(true)
			c.frames.read(p[:n])
		}
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) || c.timedOut() {
			return n, err
		}
		if n > 0 {
			return n, nil
		}
	}
}

// arm sets the deadline of HTTP/2. It stays when what it was for has come, since most
// waits are short and setting one costs more than they do.
func (c *conn) arm(by time.Time) {
	c.armed = by
	_ = c.SetReadDeadline(by) // on what has no deadlines, the client has all the time
}

// timedOut acts on a deadline that has passed, and reports whether the read has ended:
// that of HTTP/2 may be an old one.
func (c *conn) timedOut() bool {
	if !c.frames.on() {
		switch s := http.ConnState(c.state.Load()); {
		case s == http.StateNew, s == http.StateIdle && c.began.Load():
			c.end(headerTimedOut) // at once: net/http would answer, as if the header were wrong
		default:
			c.late.Store(true)
		}
		return true
	}
	by, r := c.frames.due()
	if by.IsZero() || time.Now().Before(by) {
		c.arm(by)
		return false
	}
	if r == readTimedOut && c.late.Load() { // its stream has been counted
		_ = c.cut()
	} else {
		c.end(r)
	}
	return true
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
