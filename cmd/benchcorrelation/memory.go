package main

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
)

// resident is the resident memory in bytes, 0 where the system does not tell.
func resident() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			if kb, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64); err == nil {
				return kb * 1024
			}
		}
	}
	return 0
}

func median[T cmp.Ordered](in []T) T {
	s := slices.Sorted(slices.Values(in))
	return s[len(s)/2]
}
