package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"time"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

// minRounds keeps a median meaningful on short runs.
const minRounds = 5

// figures are of one lane under one engine, interleaved with json.Valid.
type figures struct {
	ratio         float64 // median over rounds
	events, bytes float64 // per second, of the median round
	perEvent      time.Duration
	allocs        float64 // per event
	perResult     float64 // allocations per result
	results       float64 // per event
}

// measureLane runs judges and json.Valid in turn over the lines, until the time is
// over.
func measureLane(judges []*judge, lines [][]byte, each time.Duration) ([]figures, error) {
	for _, j := range judges { // not measured: tables fill, buffers grow
		if err := j.run(lines); err != nil {
			return nil, err
		}
	}
	var valid []time.Duration
	took := make([][]time.Duration, len(judges))
	for start := time.Now(); time.Since(start) < each || len(valid) < minRounds; {
		valid = append(valid, timed(func() { checkJSON(lines) }))
		for i, j := range judges {
			var err error
			took[i] = append(took[i], timed(func() { err = j.run(lines) }))
			if err != nil {
				return nil, err
			}
		}
	}
	size := 0
	for _, line := range lines {
		size += len(line)
	}
	out := make([]figures, len(judges))
	for i, j := range judges {
		ratios := make([]float64, len(valid))
		for k := range ratios {
			ratios[k] = valid[k].Seconds() / took[i][k].Seconds()
		}
		d := median(took[i])
		s := figures{ratio: median(ratios), perEvent: d / time.Duration(len(lines))}
		s.events = float64(len(lines)) / d.Seconds()
		s.bytes = float64(size) / d.Seconds()
		s.allocs, s.perResult, s.results = allocations(j, lines)
		out[i] = s
	}
	return out, nil
}

func timed(f func()) time.Duration {
	start := sigmatest.ProcessorTime()
	f()
	return max(sigmatest.ProcessorTime()-start, 1) // something too short for the clock took some time, too
}

func checkJSON(lines [][]byte) {
	for _, line := range lines {
		if !json.Valid(line) {
			panic(fmt.Sprintf("a lane holds invalid JSON: %.200s", line))
		}
	}
}

// allocations counts mallocs of one pass.
func allocations(j *judge, lines [][]byte) (perEvent, perResult, results float64) {
	var before, after runtime.MemStats
	made := j.results
	runtime.GC()
	runtime.ReadMemStats(&before)
	if err := j.run(lines); err != nil {
		return 0, 0, 0
	}
	runtime.ReadMemStats(&after)
	n := float64(after.Mallocs - before.Mallocs)
	made = j.results - made
	if made > 0 {
		perResult = n / float64(made)
	}
	return n / float64(len(lines)), perResult, float64(made) / float64(len(lines))
}

// unmatched lists the lines that no rule fires on.
func unmatched(j *judge, lines [][]byte) ([][]byte, error) {
	var out [][]byte
	for _, line := range lines {
		made := j.results
		if err := j.step([][]byte{line}); err != nil {
			return nil, err
		}
		if j.results == made {
			out = append(out, line)
		}
	}
	return out, nil
}
