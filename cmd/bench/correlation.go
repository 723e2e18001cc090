package main

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"time"
)

// The bars on the engine alone.
const (
	maxDistinct    = 1.25  // cost at 10,000 different values over that at 10
	maxGroupBytes  = 300.0 // of a quiet group, on the heap
	millionGroups  = 1_000_000
	growthRepeated = 15 // measurements of which the median counts
)

// correlation measures correlations: the engine alone, by type, window and number
// of groups, how its cost grows, its memory, and one-shot evaluation of a lane with
// correlation rules against the same lane with detection rules alone.
func (r *report) correlation(_ context.Context, o options) error {
	parts := []struct {
		name string
		run  func(options) error
	}{{"engine", r.engine}, {"growth", r.growth}, {"memory", r.memory}, {"lane", r.lane}}
	known := false
	for _, p := range parts {
		if o.only != "" && o.only != p.name {
			continue
		}
		known = true
		if err := p.run(o); err != nil {
			return err
		}
	}
	if !known {
		return fmt.Errorf("no part %q (engine, growth, memory, lane)", o.only)
	}
	return nil
}

// engine prints the events per second of every type and window.
func (r *report) engine(o options) error {
	r.printf("events/s on one core, by number of groups\n%-18s %-9s", "type", "window")
	for _, n := range o.groups {
		r.printf(" %12d", n)
	}
	r.printf("\n")
	for _, kind := range []string{
		"event_count", "value_count", "value_sum", "value_avg", "value_percentile", "value_median", "temporal", "temporal_ordered",
	} {
		for _, window := range []string{"sliding", "tumbling", "session"} {
			r.printf("%-18s %-9s", kind, window)
			for _, n := range o.groups {
				d, err := measureStream(shape{kind, window, n, 500, 1000}, 2*n, o.each)
				if err != nil {
					return err
				}
				r.printf(" %12.0f", 1/d.Seconds())
			}
			r.printf("\n")
		}
	}
	r.printf("\n")
	return nil
}

// growth compares the cost of an event as windows get larger.
func (r *report) growth(o options) error {
	few, many := shape{"value_count", "sliding", 1, 10, 100}, shape{"value_count", "sliding", 1, 10_000, 100}
	factor, a, b, err := compare(few, many, 2*span*100, o.each)
	if err != nil {
		return err
	}
	r.printf("value_count at 10 and 10,000 different values: %v and %v per event, %.2f times, bar %.2f: %s\n",
		a, b, factor, maxDistinct, r.holds(factor <= maxDistinct))
	sizes := []int{3_000, 30_000, 300_000}
	for _, kind := range []string{"value_percentile", "value_median"} {
		for _, n := range sizes[1:] {
			small := shape{kind, "sliding", 1, 1 << 30, sizes[0] / span}
			large := shape{kind, "sliding", 1, 1 << 30, n / span}
			bar := math.Log(float64(n)) / math.Log(float64(sizes[0]))
			factor, a, b, err := compare(small, large, n+n/10, o.each)
			if err != nil {
				return err
			}
			r.printf("%s over %d and %d numbers: %v and %v per event, %.2f times, bar %.2f (log n): %s\n",
				kind, sizes[0], n, a, b, factor, bar, r.holds(factor <= bar))
		}
	}
	r.printf("\n")
	return nil
}

// compare measures two shapes in turn and returns the median of the factors.
func compare(small, large shape, warm int, each time.Duration) (factor float64, a, b time.Duration, err error) {
	var factors []float64
	var as, bs []time.Duration
	for range growthRepeated {
		a, err := measureStream(small, warm, each)
		if err != nil {
			return 0, 0, 0, err
		}
		b, err := measureStream(large, warm, each)
		if err != nil {
			return 0, 0, 0, err
		}
		factors, as, bs = append(factors, b.Seconds()/a.Seconds()), append(as, a), append(bs, b)
	}
	return median(factors), median(as), median(bs), nil
}

// memory fills an engine with a million groups.
func (r *report) memory(options) error {
	for _, kind := range []string{"event_count", "value_sum", "value_count"} {
		s, err := newStream(shape{kind, "sliding", millionGroups, 1000, 10_000})
		if err != nil {
			return err
		}
		debug.FreeOSMemory()
		heap, rss := heapInUse(), resident("VmRSS")
		if err := s.steps(millionGroups); err != nil {
			return err
		}
		debug.FreeOSMemory()
		used := float64(heapInUse()-heap) / millionGroups
		verdict := ""
		if kind == "event_count" {
			verdict = ", bar 300 B on the heap: " + r.holds(used <= maxGroupBytes)
		}
		r.printf("%d groups of %s with one entry each: %.0f B a group on the heap, RSS %.0f MB more (%.0f B a group)%s\n",
			s.engine.Groups(), kind, used, (resident("VmRSS")-rss)/(1<<20), (resident("VmRSS")-rss)/millionGroups, verdict)
		runtime.KeepAlive(s)
	}
	r.printf("\n")
	return nil
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
