package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/result"
	"github.com/sluicehq/sluice/state"
)

func TestAFileThatCannotBeReadFailsAPass(t *testing.T) {
	c := newCacheTest(t)
	cfg := &config.Loaded{Config: config.Default()}
	cfg.Config.Daemon.Rules = []string{c.dir}
	r := newRules(cfg, slog.New(slog.DiscardHandler))
	serving, err := r.build(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	c.dangling("z.yml")
	if _, err := r.next(t.Context(), serving); err == nil || !strings.Contains(err.Error(), "z.yml") {
		t.Errorf("the pass ended with %v, want z.yml newly rejected", err)
	}
	if err := os.Remove(filepath.Join(c.dir, "z.yml")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.next(t.Context(), serving); !errors.Is(err, actors.ErrUnchanged) {
		t.Errorf("the pass ended with %v, want nothing changed", err)
	}
}

func TestAStartThatIsToldToEndLeavesNothingBehind(t *testing.T) {
	c := newCacheTest(t)
	socket := filepath.Join(t.TempDir(), "s")
	cfg := &config.Loaded{Config: config.Default()}
	cfg.Config.Daemon.Rules = []string{c.dir}
	cfg.Config.Daemon.API.Addr = "unix://" + socket
	cfg.Config.Daemon.State.DB = filepath.Join(t.TempDir(), "state")
	o := Options{Config: cfg, Log: slog.New(slog.DiscardHandler), In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("the start ended with %v, want what ended it", err)
	}
	if _, err := os.Stat(socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket file is left: %v", err)
	}
	store, err := state.Open(cfg.Config.Daemon.State.DB, o.Log)
	if err != nil {
		t.Fatalf("the state database is still open: %v", err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

// fading is a context that ends when it has been asked so many times.
type fading struct {
	context.Context
	left atomic.Int64
}

func newFading(ctx context.Context, asked int) *fading {
	f := &fading{Context: ctx}
	f.left.Store(int64(asked))
	return f
}

func (f *fading) Err() error {
	if f.left.Add(-1) < 0 {
		return context.Canceled
	}
	return f.Context.Err()
}

// A huge tree or a slow disk used to hold up the end of the daemon.
func TestReadingRulesEndsWithTheDaemon(t *testing.T) {
	const files = 20
	c := newCacheTest(t)
	for i := range files {
		c.file(fmt.Sprintf("n%d.yml", i), fmt.Sprintf(cachedRule, "N", fmt.Sprint(i), "low"))
	}
	serving := c.start("p", nil)
	start := func(producer string) func(context.Context) (*generation, error) {
		r := c.rules(producer, nil)
		return func(ctx context.Context) (*generation, error) { return r.first(ctx, io.Discard) }
	}
	for _, tc := range []struct {
		name  string
		build func(context.Context) (*generation, error)
		looks int // at each file: to find it, to tell whether it is another, to read it
	}{
		{"at a start from the cache", start("p"), 2},
		{"at a start from files", start("another build"), 2},
		{"at a reload", func(ctx context.Context) (*generation, error) {
			c.file("a.yml", fmt.Sprintf(cachedRule, "A", "A", "low"))
			return c.rules("p", nil).next(ctx, serving)
		}, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for asked := 0; ; asked++ {
				g, err := tc.build(newFading(t.Context(), asked))
				if errors.Is(err, context.Canceled) && g == nil {
					continue
				}
				if err != nil {
					t.Fatalf("given up after %d questions: got %v, want what ended it", asked, err)
				}
				if asked < tc.looks*files {
					t.Errorf("asked %d times, want before each of %d looks at %d files", asked, tc.looks, files)
				}
				return
			}
		})
	}
}

func TestProblemsAreLoggedWithWhatIsKnown(t *testing.T) {
	for _, tc := range []struct {
		name string
		p    ast.Problem
		want []any
	}{
		{
			"a rejection",
			ast.Problem{File: "a.yml", Document: 2, Line: 7, Title: "T", ID: "i", Stage: ast.StageParse, Reason: "r"},
			[]any{"file", "a.yml", "document", 2, "stage", "parse", "reason", "r", "line", 7, "title", "T", "id", "i"},
		},
		{"a file that cannot be read", ast.Problem{File: "a.yml", Stage: ast.StageParse, Reason: "r"}, []any{"file", "a.yml", "document", 0, "stage", "parse", "reason", "r"}},
		{"a warning about no document", ast.Problem{Reason: "r"}, []any{"reason", "r"}},
	} {
		if got := problemAttrs(tc.p); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestAChangedPipelineRewritesTheDocumentsAtHand(t *testing.T) {
	c := newCacheTest(t)
	pipelineFile := filepath.Join(t.TempDir(), "p.yml")
	rename := func(to string) {
		t.Helper()
		text := "name: p\ntransformations:\n- {id: i, type: field_name_mapping, mapping: {C: " + to + "}}\n"
		if err := os.WriteFile(pipelineFile, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rename("one")
	r := c.rules("p", func(d *config.Daemon) { d.Pipelines = []string{pipelineFile} })
	serving, err := r.build(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.build(t.Context(), serving); !errors.Is(err, actors.ErrUnchanged) {
		t.Errorf("a pass over the same pipeline: %v, want nothing changed", err)
	}
	rename("two")
	next, err := r.build(t.Context(), serving)
	if err != nil {
		t.Fatal(err)
	}
	if !next.documents.Same(serving.documents) {
		t.Error("the documents are others")
	}
	for _, tc := range []struct {
		g     *generation
		field string
		fires int
	}{{serving, "one", 2}, {serving, "two", 0}, {next, "one", 0}, {next, "two", 2}} {
		var events engine.Events
		var batch result.Batch
		w := tc.g.set.Engine.NewWorker()
		line := fmt.Sprintf(`{%q: "x", "N": 123456789012345678901234567890}`, tc.field)
		if err := w.DecodeJSON(&events, []byte(line)); err != nil {
			t.Fatal(err)
		}
		w.Evaluate(&events, 0, 0, &batch)
		if got := batch.Len(); got != tc.fires {
			t.Errorf("%s fires %d rules, want %d", line, got, tc.fires)
		}
	}
}
