//go:build !unix

package sigmatest

import "time"

// ProcessorTime is wall time where processor time is not to be had.
func ProcessorTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
