package natstest

import (
	"net"
	"sync"
)

// Deaf is a connection whose peer may stop reading. It obeys no deadline then.
type Deaf struct {
	net.Conn
	closed chan struct{}
	once   sync.Once

	mu      sync.Mutex // guards stopped
	stopped bool
}

// NewDeaf returns a connection whose peer still reads.
func NewDeaf(c net.Conn) *Deaf { return &Deaf{Conn: c, closed: make(chan struct{})} }

// Stop makes every further write wait until the connection is closed.
func (d *Deaf) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
}

// Write writes, or waits.
func (d *Deaf) Write(b []byte) (int, error) {
	d.mu.Lock()
	stopped := d.stopped
	d.mu.Unlock()
	if stopped {
		<-d.closed
		return 0, net.ErrClosed
	}
	return d.Conn.Write(b)
}

// Close ends waiting writes, too.
func (d *Deaf) Close() error {
	d.once.Do(func() { close(d.closed) })
	return d.Conn.Close()
}
