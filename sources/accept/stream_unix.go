//go:build unix

package accept

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// system is a connection of the system, which can say whether there is something to read.
type system struct {
	net.Conn
	raw  syscall.RawConn
	peek func(fd uintptr) bool
	one  [1]byte
	err  error // of the last peek
	late bool  // a deadline has passed
}

func systemStream(c net.Conn) stream {
	switch c.(type) {
	case *net.UnixConn, *net.TCPConn:
	default:
		return nil
	}
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil
	}
	s := &system{Conn: c, raw: raw}
	s.peek = func(fd uintptr) bool {
		for {
			_, _, s.err = syscall.Recvfrom(int(fd), s.one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
			if s.err != syscall.EINTR { //nolint:errorlint // errors of the system are bare
				return s.err != syscall.EAGAIN //nolint:errorlint // the same
			}
		}
	}
	return s
}

// Ready implements sources.Pausing. An end and an error can be read, too.
func (s *system) Ready() bool {
	if s.late {
		return true
	}
	ready := false
	err := s.raw.Control(func(fd uintptr) { ready = s.peek(fd) })
	return ready || err != nil
}

// wait leaves errors to the read.
func (s *system) wait() {
	s.late = errors.Is(s.raw.Read(s.peek), os.ErrDeadlineExceeded)
}

// Read implements io.Reader.
func (s *system) Read(p []byte) (int, error) {
	if s.late {
		return 0, io.EOF
	}
	return s.Conn.Read(p)
}
