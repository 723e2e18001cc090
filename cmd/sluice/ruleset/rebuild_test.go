package ruleset

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/actors/correlate"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/filetest"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/pipeline"
	"github.com/sluicehq/sluice/sigma/result"
)

// Fragments of rules that read the variables a and b.
var fragments = []string{
	"A|contains: '%a%'", "A: '%a%'", "A|contains|all: ['%a%', x]", "A|neq: '%b%'", "B|endswith: '-%a%'", "A|re: '^%b%'", "B|cased: '%a%'",
	"B|windash|contains: '-%a%'", "B|base64offset|contains: '%n%'", "B: ['%a%%b%', y]", "Q|cidr|expand: '%c%'", "P|gt: '%n%'", "'x[0].A': '%a%'", "'x[any].A': '%a%'", "'x[none]': {A: '%b%'}", "'x[all]': {A|contains: ['%a%', q], B|neq: '%b%'}",
	"A: z", "A|startswith: [x, y]", "B|endswith: w", "B: ['x*', y]", "A|contains: [z, -a]", "Q|cidr: 10.0.0.0/8", "P|lt: 4", "B|re: 'x|y'", "'x[any]': {A|contains: z}",
	"B|contains: [y, w]", "A|expand: '%open%-%a%'", "A: null", "A: '*%b%?'", "Q|exists: true", "B|fieldref: A", "A|startswith: ['%a%', '%b%', s]",
}

var somethings = []string{"a", "b", "x", "y", "z", "a*b", "-a", "7", "10.0.0.0/8", "(a|x)+", "é", "%a%", "", "w", "aé", "x y", "${source.s}"}

// few is a number from 1 to most, of which the small ones come most often: many things that
// are little are tried in the time of one that is large.
func few(rnd *rand.Rand, most int) int {
	u := rnd.Float64()
	return 1 + int(u*u*u*float64(most))
}

// documents makes the documents of three files: rules, filters and a correlation.
func documents(rnd *rand.Rand) (files [3]string) {
	readers := []int{3, 10, 30}[rnd.IntN(3)] // one fragment in so many may read a variable
	pick := func(n int) string {
		var out []string
		seen := map[string]bool{}
		for range n {
			f := fragments[rnd.IntN(len(fragments))]
			for strings.Contains(f, "%") && rnd.IntN(readers) > 0 {
				f = fragments[rnd.IntN(len(fragments))]
			}
			if key, _, _ := strings.Cut(f, ":"); !seen[key] {
				seen[key] = true
				out = append(out, f)
			}
		}
		return strings.Join(out, ", ")
	}
	n := few(rnd, 50)
	for i := range n {
		product := []string{"windows", "linux"}[rnd.IntN(2)]
		condition := []string{"s and t", "s or t", "s and not t", "1 of *"}[rnd.IntN(4)]
		text := fmt.Sprintf("title: R%d\nid: 00000000-0000-4000-8000-%012d\nname: r%d\nsigma-version: 3\nlogsource: {product: %s}\ndetection:\n  s: {%s}\n  t: [{%s}, {%s}]\n  condition: %s\n",
			i, rnd.IntN(30), i, product, pick(2), pick(1), pick(2), condition)
		if rnd.IntN(6) == 0 {
			text = fmt.Sprintf("title: K%d\ndetection:\n  s: ['%%a%%', k%d]\n  condition: s\n", i, rnd.IntN(3))
		}
		files[i*2/n] += "---\n" + text
	}
	if rnd.IntN(2) == 0 {
		files[0] += "---\ntitle: F\nlogsource: {product: linux}\nfilter:\n  rules: any\n  f: {B: '%b%'}\n  condition: not f\n"
	}
	files[2] = "title: C\ncorrelation: {type: event_count, rules: [r1, r2], group-by: [A], timespan: 1m, condition: {gte: 2}}\n"
	return files
}

