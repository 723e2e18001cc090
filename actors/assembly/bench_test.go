package assembly_test

import (
	"fmt"
	"os"
	"runtime"
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

// feed puts run n times and waits until the last line has ended. Two processors
// are worth cpu-ns/event of one, divided by that of two, times two, unless
// something keeps one of them waiting.
func feed(b *testing.B, l *line, run []graph.Line) {
	b.Helper()
	in := l.parse.Intake("bench")
	events, used := 0, cpuTime()
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
	b.ReportMetric(float64((cpuTime()-used).Nanoseconds())/float64(events), "cpu-ns/event")
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

// Two processors against one, all rules, events of one lane.
func BenchmarkProcessors(b *testing.B) {
	set := corpus(b)
	events := sigmatest.Lane(b, "structured_windows")
	run := make([]graph.Line, 512)
	bytes := 0
	for i := range run {
		run[i].Raw = events[i%len(events)]
		bytes += len(run[i].Raw)
	}
	b.Logf("%.2f results per event", results(b, set, events))
	for _, n := range []int{1, 2} {
		b.Run(fmt.Sprintf("processors=%d", n), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
			out, err := file.Open(os.DevNull, time.Now)
			if err != nil {
				b.Fatal(err)
			}
			l := assemble(b, settings{set: set, format: format.JSON, batch: 512, sinks: []sinkSettings{{transport: out, batch: 64, kind: sink.KindFile}}})
			b.SetBytes(int64(bytes))
			b.ReportAllocs()
			feed(b, l, run)
		})
	}
}

// The engine alone over the same events, for comparison.
func BenchmarkEngineAlone(b *testing.B) {
	set := corpus(b)
	lines := sigmatest.Lane(b, "structured_windows")[:512]
	w, events := set.NewWorker(), new(engine.Events)
	n, begin := 0, time.Now()
	for b.Loop() {
		out := new(result.Batch)
		events.Reset()
		for i, line := range lines {
			if err := w.DecodeJSON(events, line); err != nil {
				b.Fatal(err)
			}
			w.Evaluate(events, i, 0, out)
		}
		n += len(lines)
	}
	b.ReportMetric(float64(time.Since(begin).Nanoseconds())/float64(n), "ns/event")
}

func results(b *testing.B, set *engine.Set, lines [][]byte) float64 {
	b.Helper()
	w, events, out := set.NewWorker(), new(engine.Events), new(result.Batch)
	for i, line := range lines {
		if err := w.DecodeJSON(events, line); err != nil {
			b.Fatal(err)
		}
		w.Evaluate(events, i, 0, out)
	}
	return float64(out.Len()) / float64(len(lines))
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
