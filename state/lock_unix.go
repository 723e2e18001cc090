//go:build linux || darwin || freebsd

package state

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// hold locks the directory as badger does, until release is called. A process that is
// being started just then has the directory open, too, so closing it would not do.
func hold(dir string) (release func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, ErrLocked
		}
		return nil, fmt.Errorf("lock: %w", err)
	}
	return func() {
		_ = unix.Flock(int(f.Fd()), unix.LOCK_UN)
		_ = f.Close()
	}, nil
}
