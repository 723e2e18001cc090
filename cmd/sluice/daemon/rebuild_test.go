package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/rulecache"
	"github.com/sluicehq/sluice/cmd/sluice/ruleset"
	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/pipeline"
	"github.com/sluicehq/sluice/sigma/result"
)

// snapshot gives each source, by its id, a value in JSON.
func snapshot(pairs ...string) map[string]pipeline.Value {
	out := map[string]pipeline.Value{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = pipeline.Value{JSON: []byte(pairs[i+1])}
	}
	return out
}

// sourced are rules whose pipelines read sources.
type sourced struct {
	*rules
	values   map[string]pipeline.Value
	failure  error // of fetching them
	ruleDir  string
	pipeline string

	committed int // fetches whose values were made current
}

func newSourced(tb testing.TB, ruleDir, pipelineText string, now map[string]pipeline.Value, more ...string) *sourced {
	tb.Helper()
	s := &sourced{ruleDir: ruleDir, values: now, pipeline: filepath.Join(tb.TempDir(), "p.yml")}
	if err := os.WriteFile(s.pipeline, []byte(pipelineText), 0o644); err != nil {
		tb.Fatal(err)
	}
	cfg := &config.Loaded{Config: config.Default()}
	cfg.Config.Daemon.Rules, cfg.Config.Daemon.Pipelines = []string{ruleDir}, append(more, s.pipeline)
	s.rules = newRules(cfg, slog.New(slog.DiscardHandler))
	s.sources = ruleset.Sources{Declared: slices.Collect(maps.Keys(now))}
	s.rules.values = &values{fetch: func(context.Context) (map[string]pipeline.Value, func(context.Context), error) {
		return s.values, func(context.Context) { s.committed++ }, s.failure
	}}
	return s
}

func ruleFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// met lists the titles of the rules that an event meets.
func (g *generation) met(t *testing.T, event string) string {
	t.Helper()
	w := g.set.Engine.NewWorker()
	var ev engine.Events
	var out result.Batch
	if err := w.DecodeJSON(&ev, []byte(event)); err != nil {
		t.Fatal(err)
	}
	w.Evaluate(&ev, 0, 0, &out)
	var titles []string
	for i := range out.Len() {
		titles = append(titles, out.At(i).Rule.Title)
	}
	return strings.Join(titles, " ")
}

// fillBad reads the source f into a variable, and includes the source t for Linux.
const fillBad = "vars: {bad: \"${source.f}\"}\ntransformations:\n  - {type: value_placeholders}\n  - {include: t, rule_conditions: [{type: logsource, product: linux}]}\n"

var badRules = map[string]string{
	"a.yml": "title: Bad\ndetection: {s: {CommandLine|contains: '%bad%'}, condition: s}\n",
	"b.yml": "title: Fixed\ndetection: {s: {CommandLine|contains: fixed}, condition: s}\n",
	"c.yml": "title: Linux\nlogsource: {product: linux}\ndetection: {s: {CommandLine|contains: fixed}, condition: s}\n",
	"d.yml": "title: Number\ndetection: {s: {CommandLine|contains: fixed, Port|gt: '%bad%'}, condition: s}\n",
}

