package dataflow_test

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sink/file"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/result"
)

// feed puts run over and over and waits until the last line has ended.
func feed(b *testing.B, l *rig, run []graph.Line) {
	b.Helper()
	in := l.Parse.Intake("bench", time.Now)
	events, used := 0, sigmatest.ProcessorTime()
	for b.Loop() {
		if _, err := in.Put(b.Context(), run); err != nil {
			b.Fatal(err)
		}
		events += len(run)
	}
	ended := make(chan struct{})
	last := graph.NewReceipt(1, func() { close(ended) })
	l.put([]graph.Line{{Raw: []byte("{}"), Token: last.Token(0)}})
	<-ended
	b.ReportMetric(float64((sigmatest.ProcessorTime()-used).Nanoseconds())/float64(events), "cpu-ns/event")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}

// The cost of the line itself: eight stages, no rule, lines that nobody parses.
func BenchmarkEmptyStages(b *testing.B) {
	set, err := engine.Compile(nil, engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range []int{1, 128, 512} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			l := assemble(b, settings{set: set, format: format.Plain, batch: size})
			run := make([]graph.Line, size)
			for i := range run {
				run[i].Raw = []byte("a line")
			}
			b.ReportAllocs()
			feed(b, l, run)
		})
	}
}

// Two processors against one, batches of 512 structured events over the real
// graph, every rule: the bar is 1.8. One and two take turns, and the ratio is the
// median of the turns, by the clock and again without the time that the process
// waited for a processor that others had, which only Linux tells.
func BenchmarkTwoProcessors(b *testing.B) {
	set := corpus(b)
	events := sigmatest.Lane(b, "structured_windows")
	run := make([]graph.Line, 512)
	for i := range run {
		run[i].Raw = events[i%len(events)]
	}
	turn := func(n int) func() sigmatest.Rate {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
		out, err := file.Open(os.DevNull, time.Now)
		if err != nil {
			b.Fatal(err)
		}
		l := assemble(b, settings{
			set: set, format: format.JSON, batch: 512, workers: n,
			sinks: []sinkSettings{{transport: out, batch: 64, kind: sink.KindFile}},
		})
		return func() sigmatest.Rate {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
			return sigmatest.Measure(n, 100*len(run), func() { through(b, l, run, 100) })
		}
	}
	one, two := turn(1), turn(2)
	bare := func(n int) func() sigmatest.Rate {
		workers := make([]func(), n)
		for i := range workers {
			workers[i] = alone(b, set, events[:512])
		}
		return func() sigmatest.Rate {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
			return sigmatest.Measure(n, 100*512*n, func() {
				var wg sync.WaitGroup
				for _, work := range workers {
					wg.Go(func() {
						for range 100 {
							work()
						}
					})
				}
				wg.Wait()
			})
		}
	}
	bareOne, bareTwo := bare(1), bare(2)
	one() // tables fill, buffers grow
	two()
	bareOne()
	bareTwo()
	var graph, machine sigmatest.Ratios
	for b.Loop() {
		a, t := one(), two()
		graph.Add(t, a)
		a, t = bareOne(), bareTwo()
		machine.Add(t, a)
	}
	b.ReportMetric(graph.Clock(), "ratio-by-clock")
	b.ReportMetric(graph.Net(), "ratio-net")
	b.ReportMetric(machine.Net(), "machine-ratio-net")
	b.Logf("two processors against one, the graph: %s", &graph)
	b.Logf("two processors against one, engines alone: %s", &machine)
}

// through puts run n times into the line and waits until the last line has ended.
func through(b *testing.B, l *rig, run []graph.Line, n int) {
	b.Helper()
	in := l.Parse.Intake("bench", time.Now)
	for range n {
		if _, err := in.Put(b.Context(), run); err != nil {
			b.Fatal(err)
		}
	}
	ended := make(chan struct{})
	last := graph.NewReceipt(1, func() { close(ended) })
	l.put([]graph.Line{{Raw: []byte("{}"), Token: last.Token(0)}})
	<-ended
}

// The engine alone over the same events, for comparison.
func BenchmarkEngineAlone(b *testing.B) {
	set := corpus(b)
	lines := sigmatest.Lane(b, "structured_windows")[:512]
	work := alone(b, set, lines)
	n, begin := 0, time.Now()
	for b.Loop() {
		work()
		n += len(lines)
	}
	b.ReportMetric(float64(time.Since(begin).Nanoseconds())/float64(n), "ns/event")
}

// alone returns what evaluates the lines once and renders what they came to, with a
// worker of its own.
func alone(b *testing.B, set *engine.Set, lines [][]byte) func() {
	b.Helper()
	w, events := set.NewWorker(), new(engine.Events)
	var rendered []byte
	return func() {
		out := new(result.Batch)
		events.Reset()
		for i, line := range lines {
			if err := w.DecodeJSON(events, line); err != nil {
				b.Error(err)
				return
			}
			w.Evaluate(events, i, 0, out)
		}
		rendered = rendered[:0]
		for i := range out.Len() {
			rendered = append(out.At(i).AppendNative(rendered, nil), '\n')
		}
	}
}

func corpus(b *testing.B) *engine.Set {
	b.Helper()
	c, err := load.Load(b.Context(), []string{sigmatest.RuleDir(b, "rules")}, load.Options{})
	if err != nil {
		b.Fatal(err)
	}
	set, err := engine.Compile(c.Rules, engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return set
}
