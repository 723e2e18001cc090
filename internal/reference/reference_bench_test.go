package reference_test

import (
	"slices"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/reference"
	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/result"
)

// minOverReference is how many times faster than the reference the engine must be
// on structured_windows.
const minOverReference = 500.0

// BenchmarkEngineOverReference reports how many times faster than the reference the
// engine is on each lane: the median over rounds in which the reference has a few
// lines from all parts of the lane and the engine, in turn, the whole lane. Times are
// processor time. It fails below the bar.
func BenchmarkEngineOverReference(b *testing.B) {
	rules := corpus(b)
	e, err := reference.New(rules, reference.Options{})
	if err != nil {
		b.Fatal(err)
	}
	x := newIndexed(b, rules, reference.Options{})
	for _, lane := range sigmatest.Lanes() {
		b.Run(lane, func(b *testing.B) {
			lines := sigmatest.Lane(b, lane)
			x.judge(b, lines) // not measured: tables fill, buffers grow
			const rounds, events = 5, 30
			var slow, times []float64
			for round := 0; b.Loop(); round++ {
				start := sigmatest.ProcessorTime()
				for i := range events {
					line := lines[(i*rounds+round%rounds)*len(lines)/(rounds*events)]
					ev, err := reference.DecodeJSON(line)
					if err != nil {
						b.Fatal(err)
					}
					e.Evaluate(ev, 0)
				}
				between := sigmatest.ProcessorTime()
				x.judge(b, lines)
				fast := nanoseconds(sigmatest.ProcessorTime()-between) / float64(len(lines))
				slow = append(slow, nanoseconds(between-start)/events)
				times = append(times, slow[len(slow)-1]/fast)
			}
			median := sigmatest.Quartile(times, 2)
			b.ReportMetric(median, "times")
			b.ReportMetric(sigmatest.Quartile(slow, 2), "reference-ns/event")
			if lane == "structured_windows" && median < minOverReference {
				b.Errorf("%.0f times the reference, want at least %.0f", median, minOverReference)
			}
		})
	}
}

func nanoseconds(d time.Duration) float64 { return float64(max(d, 1).Nanoseconds()) }

// judge takes lines to result lines, batch by batch.
func (x *indexed) judge(b *testing.B, lines [][]byte) {
	b.Helper()
	var out []byte
	for batch := range slices.Chunk(lines, 256) {
		x.events.Reset()
		for _, line := range batch {
			if err := x.worker.DecodeJSON(&x.events, line); err != nil {
				b.Fatal(err)
			}
		}
		var results result.Batch
		for i := range x.events.Len() {
			x.worker.Evaluate(&x.events, i, 0, &results)
		}
		for i := range results.Len() {
			out = results.At(i).AppendNative(out[:0], nil)
		}
	}
}
