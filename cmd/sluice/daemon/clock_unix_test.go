//go:build unix

package daemon

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the processor time of this process, which a busy machine disturbs
// less than wall time.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
