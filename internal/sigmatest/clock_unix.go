//go:build unix

package sigmatest

import (
	"time"

	"golang.org/x/sys/unix"
)

// ProcessorTime is what this process has used on all processors, garbage
// collection included. On a machine shared with others a difference of it
// measures what wall time does on an idle one.
func ProcessorTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return time.Duration(time.Now().UnixNano()) //nolint:forbidigo // measuring is what it is for
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
