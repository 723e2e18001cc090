//go:build linux || darwin || freebsd

package deadletters

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// lock keeps a second replay of the file away until release is called. The daemon does
// not take this lock, so it may go on writing. Where files cannot be locked, nobody is
// kept away.
func lock(file string) (release func(), err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		_ = f.Close()
		return nil, fmt.Errorf("%s is being replayed by another process", file)
	}
	return func() { _ = f.Close() }, nil
}