func TestAChangedValueReachesTheRulesWithoutAFile(t *testing.T) {
	files := map[string]string{"a.yml": badRules["a.yml"], "b.yml": badRules["b.yml"], "c.yml": badRules["c.yml"]}
	s := newSourced(t, ruleFiles(t, files), fillBad, snapshot("f", `["mal"]`, "t", `[]`))
	first, err := s.first(t.Context(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if got := first.met(t, `{"CommandLine":"mal.exe fixed"}`); got != "Bad Fixed Linux" {
		t.Fatalf("the event meets %q", got)
	}
	for _, path := range []string{s.ruleDir, s.pipeline} { // nothing is read again
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	g := first
	for _, tc := range []struct {
		name, values, items, event, want string
		taken                            bool // the rest of the set is taken over
	}{
		{"other values", `["evil"]`, `[]`, `{"CommandLine":"evil.exe mal.exe"}`, "Bad", true},
		{"none", `[]`, `[]`, `{"CommandLine":"evil.exe %bad%"}`, "", true},
		{"values again", `["a","b"]`, `[]`, `{"CommandLine":"b"}`, "Bad", true},
		{"another include", `["a","b"]`, `[{"type":"field_name_prefix","prefix":"p."}]`, `{"CommandLine":"fixed","p.CommandLine":"fixed"}`, "Fixed Linux", false},
		{"no include any more", `["a","b"]`, `null`, `{"CommandLine":"fixed"}`, "Fixed Linux", true},
	} {
		next, err := s.rebuild(g, snapshot("f", tc.values, "t", tc.items))
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		if got := next.met(t, tc.event); got != tc.want {
			t.Errorf("%s: the event meets %q, want %q", tc.name, got, tc.want)
		}
		if next.set.Generation <= g.set.Generation {
			t.Errorf("%s: generation %d follows %d", tc.name, next.set.Generation, g.set.Generation)
		}
		if taken := &next.set.Engine.Rules()[0] == &g.set.Engine.Rules()[0]; taken != tc.taken {
			t.Errorf("%s: the rest was taken over: %v, want %v", tc.name, taken, tc.taken)
		}
		for i := range next.set.Engine.Rules() {
			if next.set.Catalog.Detection(i) != g.set.Catalog.Detection(i) {
				t.Errorf("%s: rule %d counts its hits anew", tc.name, i)
			}
		}
		g = next
	}
	if got := first.met(t, `{"CommandLine":"mal.exe"}`); got != "Bad" {
		t.Errorf("the first generation meets %q by now", got)
	}
	for name, values := range map[string]map[string]pipeline.Value{
		"the same values":                snapshot("f", `[ "a", "b" ]`, "t", "null"),
		"null among them, which is none": snapshot("f", `["a",null,"b"]`, "t", "[]"),
	} {
		if _, err := s.rebuild(g, values); name == "the same values" != errors.Is(err, actors.ErrUnchanged) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestARebuildThatFailsKeepsWhatServes(t *testing.T) {
	s := newSourced(t, ruleFiles(t, badRules), fillBad, snapshot("f", `["1"]`, "t", `[]`))
	g, err := s.first(t.Context(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, values, items, want string }{
		{"a document is newly rejected", `["x"]`, `[]`, "a rule document is newly rejected: " + filepath.Join(s.ruleDir, "d.yml")},
		{"what is included is no list", `["1"]`, `{}`, "include parse error: source 't'"},
		{"a variable is too large", `["` + strings.Repeat("1", 64<<20+1) + `"]`, `[]`, "variable 'bad': its values are more than 67108864 bytes of text"},
	} {
		if _, err := s.rebuild(g, snapshot("f", tc.values, "t", tc.items)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
		if got := g.met(t, `{"CommandLine":"fixed","Port":2}`); got != "Fixed Linux Number" {
			t.Errorf("%s: what serves meets %q", tc.name, got)
		}
	}
	next, err := s.rebuild(g, snapshot("f", `["3"]`, "t", `[]`))
	if err != nil {
		t.Fatalf("a later value fails, too: %v", err)
	}
	if got := next.met(t, `{"CommandLine":"fixed","Port":2}`); got != "Fixed Linux" {
		t.Errorf("with the later value the event meets %q", got)
	}
}

func TestAReloadTakesTheValuesOfNow(t *testing.T) {
	s := newSourced(t, ruleFiles(t, map[string]string{"a.yml": badRules["a.yml"]}), fillBad, snapshot("f", `["mal"]`, "t", `[]`))
	g, err := s.first(t.Context(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	g.commitValues(t.Context())
	again, err := s.next(t.Context(), g)
	if !errors.Is(err, actors.ErrUnchanged) {
		t.Errorf("a reload without a change ended with %v", err)
	}
	if again.commitValues(t.Context()); s.committed != 2 {
		t.Errorf("the values of %d fetches are current, want those of the start and of a reload without a change", s.committed)
	}
	s.values = snapshot("f", `["evil"]`, "t", `[]`)
	next, err := s.next(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	if got := next.met(t, `{"CommandLine":"evil mal"}`); got != "Bad" || next.met(t, `{"CommandLine":"mal"}`) != "" {
		t.Errorf("the event meets %q", got)
	}
	failure := errors.New("source 'f': timed out")
	s.failure = failure
	if _, err := s.next(t.Context(), next); !errors.Is(err, failure) {
		t.Errorf("a source that is not resolved ends the reload with %v", err)
	}
}

func TestAReferenceToASourceThatNobodyDeclaresEndsTheStart(t *testing.T) {
	s := newSourced(t, ruleFiles(t, badRules), "vars: {a: [\"${source.c}\", \"${source.b}\"], b: \"${source.f}\"}\n", snapshot("f", `1`))
	_, err := s.first(t.Context(), io.Discard)
	var fault *Fault
	if want := "pipeline references undeclared source(s): b, c"; !errors.As(err, &fault) || fault.Code != exitConfig || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Rules that came from the cache are rebuilt like those from files: what is taken over,
// and what has to be made of the documents again.
func TestRulesFromTheCacheAreRebuilt(t *testing.T) {
	c := newCacheTest(t)
	c.file("s.yml", badRules["a.yml"])
	s := newSourced(t, c.dir, fillBad, snapshot("f", `["mal"]`, "t", `[]`))
	s.cache = rulecache.New(rulecache.Options{Series: c.store.Series("rules"), Log: s.log})
	g, err := s.first(t.Context(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	s.remember(g)
	if g, err = s.first(t.Context(), io.Discard); err != nil || !g.cached {
		t.Fatalf("not from the cache: %v", err)
	}
	for _, tc := range []struct{ name, values, items, event, want string }{
		{"another value", `["evil"]`, `[]`, `{"CommandLine":"evil"}`, "Bad"},
		{"another include", `["evil"]`, `[{"type":"field_name_prefix","prefix":"p."}]`, `{"CommandLine":"evil"}`, "Bad"},
		{"rules that are left out by it", `["evil"]`, `[{"type":"rule_failure","action":"skip"}]`, `{"CommandLine":"evil"}`, "Bad"},
	} {
		if g, err = s.rebuild(g, snapshot("f", tc.values, "t", tc.items)); err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		if got := g.met(t, tc.event); got != tc.want {
			t.Errorf("%s: the event meets %q, want %q", tc.name, got, tc.want)
		}
		if !g.set.Correlates() {
			t.Errorf("%s: the correlation is gone", tc.name)
		}
	}
}

// corpusSourced has the rules of the corpus, and a pipeline variable that three of them
// use.
func corpusSourced(tb testing.TB) (*sourced, *generation) {
	tb.Helper()
	dir := tb.TempDir()
	archive, err := fs.Sub(sigmatest.RuleArchive(tb), "rules")
	if err == nil {
		err = os.CopyFS(dir, archive)
	}
	for i, item := range []string{"CommandLine|contains: '%bad%'", "Image|endswith: '\\%bad%.exe'", "User: '%bad%'"} {
		text := fmt.Sprintf("title: Of a source %d\nlogsource: {product: windows, category: process_creation}\ndetection: {s: {%s}, condition: s}\n", i, item)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("source%d.yml", i)), []byte(text), 0o644)
		}
	}
	if err != nil {
		tb.Fatal(err)
	}
	s := newSourced(tb, dir, "vars: {bad: \"${source.f}\"}\ntransformations: [{type: value_placeholders}]\n", snapshot("f", `["v0"]`))
	g, err := s.first(tb.Context(), io.Discard)
	if err != nil {
		tb.Fatal(err)
	}
	if g.counts[0] != 3144 {
		tb.Fatalf("%d rules, want those of the corpus and three", g.counts[0])
	}
	return s, g
}

// mostRebuild is the processor time that a rebuild of the corpus may take.
const mostRebuild = 150 * time.Millisecond

func BenchmarkRebuild(b *testing.B) {
	s, g := corpusSourced(b)
	var took []time.Duration
	n := 0
	for b.Loop() {
		n++
		runtime.GC()
		begin := sigmatest.ProcessorTime()
		next, err := s.rebuild(g, snapshot("f", fmt.Sprintf(`["v%d"]`, n)))
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, sigmatest.ProcessorTime()-begin)
		g = next
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "processor-ms")
}

// A change of one value that a few rules use costs a fraction of a start.
func TestARebuildOfTheCorpusIsQuick(t *testing.T) {
	s, g := corpusSourced(t)
	var took []time.Duration
	for n := range sigmatest.Rounds(15) {
		runtime.GC()
		begin := sigmatest.ProcessorTime()
		next, err := s.rebuild(g, snapshot("f", fmt.Sprintf(`["value%d"]`, n)))
		if err != nil {
			t.Fatal(err)
		}
		took = append(took, sigmatest.ProcessorTime()-begin)
		if got := next.met(t, fmt.Sprintf(`{"CommandLine":"a value%d b","Image":"C:\\value%d.exe","User":"x"}`, n, n)); !strings.Contains(got, "Of a source 0 Of a source 1") {
			t.Fatalf("value %d: the event meets %q", n, got)
		}
		g = next
	}
	slices.Sort(took)
	t.Logf("a rebuild of %d rules takes %s of processor time, at most %s", g.counts[0], took[len(took)/2], took[len(took)-1])
	if least := took[0]; least > mostRebuild && !raceDetector {
		t.Errorf("the quickest rebuild took %s, want at most %s", least, mostRebuild)
	}
}
