package daemon

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/sigma/sigmatest"
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

// BenchmarkStart loads and compiles the rules of the corpus, from their files
// and from the cache.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	archive, err := fs.Sub(sigmatest.RuleArchive(b), "rules")
	if err == nil {
		err = os.CopyFS(filepath.Join(dir, "rules"), archive)
	}
	if err == nil {
		err = age(filepath.Join(dir, "rules"))
	}
	if err != nil {
		b.Fatal(err)
	}
	cfg := &config.Loaded{Config: config.Default()}
	cfg.Config.Daemon.Rules = []string{filepath.Join(dir, "rules")}
	r, err := newRules(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	store, err := state.Open(filepath.Join(dir, "state"), slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	b.Run("files", func(b *testing.B) {
		for b.Loop() {
			if _, err := r.build(b.Context(), nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	g, err := r.build(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	r.cache = &ruleCache{series: store.Series("rules"), log: r.log}
	r.remember(g)
	b.Run("cache", func(b *testing.B) {
		for b.Loop() {
			g, err := r.build(b.Context(), nil)
			if err != nil || !g.cached {
				b.Fatal("not from the cache", err)
			}
		}
	})
}
