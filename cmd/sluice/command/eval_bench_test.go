package command

import (
	"bytes"
	"io"
	"testing"

	"github.com/sluicehq/sluice/actors/parse/format"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/result"
	"github.com/sluicehq/sluice/sigma/sigmatest"
)

// What reading, handing over and writing add to the engine's own work.
func BenchmarkEval(b *testing.B) {
	rules, err := load.Load([]string{sigmatest.RuleDir(b, "rules")}, load.Options{})
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
					if err := d.Decode(w, &ev, line, 0); err != nil {
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
			r := &run{set: set, decoder: new(format.Decoder), renderer: p.renderer(), write: p.write}
			for b.Loop() {
				if _, err := r.judge(bytes.NewReader(text)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(lines)*b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
