//go:build !unix

package socketfile

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
)

// File is the file of a bound listener.
type File struct{}

// Remove does nothing.
func (*File) Remove() error { return nil }

// Check reports that there are no such sockets.
func Check(string) error { return errors.New("unix:// addresses need a Unix system") }

// ErrInUse is a path that another process listens on.
var ErrInUse = errors.New("in use by another process")

// Listen fails.
func Listen(path string, _ *slog.Logger) (*net.UnixListener, *File, error) {
	return nil, nil, fmt.Errorf("bind socket %s: %w", path, Check(path))
}
