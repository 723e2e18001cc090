package dial

import (
	"context"
	"errors"
	"net"
	"sync"
)

// link makes the network connections of one Conn, and can break the one in hand. The
// client library waits for the network with its lock held; breaking the link is the
// way to end that.
type link struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error) // nil for TCP

	mu     sync.Mutex // guards the rest
	conn   net.Conn
	cancel context.CancelFunc // of the dialling in progress, nil without one
	err    error              // of the last dialling
	closed bool
}

var errClosed = errors.New("the connection is closed")

// Dial implements the library's own interface.
func (l *link) Dial(network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), dialWait)
	defer cancel()
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil, errClosed
	}
	l.conn, l.cancel = nil, cancel
	l.mu.Unlock()

	dial := l.dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	conn, err := dial(ctx, network, address)

	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn, l.cancel, l.err = conn, nil, err
	if err == nil && ctx.Err() != nil {
		_ = conn.Close()
		l.conn, l.err = nil, ctx.Err()
	}
	return l.conn, l.err
}

// failure is why there is no connection.
func (l *link) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// cut ends the dialling in progress, or the connection. After the last cut no other
// one is made.
func (l *link) cut(last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = l.closed || last
	if l.cancel != nil {
		l.cancel()
	}
	if l.conn != nil {
		_ = l.conn.Close()
	}
}
