//go:build linux || darwin || freebsd

package socketfile

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// claimWait is how long another start may take to bind a path.
const claimWait = 5 * time.Second

// claim has one start at a time look whether a socket file is stale and bind its
// path: two could take each other's new socket for the old one. It holds a lock on
// a file beside the socket, which is there until release only.
func claim(path string) (release func(), err error) {
	name := path + ".lock"
	for begin := time.Now(); ; {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, socketMode)
		if err != nil {
			return nil, err
		}
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil && stands(f, name) {
			return func() { _ = errors.Join(os.Remove(name), f.Close()) }, nil
		}
		_ = f.Close()
		switch {
		case err != nil && !errors.Is(err, unix.EWOULDBLOCK):
			return nil, fmt.Errorf("lock %s: %w", name, err)
		case time.Since(begin) > claimWait:
			return nil, fmt.Errorf("another process is about to bind it and holds %s", name)
		}
		time.Sleep(claimWait / 500)
	}
}

// stands reports whether f is still the file of its name: whoever had the lock
// before has removed it.
func stands(f *os.File, name string) bool {
	ours, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(name)
	return err == nil && os.SameFile(ours, there)
}
