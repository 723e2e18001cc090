//go:build !linux

package server

import "syscall"

// hungUp cannot tell here; the next read or write does.
func hungUp(syscall.Conn) bool { return false }
