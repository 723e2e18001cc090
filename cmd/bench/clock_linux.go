package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is what a process has used so far. Its own metric, which the kernel's figures
// in /proc are behind, counts in hundredths of a second.
func processorTime(pid int) (used time.Duration, ok bool) {
	const sched = 2 // of the clocks of a process, the one that counts nanoseconds
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|sched), &t); err != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}
