//go:build !linux

package main

import "time"

// processorTime is not told here.
func processorTime(int) (used time.Duration, ok bool) { return 0, false }
