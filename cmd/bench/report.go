package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// report prints figures and counts missed bars.
type report struct {
	out    io.Writer
	missed int
}

func (r *report) printf(format string, args ...any) { fmt.Fprintf(r.out, format, args...) }

// holds returns PASS or FAIL.
func (r *report) holds(ok bool) string {
	if ok {
		return "PASS"
	}
	r.missed++
	return "FAIL"
}

// quantile returns the quarter-th quartile; the second is the median.
func quantile[T cmp.Ordered](in []T, quarter int) T {
	s := slices.Sorted(slices.Values(in))
	return s[len(s)*quarter/4]
}

func median[T cmp.Ordered](in []T) T { return quantile(in, 2) }

// resident reads a figure of /proc/self/status in bytes, 0 where there is none.
func resident(name string) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			if kb, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64); err == nil {
				return kb * 1024
			}
		}
	}
	return 0
}
