//go:build !unix

package assembly_test

import "time"

// cpuTime is 0 where processor time is not to be had.
func cpuTime() time.Duration { return 0 }
