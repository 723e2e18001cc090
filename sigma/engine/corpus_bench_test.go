package engine_test

import (
	"encoding/json"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/result"
)

// corpusRules loads SigmaHQ's rules.
func corpusRules(tb testing.TB) []*ast.Rule {
	tb.Helper()
	c, err := load.Load(tb.Context(), []string{sigmatest.RuleDir(tb, "rules")}, load.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return c.Rules
}

// BenchmarkCorpus takes lines of each lane to result lines, by every rule.
func BenchmarkCorpus(b *testing.B) {
	rules := corpusRules(b)
	for _, mode := range []string{"every", "routed", "derived"} {
		o := engine.Options{}
		switch mode {
		case "routed":
			o.Routing = new(engine.Routing)
		case "derived":
			o.Routing = engine.DefaultRouting()
		}
		set, err := engine.Compile(rules, o)
		if err != nil {
			b.Fatal(err)
		}
		for _, lane := range sigmatest.Lanes() {
			b.Run(lane+"/"+mode, func(b *testing.B) { benchmarkLane(b, set, sigmatest.Lane(b, lane)) })
		}
	}
}

func benchmarkLane(b *testing.B, set *engine.Set, lines [][]byte) {
	b.Helper()
	const run = 512
	w := set.NewWorker()
	var events engine.Events
	var out []byte
	size, n, at := 0, 0, 0
	b.ReportAllocs()
	for b.Loop() {
		if at+run > len(lines) {
			at = 0
		}
		var batch result.Batch
		events.Reset()
		for _, line := range lines[at : at+run] {
			size += len(line)
			if err := w.DecodeJSON(&events, line); err != nil {
				b.Fatal(err)
			}
		}
		for i := range events.Len() {
			w.Evaluate(&events, i, 0, &batch)
		}
		for i := range batch.Len() {
			out = batch.At(i).AppendNative(out[:0], nil)
		}
		n += run
		at += run
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/event")
	b.SetBytes(int64(size / b.N))
}

// BenchmarkValid is the yardstick: checking that the lines are JSON.
func BenchmarkValid(b *testing.B) {
	for _, lane := range sigmatest.Lanes() {
		b.Run(lane, func(b *testing.B) {
			lines := sigmatest.Lane(b, lane)
			n := 0
			for b.Loop() {
				for _, line := range lines[:min(len(lines), 2000)] {
					if !json.Valid(line) {
						b.Fatal("not JSON")
					}
					n++
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/event")
		})
	}
}
