package main

import (
	"io/fs"
	"runtime"
	"time"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/result"
)

// aloneBatch is the number of lines that the engine alone judges at once, as
// many as the daemon's default.
const aloneBatch = 128

// alone is the engine without a daemon around it: NDJSON lines in, result bytes
// out, on one core.
type alone struct {
	set    *engine.Set
	worker *engine.Worker
	events engine.Events
	out    []byte
}

func newAlone(rules fs.FS) (*alone, error) {
	c, err := load.FromFS(rules, load.Options{})
	if err != nil {
		return nil, err
	}
	set, err := engine.Compile(c.Rules, engine.Options{})
	if err != nil {
		return nil, err
	}
	return &alone{set: set}, nil
}

// lane readies the engine for other lines: what it learned from the last ones
// is gone.
func (a *alone) lane() { a.worker = a.set.NewWorker() }

// rate judges the lines over and over for about the given time and returns how
// many it gets through in a second of processor time.
func (a *alone) rate(lines [][]byte, each time.Duration) (float64, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	used, judged := time.Duration(0), 0
	for begin := time.Now(); judged == 0 || time.Since(begin) < each; {
		before := sigmatest.ProcessorTime()
		if err := a.pass(lines); err != nil {
			return 0, err
		}
		used += sigmatest.ProcessorTime() - before
		judged += len(lines)
	}
	return float64(judged) / max(used, 1).Seconds(), nil
}

func (a *alone) pass(lines [][]byte) error {
	for len(lines) > 0 {
		n := min(aloneBatch, len(lines))
		if err := a.step(lines[:n]); err != nil {
			return err
		}
		lines = lines[n:]
	}
	return nil
}

func (a *alone) step(lines [][]byte) error {
	a.events.Reset()
	for _, line := range lines {
		if err := a.worker.DecodeJSON(&a.events, line); err != nil {
			return err
		}
	}
	results := new(result.Batch) // given away, as it is to the next stage
	for i := range a.events.Len() {
		a.worker.Evaluate(&a.events, i, 0, results)
	}
	a.out = a.out[:0]
	for i := range results.Len() {
		a.out = append(results.At(i).AppendNative(a.out, nil), '\n')
	}
	return nil
}
