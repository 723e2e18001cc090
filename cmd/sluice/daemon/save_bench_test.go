package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/graph"
)

const manyGroups = 100_000

// BenchmarkSaveUnderLoad saves 100,000 groups while batches of 128 lines pass.
// It reports the median time of a batch, how long the slowest of a thousand took,
// and how long a barrier took from parse to dispatch, which is all that a save
// holds the stream up for. What is reported without saving is the machine's own
// unrest, and the least of the barriers' times the one with the least of it.
func BenchmarkSaveUnderLoad(b *testing.B) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "rules.yml"), []byte(countingRules), 0o644); err != nil {
		b.Fatal(err)
	}
	d, err := stateful(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := d.Stop(); err != nil {
			b.Error(err)
		}
	}()
	d.keeper.interval = time.Hour
	if err := d.Start(); err != nil {
		b.Fatal(err)
	}
	var events [][]string
	for from := 0; from < manyGroups; from += 128 {
		var lines []string
		for i := from; i < min(from+128, manyGroups); i++ {
			lines = append(lines, fmt.Sprintf(`{"C":"evil","U":"user-%06d"}`, i))
		}
		events = append(events, lines)
	}
	for _, lines := range events {
		d.push(lines)
	}
	for _, saving := range []bool{false, true} {
		b.Run(fmt.Sprintf("saving=%v", saving), func(b *testing.B) {
			stop, stopped := make(chan struct{}), make(chan struct{})
			var cuts []time.Duration
			go func() {
				defer close(stopped)
				for saving {
					select {
					case <-stop:
						return
					default:
					}
					cut, err := d.saveOnce(b.Context())
					if err != nil {
						b.Error(err)
						return
					}
					cuts = append(cuts, cut)
				}
			}()
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				begin := time.Now()
				d.push(events[i%len(events)])
				took = append(took, time.Since(begin))
			}
			close(stop)
			<-stopped
			slices.Sort(took)
			median := took[len(took)/2]
			b.ReportMetric(float64(median.Microseconds()), "median-µs")
			b.ReportMetric(float64(took[len(took)*999/1000].Microseconds()), "p999-µs")
			if saving {
				slices.Sort(cuts)
				b.ReportMetric(float64(cuts[len(cuts)/2].Microseconds()), "cut-µs")
				b.ReportMetric(float64(cuts[0].Microseconds()), "least-cut-µs")
				b.ReportMetric(float64(len(cuts)), "saves")
			}
		})
	}
}

// saveOnce saves and returns how long the barrier was under way.
func (d *Daemon) saveOnce(ctx context.Context) (time.Duration, error) {
	barrier := graph.NewBarrier(0)
	begin := time.Now()
	if err := d.line.publisher.Cut(ctx, barrier); err != nil {
		return 0, err
	}
	<-barrier.Passed()
	took := time.Since(begin)
	return took, d.keeper.write(ctx, barrier.Exports(), barrier.Released())
}

func (d *Daemon) push(lines []string) {
	d.call("POST", "/api/v1/events?commit=true", strings.Join(lines, "\n"))
}
