package server

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/sluicehq/sluice/internal/certs"
)

// goodbyeTimeout is how long a client gets to take the news that its connection ends.
const goodbyeTimeout = 100 * time.Millisecond

// session is the TLS of a connection. Requests are read and answered above it, so that
// every bound on those is the same with and without.
type session struct {
	*tls.Conn
	wire  *wire
	certs *Certificates
	phase atomic.Int32
	state tls.ConnectionState // after the handshake
}

// Phases of a session.
const (
	beginning int32 = iota
	established
	over
)

// wire is the connection below TLS.
type wire struct {
	net.Conn
	begun  bool // something has come; of its reader alone
	ending atomic.Bool
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if n > 0 && !w.begun {
		w.begun = true
	}
	return n, err
}

// NetConn is the connection below.
func (w *wire) NetConn() net.Conn { return w.Conn }

// SetWriteDeadline shortens the time that TLS takes to say goodbye to clients that do not
// read.
func (w *wire) SetWriteDeadline(t time.Time) error {
	if soon := time.Now().Add(goodbyeTimeout); w.ending.Load() && t.After(soon) {
		t = soon
	}
	return w.Conn.SetWriteDeadline(t)
}

// secure makes a session of an accepted connection. It does not wait for the client.
func (c *Certificates) secure(raw net.Conn) *session {
	s := &session{wire: &wire{Conn: raw}, certs: c}
	s.Conn = tls.Server(s.wire, c.serving.Load().config)
	return s
}

// shake makes the handshake. An error has been told, and answered where that helps.
func (s *session) shake() error {
	_ = s.wire.SetDeadline(time.Now().Add(certs.HandshakeTimeout))
	if err := s.Handshake(); err != nil {
		if s.phase.Load() != over { // by the server
			s.certs.failed(s.wire, err)
		}
		return err
	}
	_ = s.wire.SetDeadline(time.Time{})
	s.state = s.ConnectionState()
	s.certs.active.Add(1)
	if !s.phase.CompareAndSwap(beginning, established) {
		s.certs.active.Add(-1)
		return net.ErrClosed
	}
	return nil
}

// Close ends the session, and tells the client so.
func (s *session) Close() error {
	s.ended()
	s.wire.ending.Store(true)
	return s.Conn.Close()
}

// cut ends the session without a word.
func (s *session) cut() error {
	s.ended()
	return s.wire.Close()
}

func (s *session) ended() {
	if s.phase.Swap(over) == established {
		s.certs.active.Add(-1)
	}
}

// looksLikeHTTP reports whether what came in the place of a handshake is the beginning of
// a request.
func looksLikeHTTP(header [5]byte) bool {
	for _, method := range []string{"GET /", "HEAD ", "POST ", "PUT /", "PATCH", "DELET", "OPTIO", "PRI *"} {
		if bytes.Equal(header[:], []byte(method)) {
			return true
		}
	}
	return false
}

const plainAnswer = "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" +
	`{"error":"client sent an HTTP request to an HTTPS server","hint":"use https://"}` + "\n"

// refusePlain answers a request that came in clear. A part of the rest is read and
// forgotten, since a client that is still writing would not see the answer.
func refusePlain(w *wire) {
	_ = w.SetDeadline(time.Now().Add(discardTime))
	if _, err := io.WriteString(w.Conn, plainAnswer); err != nil {
		return
	}
	if half, ok := w.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	_, _ = io.CopyN(io.Discard, w.Conn, discardBytes)
}