func someList(rnd *rand.Rand) string {
	var list []string
	for range rnd.IntN(5) {
		list = append(list, fmt.Sprintf("%q", somethings[rnd.IntN(len(somethings))]))
	}
	if rnd.IntN(8) == 0 { // a set
		for i := range 100 {
			list = append(list, fmt.Sprintf("%q", fmt.Sprintf("set%d", i)))
		}
	}
	return "[" + strings.Join(list, ",") + "]"
}

func someEvents(rnd *rand.Rand) (lines [][]byte) {
	for range few(rnd, 60) {
		value := func() string {
			s := somethings[rnd.IntN(len(somethings))]
			switch rnd.IntN(4) {
			case 0:
				s = "-" + s
			case 1:
				s += somethings[rnd.IntN(len(somethings))]
			case 2:
				s = fmt.Sprintf("set%d", rnd.IntN(110))
			}
			return fmt.Sprintf("%q", s)
		}
		lines = append(lines, fmt.Appendf(nil, `{"A":%s,"B":%s,"P":%d,"Q":"10.1.2.3","open":%s,"x":[{"A":%s,"B":"w"}],"product":"%s"}`,
			value(), value(), rnd.IntN(10), value(), value(), []string{"windows", "linux", "other"}[rnd.IntN(3)]))
	}
	return lines
}

// shown are the results of events, one on a line.
func shown(t *testing.T, s *engine.Set, lines [][]byte) []byte {
	t.Helper()
	w := s.NewWorker()
	var events engine.Events
	var out result.Batch
	for _, line := range lines {
		if err := w.DecodeJSON(&events, line); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	var text []byte
	for i := range events.Len() {
		w.Evaluate(&events, i, 0, &out)
	}
	for i := range out.Len() {
		text = append(out.At(i).AppendNative(text, nil), '\n')
	}
	return text
}

// What is rebuilt from what serves is what is built from nothing: the same results, and
// the same to say about the documents.
func FuzzRebuiltRulesAreThoseBuiltFromNothing(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed)
	}
	var files [3]*filetest.File
	var roots []string
	for i := range files {
		files[i] = filetest.New(f, fmt.Sprintf("%d.yml", i))
		roots = append(roots, files[i].Path)
	}
	found, err := load.Find(f.Context(), roots)
	if err != nil {
		f.Fatal(err)
	}
	const text = "vars: {a: \"${source.a}\", b: [\"${source.b}\", w], c: \"${source.c}\", n: \"${source.n}\"}\ntransformations:\n  - {type: value_placeholders}\n  - {id: inc, include: t, rule_conditions: [{type: logsource, product: linux}]}\n"
	pipelines := filetest.New(f, "p.yml")
	pipelines.Hold(f, []byte(text))
	set, err := Pipelines([]string{pipelines.Path})
	if err != nil {
		f.Fatal(err)
	}
	sources := Sources{Declared: []string{"a", "b", "c", "n", "t"}}
	if err := sources.Check(set); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		for i, text := range documents(rnd) {
			files[i].Hold(t, []byte(text))
		}
		config := correlate.DefaultConfig()
		settings := Settings{
			Options: Options{Roots: roots, Pipelines: []string{pipelines.Path}}, MatchDetail: "full", Correlation: &config,
			Routing: &LogsourceRouting{Enabled: seed%2 == 0},
		}
		docs, err := Read(t.Context(), found, settings.Options, nil)
		if err != nil {
			t.Fatal(err)
		}
		includes := []string{"[]", "null", `[{"type":"map_string","mapping":{"x":"y"}}]`, `[{"type":"set_custom_attribute","attribute":"mine","value":1}]`}
		values := map[string]pipeline.Value{"a": {JSON: []byte(someList(rnd))}, "b": {JSON: []byte(someList(rnd))}, "t": {JSON: []byte("[]")}, "c": {JSON: []byte(`["10.0.0.0/8"]`)}, "n": {JSON: []byte("5")}}
		var before *pipeline.Set
		build := func() (*pipeline.Set, *Built) {
			now, _, err := sources.Expand(set, values, before)
			if err != nil {
				t.Fatal(err)
			}
			rules, err := Transform(docs, now, settings.Options)
			if err != nil {
				t.Fatal(err)
			}
			built, err := Compile(rules, settings, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			return now, built
		}
		lines := someEvents(rnd)
		now, first := build()
		before = now
		serving, collection := first.Set, first.WithoutRules()
		for round := range few(rnd, 8) {
			switch rnd.IntN(12) {
			case 0:
				values["n"] = pipeline.Value{JSON: []byte([]string{"3", "[1,7]", `"x"`, "null"}[rnd.IntN(4)])}
			case 1:
				values["c"] = pipeline.Value{JSON: []byte([]string{`"10.1.2.3/32"`, `["10.0.0.0/9","::/1"]`, `"10"`, "[]"}[rnd.IntN(4)])}
			case 2:
				values["t"] = pipeline.Value{JSON: []byte(includes[rnd.IntN(len(includes))])}
			case 3, 4, 5:
				values["b"] = pipeline.Value{JSON: []byte(someList(rnd))}
			default:
				values["a"] = pipeline.Value{JSON: []byte(someList(rnd))}
			}
			now, want := build()
			changed, ok := now.Changed(before)
			if !ok {
				t.Fatal("the pipelines are said to be others")
			}
			var next *graph.RuleSet
			if next, collection, ok = Renew(serving, collection, now, changed, settings.Options); !ok {
				next, collection = want.Set, want.WithoutRules()
			} else {
				if got, want := fmt.Sprint(collection.Warnings), fmt.Sprint(want.Warnings); got != want {
					t.Fatalf("round %d: warnings are\n%s\nwant\n%s", round, got, want)
				}
				if len(want.NewlyRejected(collection)) > 0 || len(collection.NewlyRejected(want.Collection)) > 0 {
					t.Fatalf("round %d: other documents are rejected", round)
				}
				if got, want := shown(t, next.Engine, lines), shown(t, want.Set.Engine, lines); !bytes.Equal(got, want) {
					t.Fatalf("round %d with %v changed: the results are\n%s\nwant\n%s", round, changed, got, want)
				}
			}
			before, serving = now, next
		}
	})
}

