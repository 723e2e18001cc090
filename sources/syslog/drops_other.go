//go:build !linux

package syslog

import "net"

// dropped is not known here.
func dropped(*net.UDPConn) (uint32, bool) { return 0, false }
