package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/rulecache"
	"github.com/sluicehq/sluice/state"
)

const cachedRule = `title: %s
id: id-%s
level: %s
author: somebody
detection:
  sel: {C|contains: x, N: 123456789012345678901234567890}
  condition: sel
custom: {big: 123456789012345678901234567890, list: [1, two, null]}
`

// cacheTest is a rule directory and a store.
type cacheTest struct {
	t      *testing.T
	dir    string
	store  *state.Store
	logged bytes.Buffer
}

func newCacheTest(t *testing.T) *cacheTest {
	t.Helper()
	c := &cacheTest{t: t, dir: t.TempDir()}
	var err error
	if c.store, err = state.Open(filepath.Join(t.TempDir(), "state"), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.store.Close() })
	c.file("a.yml", fmt.Sprintf(cachedRule, "A", "A", "high"))
	c.file("b.yml", fmt.Sprintf(cachedRule, "B", "B", "low")+"---\ntitle: Count\ncorrelation: {type: event_count, rules: [id-A], timespan: 1h, condition: {gte: 2}}\n")
	c.file("bad.yml", "id: no title\n")
	c.file("filter.yml", "title: F\nlogsource: {}\nfilter: {rules: [id-A], sel: {U: admin}, condition: not sel}\n")
	return c
}

func (c *cacheTest) file(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
	c.touch(name, time.Now().Add(-time.Hour))
}

func (c *cacheTest) touch(name string, at time.Time) {
	c.t.Helper()
	if err := os.Chtimes(filepath.Join(c.dir, name), at, at); err != nil {
		c.t.Fatal(err)
	}
}

// dangling makes a rule file that cannot be read.
func (c *cacheTest) dangling(name string) {
	c.t.Helper()
	if err := os.Symlink("nowhere", filepath.Join(c.dir, name)); err != nil {
		c.t.Fatal(err)
	}
}

// overwrite stores something else instead of a part.
func (c *cacheTest) overwrite(part string, version int, content string) {
	c.t.Helper()
	s, err := c.store.Series("rules").Begin()
	if err != nil {
		c.t.Fatal(err)
	}
	for _, p := range []string{rulecache.PartHeader, rulecache.PartDocuments} {
		s.Keep(p)
	}
	err = s.Write(part, version, func(w io.Writer) error { _, err := io.WriteString(w, content); return err })
	if err = errors.Join(err, s.Commit(1)); err != nil {
		c.t.Fatal(err)
	}
}

// start is what the daemon does with rules at its start: the set it gets.
func (c *cacheTest) start(producer string, change func(*config.Daemon)) *generation {
	c.t.Helper()
	r := c.rules(producer, change)
	g, err := r.build(c.t.Context(), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	r.report(g)
	r.remember(g)
	return g
}

// rules are those of a daemon that starts.
func (c *cacheTest) rules(producer string, change func(*config.Daemon)) *rules {
	c.t.Helper()
	c.logged.Reset()
	cfg := &config.Loaded{Config: config.Default()}
	cfg.Config.Daemon.Rules = []string{c.dir}
	if change != nil {
		change(&cfg.Config.Daemon)
	}
	log := slog.New(slog.NewTextHandler(&c.logged, nil))
	r := newRules(cfg, log)
	r.cache = rulecache.New(rulecache.Options{Series: c.store.Series("rules"), Producer: producer, Log: log})
	return r
}

func TestUnchangedFilesAreNotLoadedAgain(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(c *cacheTest)
		config func(*config.Daemon) // of the second start
		cached bool
		reason string // told when the cache is discarded
	}{
		{"nothing changed", func(*cacheTest) {}, nil, true, ""},
		{"a file touched without change", func(c *cacheTest) { c.touch("a.yml", time.Now().Add(-time.Minute)) }, nil, true, ""},
		{"a file replaced by an equal one", func(c *cacheTest) {
			c.file("copy.tmp", fmt.Sprintf(cachedRule, "A", "A", "high"))
			_ = os.Rename(filepath.Join(c.dir, "copy.tmp"), filepath.Join(c.dir, "a.yml"))
		}, nil, true, ""},
		{"a file changed", func(c *cacheTest) { c.file("a.yml", fmt.Sprintf(cachedRule, "A2", "A", "high")) }, nil, false, "a.yml is not what it was"},
		{"a file changed to one of the same size", func(c *cacheTest) { c.file("a.yml", fmt.Sprintf(cachedRule, "Z", "A", "high")) }, nil, false, "a.yml is not what it was"},
		{"a file more", func(c *cacheTest) { c.file("c.yml", fmt.Sprintf(cachedRule, "C", "C", "high")) }, nil, false, "5 files, there were 4"},
		{"a file less", func(c *cacheTest) { _ = os.Remove(filepath.Join(c.dir, "b.yml")) }, nil, false, "3 files, there were 4"},
		{"a link that leads nowhere", func(c *cacheTest) { c.dangling("c.yml") }, nil, false, "5 files, there were 4"},
		{"a file that is no rule", func(c *cacheTest) { c.file("README.md", "x") }, nil, true, ""},
		{"rules left out by level", func(*cacheTest) {}, func(d *config.Daemon) { d.MinLevel = "high" }, false, "options differ"},
		{"rules left out by name", func(*cacheTest) {}, func(d *config.Daemon) { d.ExcludeRules = []string{"id-A"} }, false, "options differ"},
		{"a pipeline more", func(*cacheTest) {}, func(d *config.Daemon) { d.Pipelines = []string{"ecs_windows"} }, true, ""},
		{"what only compiling looks at", func(*cacheTest) {}, func(d *config.Daemon) { d.Engine.MatchDetail = "full" }, true, ""},
		{"strict rules and a rejected document", func(*cacheTest) {}, func(d *config.Daemon) { d.Engine.StrictRules = true }, true, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCacheTest(t)
			if g := c.start("1.0", nil); g.cached {
				t.Error("the first start came from the cache")
			}
			tc.change(c)
			g := c.start("1.0", tc.config)
			if g.cached != tc.cached {
				t.Errorf("from the cache: %v, want %v; log:\n%s", g.cached, tc.cached, c.logged.String())
			}
			if !strings.Contains(c.logged.String(), tc.reason) || strings.Contains(c.logged.String(), "rule cache discarded") == tc.cached {
				t.Errorf("log lacks %q:\n%s", tc.reason, c.logged.String())
			}
			if g = c.start("1.0", tc.config); !g.cached {
				t.Errorf("third start from the cache: %v; log:\n%s", g.cached, c.logged.String())
			}
			if g.stale {
				t.Error("the header was not renewed")
			}
		})
	}
}

