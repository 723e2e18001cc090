//go:build !unix

package main

import "time"

// cpuTime is wall time where processor time is not to be had.
func cpuTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