func TestMostChangesOfAValueAreRebuilt(t *testing.T) {
	rules := map[string]string{}
	for i := range 100 {
		rules[fmt.Sprintf("%d.yml", i)] = fmt.Sprintf("title: T%d\ndetection: {s: {A|contains: ['%s', c%d]}, condition: s}\n", i, []string{"%a%", "b"}[min(i, 1)], i)
	}
	d := dir(t, rules)
	config := correlate.DefaultConfig()
	settings := Settings{Options: Options{Roots: []string{d}}, MatchDetail: "off", Correlation: &config, Routing: &LogsourceRouting{}}
	found, err := load.Find(t.Context(), settings.Roots)
	if err != nil {
		t.Fatal(err)
	}
	docs, err := Read(t.Context(), found, settings.Options, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := pipeline.Parse([]byte("vars: {a: \"${source.a}\"}\ntransformations: [{type: value_placeholders}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	set, sources := &pipeline.Set{Pipelines: []*pipeline.Pipeline{p}}, Sources{}
	expand := func(json string) *pipeline.Set {
		now, _, err := sources.Expand(set, map[string]pipeline.Value{"a": {JSON: []byte(json)}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	before := expand(`["v"]`)
	loaded, err := Transform(docs, before, settings.Options)
	if err != nil {
		t.Fatal(err)
	}
	built, err := Compile(loaded, settings, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if n := built.Dependents(); n != 1 {
		t.Errorf("%d documents depend on the value, want one", n)
	}
	serving, collection := built.Set, built.WithoutRules()
	for i, json := range []string{`["w"]`, `["w","x"]`, `[]`, `["v"]`, `["*v*"]`} {
		now := expand(json)
		changed, _ := now.Changed(before)
		next, c, ok := Renew(serving, collection, now, changed, settings.Options)
		if !ok || !slices.Equal(changed, []string{"a"}) {
			t.Fatalf("change %d of %v is not rebuilt", i, changed)
		}
		serving, collection, before = next, c, now
	}
}
