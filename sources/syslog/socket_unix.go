//go:build unix

package syslog

import (
	"net"
	"syscall"

	"github.com/sluicehq/sluice/sources"
)

// socket reads all datagrams that are there at once.
type socket struct {
	conn  *net.UDPConn
	raw   syscall.RawConn
	b     []byte
	sizes []int
	err   error
	drain func(fd uintptr) bool
}

func newSocket(c *net.UDPConn) sources.Datagrams {
	raw, err := c.SyscallConn()
	s := &socket{conn: c, raw: raw, err: err}
	s.drain = func(fd uintptr) bool {
		for len(s.b) >= sources.MaxDatagram {
			n, err := syscall.Read(int(fd), s.b)
			switch {
			case err == syscall.EINTR:
				continue
			case err == syscall.EAGAIN:
				return len(s.sizes) > 0
			case err != nil:
				s.err = err
				return true
			}
			s.sizes = append(s.sizes, n)
			s.b = s.b[n:]
		}
		return true
	}
	return s
}

// ReadMany implements sources.Datagrams.
func (s *socket) ReadMany(b []byte, sizes []int) ([]int, error) {
	if s.err != nil {
		return sizes, s.err
	}
	before := len(sizes)
	s.b, s.sizes = b, sizes
	err := s.raw.Read(s.drain)
	sizes = s.sizes
	s.b, s.sizes = nil, nil
	if len(sizes) > before {
		return sizes, nil // an error comes with the next read
	}
	if err == nil {
		err = s.err
	}
	return sizes, closed(err)
}
