//go:build unix

package daemon

import (
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/rulecache"
	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/state"
)

// age makes files old enough to be trusted.
func age(root string) error {
	hourAgo := time.Now().Add(-time.Hour)
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		return os.Chtimes(path, hourAgo, hourAgo)
	})
}

// BenchmarkStart takes the rules of the corpus from their files and from the
// cache, in turn: from finding the files to the set that serves. It reports the
// medians of the processor time, and the share of it that a start from the cache
// takes. The larger set is the corpus ten times over.
func BenchmarkStart(b *testing.B) {
	for _, copies := range []int{1, 10} {
		b.Run(fmt.Sprintf("%d rules", 3141*copies), func(b *testing.B) { benchmarkStart(b, copies) })
	}
}

func benchmarkStart(b *testing.B, copies int) {
	b.Helper()
	dir, rulesDir := b.TempDir(), b.TempDir()
	archive, err := fs.Sub(sigmatest.RuleArchive(b), "rules")
	for i := range copies {
		if err == nil {
			err = os.CopyFS(filepath.Join(rulesDir, fmt.Sprint(i)), archive)
		}
	}
	if err == nil {
		err = age(rulesDir)
	}
	if err != nil {
		b.Fatal(err)
	}
	cfg := &config.Loaded{Config: config.Default()}
	cfg.Config.Daemon.Rules = []string{rulesDir}
	fresh := newRules(cfg, slog.New(slog.DiscardHandler))
	store, err := state.Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	cached := *fresh
	cached.cache = rulecache.New(rulecache.Options{Series: store.Series("rules"), Log: fresh.log})
	start := func(r *rules) (*generation, time.Duration) {
		runtime.GC() // what the start before left
		begin := sigmatest.ProcessorTime()
		g, err := r.first(b.Context(), io.Discard)
		if err != nil {
			b.Fatal(err)
		}
		return g, sigmatest.ProcessorTime() - begin
	}
	g, _ := start(&cached)
	cached.remember(g)
	var files, cache []time.Duration
	for b.Loop() {
		_, took := start(fresh)
		files = append(files, took)
		g, took := start(&cached)
		cache = append(cache, took)
		if !g.cached {
			b.Fatal("not from the cache")
		}
	}
	median := func(list []time.Duration) float64 {
		slices.Sort(list)
		return float64(list[len(list)/2].Microseconds()) / 1000
	}
	b.ReportMetric(median(files), "files-ms")
	b.ReportMetric(median(cache), "cache-ms")
	b.ReportMetric(100*median(cache)/median(files), "percent")
}
