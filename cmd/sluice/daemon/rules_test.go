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
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/rulecache"
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

// Files that change while they are read are read again: what serves is on the disk.
func TestWhatChangesWhileItIsReadIsReadAgain(t *testing.T) {
	one := func(title string) string {
		return "title: " + title + "\nlogsource: {product: x}\ndetection: {s: {a: b}, condition: s}\n"
	}
	for _, tc := range []struct {
		name   string
		change func(dir string, n int) error // the n-th look, from 1
		times  int                           // how many looks find a change
		want   string                        // titles; "" for a pass that fails
		looks  int
	}{
		{"nothing changes", nil, 0, "a b", 1},
		{"a file is written again", func(dir string, _ int) error {
			return os.WriteFile(filepath.Join(dir, "a.yml"), []byte(one("c")), 0o600)
		}, 1, "c b", 2},
		{"a file is written again, of the same length and time", func(dir string, _ int) error {
			path := filepath.Join(dir, "a.yml")
			info, err := os.Stat(path)
			return errors.Join(err, os.WriteFile(path, []byte(one("c")), 0o600), os.Chtimes(path, info.ModTime(), info.ModTime()))
		}, 1, "c b", 2},
		{"a file is replaced", func(dir string, _ int) error {
			return errors.Join(os.WriteFile(filepath.Join(dir, "new"), []byte(one("c")), 0o600), os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "a.yml")))
		}, 1, "c b", 2},
		{"a file is removed", func(dir string, _ int) error { return os.Remove(filepath.Join(dir, "a.yml")) }, 1, "b", 2},
		{"files come one after the other", func(dir string, n int) error {
			return os.WriteFile(filepath.Join(dir, fmt.Sprintf("x%d.yml", n)), []byte(one(fmt.Sprint("x", n))), 0o600)
		}, 5, "a b x1 x2 x3 x4 x5", 6},
		{"a file never stays as it is", func(dir string, n int) error {
			return os.WriteFile(filepath.Join(dir, "a.yml"), []byte(one(fmt.Sprint("c", n))), 0o600)
		}, 100, "", 6},
		{"the pipeline is written again", func(dir string, _ int) error {
			return os.WriteFile(filepath.Join(dir, "..", "p.yml"), []byte("name: q\ntransformations: []\n"), 0o600)
		}, 1, "a b", 2},
	} {
		for _, cached := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, with a cache %t", tc.name, cached), func(t *testing.T) {
				top := t.TempDir()
				dir := filepath.Join(top, "rules")
				err := os.Mkdir(dir, 0o700)
				for _, title := range []string{"a", "b"} {
					err = errors.Join(err, os.WriteFile(filepath.Join(dir, title+".yml"), []byte(one(title)), 0o600))
				}
				pipeline := filepath.Join(top, "p.yml")
				if err = errors.Join(err, os.WriteFile(pipeline, []byte("name: p\ntransformations: []\n"), 0o600)); err != nil {
					t.Fatal(err)
				}
				cfg := &config.Loaded{Config: config.Default()}
				cfg.Config.Daemon.Rules, cfg.Config.Daemon.Pipelines = []string{dir}, []string{pipeline}
				r := newRules(cfg, slog.New(slog.DiscardHandler))
				if cached {
					store, err := state.Open(filepath.Join(top, "state"), slog.New(slog.DiscardHandler))
					if err != nil {
						t.Fatal(err)
					}
					defer store.Close()
					r.cache = rulecache.New(rulecache.Options{Series: store.Series("rules"), Producer: "test", Log: slog.New(slog.DiscardHandler)})
					g, err := r.build(t.Context(), nil)
					if err != nil {
						t.Fatal(err)
					}
					r.remember(g)
				}
				looks := 0
				r.look = func() {
					if looks++; looks <= tc.times {
						if err := tc.change(dir, looks); err != nil {
							t.Error(err)
						}
					}
				}
				g, err := r.build(t.Context(), nil)
				if looks != tc.looks {
					t.Errorf("looked at the files %d times, want %d", looks, tc.looks)
				}
				if tc.want == "" {
					if err == nil || !strings.Contains(err.Error(), "a.yml changed while it was read") {
						t.Errorf("got %v, want the file named that never stays as it is", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				var titles []string
				for _, rule := range g.set.Engine.Rules() {
					titles = append(titles, rule.Title)
				}
				if got := strings.Join(titles, " "); got != tc.want {
					t.Errorf("got rules %q, want %q", got, tc.want)
				}
				// What serves is stored under the names of the bytes it was made of.
				r.remember(g)
				r.look = nil
				again, err := r.build(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				if !again.documents.Same(g.documents) || cached && !again.cached {
					t.Errorf("the next start has other documents, or none from the cache")
				}
			})
		}
	}
}

