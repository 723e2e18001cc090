//go:build !unix

package daemon

import "time"

// cpuTime is 0 where processor time is not to be had.
func cpuTime() time.Duration { return 0 }
