package client

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	lastWords = time.Second // that a daemon has which takes nothing more
	maxWords  = 64 << 10
)

// line is a connection that tells why it ended, also behind its end. A daemon that refuses a
// client sends an alert and closes the connection while the client still sends. Whichever of
// them fails first, what the daemon said can be read.
type line struct {
	net.Conn
	failed atomic.Bool // a write
	closed atomic.Bool

	mu   sync.Mutex // guards what follows; held while reading
	rest bytes.Reader
	why  error // nothing comes behind rest
}

func (l *line) Write(b []byte) (int, error) {
	n, err := l.Conn.Write(b)
	if err != nil && !isTimeout(err) {
		l.failed.Store(true)
	}
	return n, err
}

func (l *line) Read(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.rest.Len() > 0:
		return l.rest.Read(b)
	case l.why != nil:
		return 0, l.why
	}
	n, err := l.Conn.Read(b)
	l.why = err
	return n, err
}

// Close keeps what came before the daemon stopped reading.
func (l *line) Close() error {
	if l.failed.Load() && l.SetReadDeadline(time.Now().Add(lastWords)) == nil {
		l.mu.Lock()
		if l.why == nil {
			raw, err := io.ReadAll(io.LimitReader(l.Conn, maxWords))
			l.rest.Reset(raw)
			if l.why = err; err == nil {
				l.why = io.EOF
			}
		}
		l.mu.Unlock()
	}
	err := l.Conn.Close()
	l.closed.Store(true)
	return err
}

// ending is why the last connection ended. It is nil as long as that is open, and when this
// side ended it.
func (c *Client) ending() error {
	under := c.conn
	for {
		t, ok := under.(*tls.Conn)
		if !ok {
			break
		}
		under = t.NetConn()
	}
	if l, ok := under.(*line); !ok || !l.closed.Load() {
		return nil
	}
	if _, err := c.conn.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