// Everything that parsing had to say is said again.
func TestTheCacheKeepsAllThatWasLoaded(t *testing.T) {
	c := newCacheTest(t)
	leaveOut := func(d *config.Daemon) { d.ExcludeRules = []string{"id-B"} }
	first := c.start("1.0", leaveOut)
	told := c.logged.String()
	second := c.start("1.0", leaveOut)
	if !second.cached {
		t.Fatalf("not from the cache:\n%s", c.logged.String())
	}
	if !reflect.DeepEqual(second.collection, first.collection) {
		t.Errorf("got %+v, want %+v", second.collection, first.collection)
	}
	if len(second.collection.Rejected) != 1 || second.collection.Excluded != 1 || second.collection.Filters != 1 || second.counts[1] != 1 {
		t.Errorf("rejected %d, excluded %d, filters %d, correlations %d, want 1 each",
			len(second.collection.Rejected), second.collection.Excluded, second.collection.Filters, second.counts[1])
	}
	if !second.documents.Same(first.documents) {
		t.Error("the files differ: the first reload would build the rules again")
	}
	if got := messages(c.logged.String()); !strings.HasSuffix(got, messages(told)) {
		t.Errorf("told\n%swant at the end\n%s", got, messages(told))
	}
}

// messages are log lines without their times.
func messages(log string) string {
	var b strings.Builder
	for line := range strings.Lines(log) {
		_, rest, _ := strings.Cut(line, " ")
		b.WriteString(rest)
	}
	return b.String()
}

func TestACacheThatCannotBeUsedIsNoFault(t *testing.T) {
	for _, tc := range []struct {
		name     string
		producer string // of the second start
		damage   string // a part to overwrite
		version  int
		reason   string
	}{
		{"another build", "2.0", "", 0, "another build"},
		{"documents that do not decode", "1.0", rulecache.PartDocuments, rulecache.Schema, "damaged"},
		{"a header that does not decode", "1.0", rulecache.PartHeader, rulecache.Schema, "damaged"},
		{"another schema", "1.0", rulecache.PartHeader, rulecache.Schema + 1, "version"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCacheTest(t)
			want := c.start("1.0", nil)
			if tc.damage != "" {
				c.overwrite(tc.damage, tc.version, "\xff\xff")
			}
			g := c.start(tc.producer, nil)
			if g.cached || !strings.Contains(c.logged.String(), "level=INFO msg=\"rule cache discarded\"") || !strings.Contains(c.logged.String(), tc.reason) {
				t.Errorf("from the cache: %v, want a normal load because of %q:\n%s", g.cached, tc.reason, c.logged.String())
			}
			if !reflect.DeepEqual(g.collection, want.collection) || g.counts != want.counts {
				t.Error("other rules were loaded")
			}
			if g := c.start(tc.producer, nil); !g.cached {
				t.Errorf("the cache was not written again:\n%s", c.logged.String())
			}
		})
	}
}

func TestAReloadAfterAStartFromTheCacheReadsTheFiles(t *testing.T) {
	c := newCacheTest(t)
	c.start("1.0", nil)
	r := c.rules("1.0", nil)
	serving, err := r.build(t.Context(), nil)
	if err != nil || !serving.cached {
		t.Fatalf("from the cache %v, %v, want true:\n%s", serving.cached, err, c.logged.String())
	}
	if _, err := r.build(t.Context(), serving); !errors.Is(err, actors.ErrUnchanged) {
		t.Errorf("a pass over the same files: %v, want %v", err, actors.ErrUnchanged)
	}
	c.file("a.yml", fmt.Sprintf(cachedRule, "New", "A", "high"))
	next, err := r.build(t.Context(), serving)
	if err != nil {
		t.Fatal(err)
	}
	if first := next.set.Engine.Rules()[0]; next.cached || first.Title != "New" {
		t.Errorf("a pass over another file gives %+v, want the new rule", first)
	}
}