// listener is a log that calls a function for every message.
type listener struct {
	slog.Handler
	told func(message string)
}

func (l listener) Handle(_ context.Context, r slog.Record) error { l.told(r.Message); return nil }

func (l listener) Enabled(context.Context, slog.Level) bool { return true }
func (l listener) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l listener) WithGroup(string) slog.Handler            { return l }

func TestAChangeDuringTheStartIsNoticed(t *testing.T) {
	for _, at := range []string{"probes listening", "rules loaded"} { // before the files are read, and behind it
		cfg := counting(t)
		path := cfg.Config.Daemon.Rules[0]
		reloaded := make(chan struct{})
		var first, once sync.Once
		log := slog.New(listener{told: func(message string) {
			switch message {
			case at:
				first.Do(func() {
					if err := os.WriteFile(path, []byte("title: Late\nlogsource: {product: x}\ndetection: {s: {a: b}, condition: s}\n"), 0o600); err != nil {
						t.Error(err)
					}
				})
			case "reload finished":
				once.Do(func() { close(reloaded) })
			}
		}})
		d, err := New(t.Context(), Options{Config: cfg, Log: log, Out: io.Discard, Err: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Start(); err != nil {
			t.Fatal(err)
		}
		late := func() bool {
			rules := d.serving.Load().set.Engine.Rules()
			return len(rules) == 1 && rules[0].Title == "Late"
		}
		if !late() {
			<-reloaded
		}
		if !late() {
			t.Errorf("changed at %q: the old rules serve", at)
		}
		if err := d.Stop(); err != nil {
			t.Error(err)
		}
	}
}

func TestAStormOfFailingReloadsTellsEachDocumentOnce(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const good, bad = "title: Good\nlogsource: {product: x}\ndetection: {s: {a: b}, condition: s}\n", "title: Bad\ndetection: {s: {a: b}, condition: t}\n"
	write("good.yml", good)
	rejected := 0
	cfg := &config.Loaded{Config: config.Default()}
	cfg.Config.Daemon.Rules = []string{dir}
	r := newRules(cfg, slog.New(listener{told: func(message string) {
		if message == "rule document rejected" {
			rejected++
		}
	}}))
	serving, err := r.build(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		write(fmt.Sprintf("bad%d.yml", i), bad)
	}
	for _, step := range []struct {
		name   string
		change func()
		fails  bool
		told   int // documents
	}{
		{"the first pass tells all", func() {}, true, 10},
		{"another tells none", func() { write("good.yml", good+"level: high\n") }, true, 0},
		{"one that is rejected for another reason is told", func() { write("bad3.yml", bad+"level: low\n") }, true, 1},
		{"one that joins is told", func() { write("bad99.yml", bad) }, true, 1},
		{"a pass that succeeds ends it", func() {
			for _, path := range must(filepath.Glob(filepath.Join(dir, "bad*"))) {
				write(filepath.Base(path), good)
			}
		}, false, 0},
		{"and the next one tells again", func() { write("bad1.yml", bad) }, true, 1},
	} {
		step.change()
		rejected = 0
		g, err := r.next(t.Context(), serving)
		if (err != nil) != step.fails {
			t.Fatalf("%s: %v", step.name, err)
		}
		if err == nil {
			serving = g
		}
		problems := 0
		if rejected != 0 {
			problems = len(r.failing.Rejected[0].Problems) // of one document
		}
		if rejected != step.told*max(1, problems) {
			t.Errorf("%s: %d lines for %d documents of %d problems", step.name, rejected, step.told, problems)
		}
	}
}

func must(list []string, err error) []string {
	if err != nil {
		panic(err)
	}
	return list
}
