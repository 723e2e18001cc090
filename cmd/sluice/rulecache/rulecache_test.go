package rulecache_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/rulecache"
	"github.com/sluicehq/sluice/cmd/sluice/ruleset"
	"github.com/sluicehq/sluice/internal/logtest"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/state"
)

const rule = "title: A\ndetection: {s: {C: evil}, condition: s}\n"

func TestStoredDocumentsAreReadWhenNothingHasChanged(t *testing.T) {
	for _, tc := range []struct {
		name     string
		producer string // that reads
		change   func(t *testing.T, file string, o *ruleset.Options)
		cached   bool
		stale    bool
		reason   string // in the log
	}{
		{name: "nothing has changed", cached: true, reason: "rules taken from the cache"},
		{name: "a file was touched", cached: true, stale: true, change: func(t *testing.T, file string, _ *ruleset.Options) {
			t.Helper()
			if err := os.Chtimes(file, time.Time{}, time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
		}, reason: "rules taken from the cache"},
		{name: "a file is another", change: func(t *testing.T, file string, _ *ruleset.Options) {
			t.Helper()
			if err := os.WriteFile(file, []byte(rule+"level: low\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, reason: "a.yml is not what it was"},
		{name: "a file is new", change: func(t *testing.T, file string, _ *ruleset.Options) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(filepath.Dir(file), "b.yml"), []byte(rule), 0o600); err != nil {
				t.Fatal(err)
			}
		}, reason: "2 files, there were 1"},
		{name: "other rules are left out", change: func(_ *testing.T, _ string, o *ruleset.Options) { o.MinLevel = "high" }, reason: "options differ"},
		{name: "another build reads", producer: "2.0", reason: "another build wrote it"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var log logtest.Buffer
			dir := t.TempDir()
			file := filepath.Join(dir, "rules", "a.yml")
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(rule), 0o600); err != nil {
				t.Fatal(err)
			}
			hourAgo := time.Now().Add(-time.Hour) // a file of just now may change within the same second
			if err := os.Chtimes(file, hourAgo, hourAgo); err != nil {
				t.Fatal(err)
			}
			store, err := state.Open(filepath.Join(dir, "state"), slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			o := ruleset.Options{Roots: []string{filepath.Dir(file)}}
			find := func() []load.Source {
				t.Helper()
				found, err := load.Find(t.Context(), o.Roots)
				if err != nil {
					t.Fatal(err)
				}
				return found
			}
			docs, err := ruleset.Read(t.Context(), find(), o, nil)
			if err != nil {
				t.Fatal(err)
			}
			docs.Seal()
			first := rulecache.New(rulecache.Options{Series: store.Series("rules"), Producer: "1.0", Log: log.Logger(slog.LevelInfo)})
			if got, _ := first.Read(t.Context(), find(), &o); got != nil || log.String() != "" {
				t.Fatalf("an empty database gives documents: %s", log.String())
			}
			if err := first.Write(rulecache.Entry{Generation: 1, Documents: docs}, &o); err != nil {
				t.Fatal(err)
			}
			if tc.change != nil {
				tc.change(t, file, &o)
			}
			producer := tc.producer
			if producer == "" {
				producer = "1.0"
			}
			next := rulecache.New(rulecache.Options{Series: store.Series("rules"), Producer: producer, Log: log.Logger(slog.LevelInfo)})
			got, stale := next.Read(t.Context(), find(), &o)
			if (got != nil) != tc.cached || stale != tc.stale || !strings.Contains(log.String(), tc.reason) {
				t.Errorf("documents: %t, stale: %t, want %t and %t because of %q:\n%s", got != nil, stale, tc.cached, tc.stale, tc.reason, log.String())
			}
			if got != nil && len(got.Collect(load.Options{}).Rules) != 1 {
				t.Error("the documents do not have the rule")
			}
		})
	}
}
