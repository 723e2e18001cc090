package main

import (
	"context"
	"math"
	"runtime"
	"time"

	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/engine"
)

// The bars of the formats.
const (
	minFormatRatio  = 1.0   // bytes of lines in a second to bytes of JSON that json.Valid reads
	maxFormatAllocs = 0.001 // per line: the profiler's own noise
	formatLines     = 1000  // of a kind
)

// formats measures decoding of lines that are no JSON against json.Valid over the JSON
// of their events. It keeps to one core.
func (r *report) formats(_ context.Context, o options) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	rules, err := loadRules(o.data)
	if err != nil {
		return err
	}
	set, err := engine.Compile(rules, engine.Options{})
	if err != nil {
		return err
	}
	r.printf("%-20s %10s %10s %12s %8s %7s  %9s %6s\n", "lines", "lines/s", "MB/s", "json.Valid", "allocs", "ratio", "half in", "bar")
	for _, kind := range sigmatest.LineKinds() {
		if o.only != "" && o.only != kind.Name {
			continue
		}
		if err := r.lineKind(set, kind, o.each); err != nil {
			return err
		}
	}
	return nil
}

// leastMallocs is how often run allocates: the least of several passes, as what else goes on
// in the process counts, too.
func leastMallocs(run func()) uint64 {
	least := uint64(math.MaxUint64)
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		run()
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	return least
}

// lineKind measures and prints one kind of lines.
func (r *report) lineKind(set *engine.Set, kind sigmatest.LineKind, each time.Duration) error {
	d, err := format.NewDecoder(kind.Format, "UTC", true)
	if err != nil {
		return err
	}
	w, ev, now := set.NewWorker(), new(engine.Events), time.Now().Unix()
	lines := kind.Lines(formatLines)
	objects := make([][]byte, 0, len(lines))
	decode := func(then func()) {
		for rest := lines; len(rest) > 0 && err == nil; {
			n := min(batchSize, len(rest))
			ev.Reset()
			for _, line := range rest[:n] {
				if _, err = d.Decode(w, ev, line, now); err != nil {
					return
				}
			}
			then()
			rest = rest[n:]
		}
	}
	decode(func() {
		for i := range ev.Len() {
			objects = append(objects, ev.AppendJSON(nil, i))
		}
	})
	var took, valid []time.Duration
	for start := time.Now(); err == nil && (time.Since(start) < each || len(took) < minRounds); {
		took = append(took, timed(func() { decode(func() {}) }))
		valid = append(valid, timed(func() { checkJSON(objects) }))
	}
	mallocs := leastMallocs(func() { decode(func() {}) })
	if err != nil {
		return err
	}
	ratios := make([]float64, len(took))
	for i := range took {
		ratios[i] = throughput(lines, took[i]) / throughput(objects, valid[i])
	}
	ratio, allocs := median(ratios), float64(mallocs)/formatLines
	r.printf("%-20s %10.0f %10.0f %12.0f %8.3f %7.2f  %4.2f-%4.2f %6.2f %s\n", kind.Name, formatLines/median(took).Seconds(), throughput(lines, median(took))/1e6,
		throughput(objects, median(valid))/1e6, allocs, ratio, quantile(ratios, 1), quantile(ratios, 3), minFormatRatio, r.holds(ratio >= minFormatRatio && allocs <= maxFormatAllocs))
	return nil
}

// throughput is how many bytes of lines were done in a second.
func throughput(lines [][]byte, took time.Duration) float64 {
	size := 0
	for _, line := range lines {
		size += len(line)
	}
	return float64(size) / took.Seconds()
}
