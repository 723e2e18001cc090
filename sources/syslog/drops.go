package syslog

import (
	"net"
	"sync"
)

// drops counts the datagrams that the system dropped of all sockets there ever were.
type drops struct {
	mu     sync.Mutex // guards all below
	open   map[*net.UDPConn]uint64
	closed uint64
}

// follow counts those of a socket too, until it is left.
func (d *drops) follow(c *net.UDPConn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		d.open = make(map[*net.UDPConn]uint64)
	}
	d.open[c] = 0
}

// leave keeps the number of a socket that is about to be closed.
func (d *drops) leave(c *net.UDPConn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, open := d.open[c]; open {
		d.look(c)
		d.closed += d.open[c]
		delete(d.open, c)
	}
}

func (d *drops) total() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	sum := d.closed
	for c := range d.open {
		d.look(c)
		sum += d.open[c]
	}
	return sum
}

// look asks the system, whose counter has 32 bits.
func (d *drops) look(c *net.UDPConn) {
	if n, ok := dropped(c); ok {
		d.open[c] += uint64(n - uint32(d.open[c]))
	}
}
