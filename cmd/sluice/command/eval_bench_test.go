package command

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/result"
	"github.com/sluicehq/sluice/sources"
)

// What reading, handing over and writing add to the engine's own work.
func BenchmarkEval(b *testing.B) {
	rules, err := load.Load(b.Context(), []string{sigmatest.RuleDir(b, "rules")}, load.Options{})
	if err != nil {
		b.Fatal(err)
	}
	set, err := engine.Compile(rules.Rules, engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, lane := range []string{"raw_windows", "structured_windows"} {
		lines := sigmatest.Lane(b, lane)
		text := append(bytes.Join(lines, []byte("\n")), '\n')
		b.Run(lane+"/engine", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			w, d := set.NewWorker(), new(format.Decoder)
			var ev engine.Events
			var batch result.Batch
			var out []byte
			for b.Loop() {
				for _, line := range lines {
					ev.Reset()
					batch.Truncate(0)
					if _, err := d.Decode(w, &ev, line, 0); err != nil {
						b.Fatal(err)
					}
					w.Evaluate(&ev, 0, 0, &batch)
					out = out[:0]
					for i := range batch.Len() {
						out = append(batch.At(i).AppendNative(out, nil), '\n')
					}
				}
			}
			b.ReportMetric(float64(len(lines)*b.N)/b.Elapsed().Seconds(), "events/s")
		})
		b.Run(lane+"/eval", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			p := newPrinter(&console{Streams: Streams{Out: io.Discard, Err: io.Discard}, format: formatNDJSON}, false)
			e := newEvaluation(&graph.RuleSet{Engine: set}, nil, new(format.Decoder), p, &config.Default().Eval, func(...string) {})
			for b.Loop() {
				if err := e.run(sources.NewLineReader(bytes.NewReader(text))); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(lines)*b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// Eval on two processors, on one, and the engine alone on one, in turns. The bars
// are 0.75 of the engine on one processor, and that the second one is used.
func BenchmarkEvalProcessors(b *testing.B) {
	rules, err := load.Load(b.Context(), []string{sigmatest.RuleDir(b, "rules")}, load.Options{})
	if err != nil {
		b.Fatal(err)
	}
	set, err := engine.Compile(rules.Rules, engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, lane := range []string{"structured_windows", sigmatest.Telemetry} {
		b.Run(lane, func(b *testing.B) {
			lines := sigmatest.Lane(b, lane)
			text := append(bytes.Join(lines, []byte("\n")), '\n')
			w, ev, batch, out := set.NewWorker(), new(engine.Events), new(result.Batch), []byte(nil)
			alone := func() sigmatest.Rate {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				return sigmatest.Measure(1, len(lines), func() {
					for _, line := range lines {
						ev.Reset()
						batch.Truncate(0)
						if err := w.DecodeJSON(ev, line); err != nil {
							b.Error(err)
							return
						}
						w.Evaluate(ev, 0, 0, batch)
						out = out[:0]
						for i := range batch.Len() {
							out = append(batch.At(i).AppendNative(out, nil), '\n')
						}
					}
				})
			}
			eval := func(processors int) sigmatest.Rate {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
				p := newPrinter(&console{Streams: Streams{Out: io.Discard, Err: io.Discard}, format: formatNDJSON}, false)
				e := newEvaluation(&graph.RuleSet{Engine: set}, nil, new(format.Decoder), p, &config.Default().Eval, func(...string) {})
				const times = 4 // a worker begins with empty tables
				return sigmatest.Measure(processors, times*len(lines), func() {
					texts := make([]io.Reader, times)
					for i := range texts {
						texts[i] = bytes.NewReader(text)
					}
					if err := e.run(sources.NewLineReader(io.MultiReader(texts...))); err != nil {
						b.Error(err)
					}
				})
			}
			alone()
			eval(2)
			var share, two sigmatest.Ratios
			for b.Loop() {
				before, one, both, after := alone(), eval(1), eval(2), alone()
				share.Add(one, sigmatest.Rate{
					Clock: (before.Clock + after.Clock) / 2, Net: (before.Net + after.Net) / 2, Cost: (before.Cost + after.Cost) / 2,
				})
				two.Add(both, one)
			}
			b.ReportMetric(share.Net(), "of-engine")
			b.ReportMetric(two.Net(), "two-of-one")
			b.Logf("eval on one processor against the engine on one: %s", &share)
			b.Logf("eval on two processors against one:              %s", &two)
		})
	}
}
