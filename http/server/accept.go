package server

import (
	"errors"
	"net"
	"time"
)

// acceptPause is how long failing accepts are told once.
const acceptPause = 10 * time.Second

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
		if a.server.certs != nil {
			session := a.server.certs.secure(c)
			return &conn{Conn: session, session: session, server: a.server}, nil
		}
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
