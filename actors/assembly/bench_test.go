package assembly_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sluicehq/sluice/actors/parse/format"
	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sink/file"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/result"
	"github.com/sluicehq/sluice/sigma/sigmatest"
)

// feed puts run over and over and waits until the last line has ended.
func feed(b *testing.B, l *line, run []graph.Line) {
	b.Helper()
	in := l.parse.Intake("bench")
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
	turn := func(n int) func() rate {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
		out, err := file.Open(os.DevNull, time.Now)
		if err != nil {
			b.Fatal(err)
		}
		l := assemble(b, settings{
			set: set, format: format.JSON, batch: 512, workers: n,
			sinks: []sinkSettings{{transport: out, batch: 64, kind: sink.KindFile}},
		})
		return func() rate {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
			return measured(n, 100*len(run), func() { through(b, l, run, 100) })
		}
	}
	one, two := turn(1), turn(2)
	bare := func(n int) func() rate {
		workers := make([]func(), n)
		for i := range workers {
			workers[i] = alone(b, set, events[:512])
		}
		return func() rate {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
			return measured(n, 100*512*n, func() {
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
	var graph, machine ratios
	for b.Loop() {
		graph.add(one(), two())
		machine.add(bareOne(), bareTwo())
	}
	b.ReportMetric(quartile(graph.clock, 2), "ratio-by-clock")
	b.ReportMetric(quartile(graph.net, 2), "ratio-net")
	b.ReportMetric(quartile(machine.net, 2), "machine-ratio-net")
	b.Logf("the graph:            %s", graph)
	b.Logf("engines without one:  %s", machine)
}

// ratios compare turns on two processors with turns on one.
type ratios struct{ clock, net, cost []float64 }

func (r *ratios) add(one, two rate) {
	r.clock = append(r.clock, two.clock/one.clock)
	r.net = append(r.net, two.net/one.net)
	r.cost = append(r.cost, two.cost/one.cost)
}

func (r ratios) String() string {
	return fmt.Sprintf("two processors are %.2f times one by the clock (half in %.2f to %.2f), %.2f without waiting for others (half in %.2f to %.2f); an event costs %.2f times the processor time",
		quartile(r.clock, 2), quartile(r.clock, 1), quartile(r.clock, 3), quartile(r.net, 2), quartile(r.net, 1), quartile(r.net, 3), quartile(r.cost, 2))
}

// rate is what one turn came to.
type rate struct {
	clock, net float64 // events per second, all of them and those in which a processor was to be had
	cost       float64 // processor time of an event, ns
}

// measured does work that is so many events on so many processors.
func measured(processors, events int, work func()) rate {
	begin, used, waited := time.Now(), sigmatest.ProcessorTime(), waitingTime()
	work()
	took, n := time.Since(begin), float64(events)
	lost := (waitingTime() - waited) / time.Duration(processors)
	return rate{
		clock: n / took.Seconds(), net: n / (took - min(lost, took*9/10)).Seconds(),
		cost: float64((sigmatest.ProcessorTime() - used).Nanoseconds()) / n,
	}
}

// through puts run n times into the line and waits until the last line has ended.
func through(b *testing.B, l *line, run []graph.Line, n int) {
	b.Helper()
	in := l.parse.Intake("bench")
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

// waitingTime is how long the threads of this process have been ready to run
// without a processor; 0 where nobody tells.
func waitingTime() (sum time.Duration) {
	tasks, _ := filepath.Glob("/proc/self/task/*/schedstat")
	for _, name := range tasks {
		var ran, waited int64
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		if _, err := fmt.Sscan(string(text), &ran, &waited); err == nil {
			sum += time.Duration(waited)
		}
	}
	return sum
}

// quartile returns the n-th quartile; the second is the median.
func quartile(in []float64, n int) float64 {
	s := slices.Sorted(slices.Values(in))
	return s[min(len(s)*n/4, len(s)-1)]
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

// alone returns what judges the lines once and renders what they came to, with a
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
	c, err := load.Load([]string{sigmatest.RuleDir(b, "rules")}, load.Options{})
	if err != nil {
		b.Fatal(err)
	}
	set, err := engine.Compile(c.Rules, engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return set
}
