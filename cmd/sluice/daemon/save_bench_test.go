package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/sigmatest"
)

const (
	manyGroups = 100_000

	pauseBatch = 128                    // lines
	pauseSpan  = time.Second            // of one measurement, with saves or without
	betweenTwo = 100 * time.Millisecond // saves
)

// BenchmarkSaveUnderLoad saves 100,000 groups while input is always waiting. The
// pause of the stream is the longest time between two batches of 128 lines that
// leave correlate one after the other; the bar is ten times the median time of a
// batch that is alone in the daemon. Spans with saves and spans without take
// turns: what the ones without show is the unrest of the machine and of the
// runtime. The pause is told twice, by the clock and by the processor time that
// the process itself used meanwhile, divided by the number of processors: on a
// machine that others use the clock shows their turns, too.
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
	s := newPauses(d)
	alone := s.alone(b)
	var quiet, saving []span
	for b.Loop() {
		quiet = append(quiet, s.span(b, false))
		saving = append(saving, s.span(b, true))
	}
	bar := 10 * alone
	b.Logf("a batch of %d lines alone: median %s, bar %s", pauseBatch, alone, bar)
	for _, of := range []struct {
		name  string
		spans []span
	}{{"quiet", quiet}, {"saving", saving}} {
		clock := sorted(of.spans, func(s span) []time.Duration { return []time.Duration{s.longest} })
		worked := sorted(of.spans, func(s span) []time.Duration { return []time.Duration{s.worked} })
		median := sorted(of.spans, func(s span) []time.Duration { return []time.Duration{s.median} })
		b.Logf("%-6s longest pause by span: clock %s (median) to %s, worked %s to %s; median time between batches %s",
			of.name, clock[len(clock)/2], clock[len(clock)-1], worked[len(worked)/2], worked[len(worked)-1], median[len(median)/2])
		b.ReportMetric(float64(worked[len(worked)-1])/float64(alone), of.name+"-pause/batch")
	}
	cuts := sorted(saving, func(s span) []time.Duration { return s.cuts })
	b.Logf("%d saves; a barrier took from parse to dispatch: median %s, most %s", len(cuts), cuts[len(cuts)/2], cuts[len(cuts)-1])
}

// sorted are the times of all spans, shortest first.
func sorted(spans []span, times func(span) []time.Duration) (all []time.Duration) {
	for _, s := range spans {
		all = append(all, times(s)...)
	}
	slices.Sort(all)
	return all
}

// pauses measures the stream of one daemon.
type pauses struct {
	d    *Daemon
	runs [][]graph.Line
	next int
}

// newPauses fills the daemon with groups.
func newPauses(d *Daemon) *pauses {
	s := &pauses{d: d}
	for from := 0; from+pauseBatch <= manyGroups; from += pauseBatch {
		run := make([]graph.Line, pauseBatch)
		for i := range run {
			run[i].Raw = fmt.Appendf(nil, `{"C":"evil","U":"user-%06d"}`, from+i)
		}
		s.runs = append(s.runs, run)
	}
	for range s.runs {
		s.put(context.Background(), func() {})
	}
	return s
}

// put puts the next batch and calls ended when all of it has.
func (s *pauses) put(ctx context.Context, ended func()) {
	run := slices.Clone(s.runs[s.next])
	s.next = (s.next + 1) % len(s.runs)
	receipt := graph.NewReceipt(len(run), ended)
	for i := range run {
		run[i].Token = receipt.Token(i)
	}
	n, _ := s.d.line.parse.Intake("bench").Put(ctx, run)
	receipt.Withdraw(n)
}

// alone is the median time of a batch that has the daemon for itself.
func (s *pauses) alone(b *testing.B) time.Duration {
	b.Helper()
	var took []time.Duration
	for range 1000 {
		ended := make(chan struct{})
		begin := time.Now()
		s.put(b.Context(), func() { close(ended) })
		<-ended
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// span is what one measurement found.
type span struct {
	longest, median time.Duration // between batches
	worked          time.Duration // the longest again, in processor time of this process by processor
	batches         int
	cuts            []time.Duration
}

// span keeps the input queue full for a while.
func (s *pauses) span(b *testing.B, saving bool) (out span) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), pauseSpan)
	defer cancel()
	var saves sync.WaitGroup
	if saving {
		saves.Go(func() {
			for ctx.Err() == nil {
				cut, err := s.d.saveOnce(b.Context())
				if err != nil {
					b.Error(err)
					return
				}
				out.cuts = append(out.cuts, cut)
				time.Sleep(betweenTwo)
			}
		})
	}
	var mu sync.Mutex // guards what follows
	var between []time.Duration
	last, worked := time.Now(), sigmatest.ProcessorTime()
	var open sync.WaitGroup
	for ctx.Err() == nil {
		open.Add(1)
		s.put(ctx, func() {
			mu.Lock()
			defer mu.Unlock()
			now, used := time.Now(), sigmatest.ProcessorTime()
			between = append(between, now.Sub(last))
			out.worked = max(out.worked, (used-worked)/time.Duration(runtime.GOMAXPROCS(0)))
			last, worked = now, used
			open.Done()
		})
	}
	open.Wait()
	saves.Wait()
	slices.Sort(between)
	out.batches, out.median, out.longest = len(between), between[len(between)/2], between[len(between)-1]
	return out
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
