package dataflow_test

import (
	"bytes"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sink/file"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/engine"
)

// One poisonous event in a hundred costs at most a fifth of the throughput: the
// ratio of the two rates, taken in turn, is to stay above 0.8.
func BenchmarkPoison(b *testing.B) {
	mark := []byte(`{"poison":`)
	poison := func(batch *graph.Batch) {
		for i := range batch.Lines {
			if bytes.HasPrefix(batch.Lines[i].Raw, mark) {
				batch.Outcomes[i].Events = graph.Span{From: 1 << 30, To: 1<<30 + 1} // no such event
			}
		}
	}
	set := corpus(b)
	events := sigmatest.Lane(b, "structured_windows")
	clean, poisoned := make([]graph.Line, len(events)), make([]graph.Line, len(events))
	for i, event := range events {
		clean[i].Raw, poisoned[i].Raw = event, event
		if i%100 == 7 {
			poisoned[i].Raw = append(append(slices.Clone(mark), "1,"...), event[1:]...)
		}
	}
	harmless, harmed := poisonLine(b, set, poison), poisonLine(b, set, poison)
	pass(harmless, clean) // not measured: tables fill
	pass(harmed, poisoned)
	var ratios []float64
	for b.Loop() {
		fast, slow := pass(harmless, clean), pass(harmed, poisoned)
		ratios = append(ratios, fast.Seconds()/slow.Seconds())
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "throughput-ratio")
	if got := harmless.metric("actor_quarantined_total", "actor=evaluate"); got != 0 {
		b.Errorf("%v harmless events were quarantined", got)
	}
	if got, want := harmed.metric("actor_quarantined_total", "actor=evaluate"), float64((1+len(ratios))*len(events)/100); got != want {
		b.Errorf("%v poisonous events were quarantined, want %v", got, want)
	}
}

func poisonLine(b *testing.B, set *engine.Set, poison func(*graph.Batch)) *rig {
	b.Helper()
	out, err := file.Open(os.DevNull, time.Now)
	if err != nil {
		b.Fatal(err)
	}
	dead, err := file.Open(os.DevNull, time.Now)
	if err != nil {
		b.Fatal(err)
	}
	return assemble(b, settings{
		set: set, format: format.JSON, dlq: true, deadLetters: dead, tamper: poison,
		sinks: []sinkSettings{{transport: out, batch: 64, kind: sink.KindFile}},
	})
}

// pass takes run through l and returns how long that took.
func pass(l *rig, run []graph.Line) time.Duration {
	begin := time.Now()
	ended := make(chan struct{})
	receipt := graph.NewReceipt(len(run), func() { close(ended) })
	for i := range run {
		run[i].Token = receipt.Token(i)
	}
	l.put(run)
	<-ended
	return time.Since(begin)
}
