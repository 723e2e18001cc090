//go:build unix

// Package socketfile binds stream sockets that are files, one process to a path.
//
// Nobody but the owner of the process can connect, from the first moment on. A file that a
// crash left behind is replaced, with a warning. One that somebody listens on, and a file
// of any other type, stays and is an error.
package socketfile

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// ErrInUse is a path that another process listens on.
var ErrInUse = errors.New("in use by another process")

// socketMode lets the owner of the process, and nobody else, connect.
const socketMode = 0o600

// File is the file of a bound listener. It outlives the listener, since it is removed
// only after the drain.
type File struct {
	path  string
	bound fs.FileInfo
}

// Remove deletes the file unless another process has put its own in its place.
func (f *File) Remove() error {
	now, err := os.Lstat(f.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, f.bound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove socket: %w", err)
	}
	return os.Remove(f.path)
}

// maxPath is the longest path of a socket.
const maxPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// Check reports a path that is too long for a socket.
func Check(path string) error {
	if len(unixAddr(path).Name) > maxPath {
		return fmt.Errorf("the path has %d bytes, a socket's may have %d", len(path), maxPath)
	}
	return nil
}

// Listen binds path. The umask of the process changes meanwhile, so this is for the start.
func Listen(path string, log *slog.Logger) (*net.UnixListener, *File, error) {
	if err := Check(path); err != nil {
		return nil, nil, fmt.Errorf("bind socket %s: %w", path, err)
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil { // else the error is one of the lock beside the socket
		return nil, nil, fmt.Errorf("bind socket %s: %w", path, err)
	}
	release, err := claim(path)
	if err != nil {
		return nil, nil, fmt.Errorf("bind socket %s: %w", path, err)
	}
	defer release()
	l, err := bindUnix(path)
	if errors.Is(err, syscall.EADDRINUSE) {
		if err = removeStale(path); err != nil {
			return nil, nil, fmt.Errorf("bind socket %s: %w", path, err)
		}
		log.Warn("stale socket file removed", "path", path)
		l, err = bindUnix(path)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("bind socket %s: %w", path, err)
	}
	bound, err := secure(path)
	if err != nil {
		_ = l.Close()
		return nil, nil, fmt.Errorf("bind socket %s: %w", path, err)
	}
	return l, &File{path: path, bound: bound}, nil
}

// bindUnix binds under a umask that leaves no moment in which others could
// connect. The umask belongs to the process, so binding is for startup.
func bindUnix(path string) (*net.UnixListener, error) {
	old := syscall.Umask(0o177)
	defer syscall.Umask(old)
	l, err := net.ListenUnix("unix", unixAddr(path))
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // the file goes after the drain, not with the listener
	return l, nil
}

func secure(path string) (fs.FileInfo, error) {
	if err := os.Chmod(path, socketMode); err != nil {
		return nil, err
	}
	return os.Lstat(path)
}

// removeStale deletes the socket at path when nobody listens on it. Only a
// refused connection proves that: any other failure keeps the file.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // its owner has just removed it
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return errors.New("a file that is not a socket is in the way")
	}
	conn, err := net.DialTimeout("unix", unixAddr(path).Name, time.Second)
	switch {
	case err == nil:
		conn.Close()
		return ErrInUse
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case !errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("in use, or not ours: %w", err)
	}
	return os.Remove(path)
}

// unixAddr keeps a leading @ a character of the file name; the net package
// would bind an abstract socket, which has no file and no mode.
func unixAddr(path string) *net.UnixAddr {
	if strings.HasPrefix(path, "@") {
		path = "./" + path
	}
	return &net.UnixAddr{Name: path, Net: "unix"}
}
