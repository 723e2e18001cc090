//go:build !unix

package syslog

import (
	"net"

	"github.com/sluicehq/sluice/sources"
)

// socket reads datagrams one by one.
type socket struct{ *net.UDPConn }

func newSocket(c *net.UDPConn) sources.Datagrams { return socket{c} }

// ReadMany implements sources.Datagrams.
func (s socket) ReadMany(b []byte, sizes []int) ([]int, error) {
	n, err := s.Read(b)
	if err != nil {
		return sizes, closed(err)
	}
	return append(sizes, n), nil
}
