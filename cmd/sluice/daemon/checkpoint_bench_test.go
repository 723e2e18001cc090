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
	"github.com/sluicehq/sluice/internal/sigmatest"
)

const (
	manyGroups = 100_000

	pauseBatch = 128                    // lines
	pauseSpan  = time.Second            // of one measurement, with saves or without
	betweenTwo = 100 * time.Millisecond // saves
)

// BenchmarkSaveUnderLoad saves 100,000 groups while events come in, all of which
// match: half as many as the daemon can take, and as many as it can take. The pause
// of the stream is the longest time between two batches of 128 lines that leave it
// one after the other. The bar is ten times the median time of a batch of the same
// load, from its turn to its end; the time of a batch that has the daemon for itself
// is told, too. Spans with saves and spans without take turns: what the ones without
// show is the unrest of the machine and of the runtime. The pause is told twice, by
// the clock and by the processor time that the process itself used meanwhile, divided
// by the number of processors: on a machine that others use the clock shows their
// turns, too.
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
	d.checkpointer.interval = time.Hour
	if err := d.Start(); err != nil {
		b.Fatal(err)
	}
	s := newPauses(d)
	alone := s.alone(b)
	b.Logf("a batch of %d lines alone: median %s", pauseBatch, alone)
	half := 2 * pauseSpan / time.Duration(s.span(b, 0, false).batches)
	kinds := []*kind{
		{name: "half-quiet", every: half},
		{name: "half-saving", every: half, saving: true},
		{name: "full-quiet"},
		{name: "full-saving", saving: true},
	}
	for b.Loop() {
		for _, k := range kinds {
			k.spans = append(k.spans, s.span(b, k.every, k.saving))
		}
	}
	for _, k := range kinds {
		longest := k.sorted(func(s span) []time.Duration { return []time.Duration{s.longest} })
		worked := k.sorted(func(s span) []time.Duration { return []time.Duration{s.worked} })
		took := k.sorted(func(s span) []time.Duration { return []time.Duration{s.took} })
		batch := took[len(took)/2]
		b.Logf("%-11s %d batches a second, which took %s (median), so the bar is %s", k.name, k.batches()/len(k.spans), batch, 10*batch)
		b.Logf("%-11s longest pause by span: clock %s (median) to %s, worked %s to %s", "",
			longest[len(longest)/2], longest[len(longest)-1], worked[len(worked)/2], worked[len(worked)-1])
		b.ReportMetric(float64(longest[len(longest)-1])/float64(batch), k.name+"-pause/batch")
		if k.saving {
			cuts := k.sorted(func(s span) []time.Duration { return s.cuts })
			b.Logf("%-11s %d saves; a barrier took from parse to dispatch: median %s, most %s", "", len(cuts), cuts[len(cuts)/2], cuts[len(cuts)-1])
		}
	}
}

// kind is one kind of spans.
type kind struct {
	name   string
	every  time.Duration // between two batches; 0: as fast as they are taken
	saving bool
	spans  []span
}

// sorted are the times of all spans, shortest first.
func (k *kind) sorted(times func(span) []time.Duration) (all []time.Duration) {
	for _, s := range k.spans {
		all = append(all, times(s)...)
	}
	slices.Sort(all)
	return all
}

func (k *kind) batches() (n int) {
	for _, s := range k.spans {
		n += s.batches
	}
	return n
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
	n, _ := s.d.dataflow.Parse.Intake("bench", time.Now).Put(ctx, run)
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
	longest time.Duration // between batches
	worked  time.Duration // the longest again, in processor time of this process by processor
	took    time.Duration // by a batch, from its turn to its end: median
	batches int
	cuts    []time.Duration
}

// span puts batches for a while, one whenever its turn has come.
func (s *pauses) span(b *testing.B, every time.Duration, saving bool) (out span) {
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
	var took []time.Duration
	begin := time.Now()
	last, worked := begin, sigmatest.ProcessorTime()
	var open sync.WaitGroup
	for turn := begin; ctx.Err() == nil; turn = turn.Add(every) {
		if every > 0 {
			time.Sleep(time.Until(turn))
		} else {
			turn = time.Now()
		}
		open.Add(1)
		s.put(ctx, func() {
			mu.Lock()
			defer mu.Unlock()
			now, used := time.Now(), sigmatest.ProcessorTime()
			took = append(took, now.Sub(turn))
			out.longest = max(out.longest, now.Sub(last))
			out.worked = max(out.worked, (used-worked)/time.Duration(runtime.GOMAXPROCS(0)))
			last, worked = now, used
			open.Done()
		})
	}
	open.Wait()
	saves.Wait()
	slices.Sort(took)
	out.batches, out.took = len(took), took[len(took)/2]
	return out
}

// saveOnce saves and returns how long the barrier was under way.
func (d *Daemon) saveOnce(ctx context.Context) (time.Duration, error) {
	barrier := graph.NewBarrier(0)
	begin := time.Now()
	if err := d.dataflow.Parse.Client().Cut(ctx, barrier); err != nil {
		return 0, err
	}
	<-barrier.Passed()
	took := time.Since(begin)
	return took, d.checkpointer.write(ctx, barrier.Exports(), barrier)
}
