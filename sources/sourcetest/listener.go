package sourcetest

import (
	"net"
	"sync"
)

// Listener is a listener in memory that accepts one connection, which Give gives it.
type Listener struct {
	conn   chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewListener returns a listener without a connection.
func NewListener() *Listener {
	return &Listener{conn: make(chan net.Conn, 1), closed: make(chan struct{})}
}

// Give has the listener accept a connection.
func (l *Listener) Give(c net.Conn) { l.conn <- c }

// Accept waits for the connection, or for Close.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept. It may be called again.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr is an address without a place.
func (*Listener) Addr() net.Addr { return &net.TCPAddr{} }
