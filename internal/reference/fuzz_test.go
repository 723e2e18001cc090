package reference_test

import (
	"bytes"
	"os"
	"strconv"
	"testing"

	"github.com/sluicehq/sluice/internal/reference"
	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
)

// pair is an engine and the reference over the same rules.
type pair struct {
	rules   []*ast.Rule
	e       *reference.Evaluator
	engines []*indexed
	options []reference.Options
}

func newPair(tb testing.TB, rules []*ast.Rule, options ...reference.Options) *pair {
	tb.Helper()
	e, err := reference.New(rules, reference.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	p := &pair{rules: rules, e: e, options: options}
	for _, o := range options {
		p.engines = append(p.engines, newIndexed(tb, rules, o))
	}
	return p
}

func (p *pair) judge(tb testing.TB, line []byte) {
	tb.Helper()
	ev := reference.DecodeAuto(line)
	for i, o := range p.options {
		p.engines[i].compare(tb, p.e.With(o), ev, line)
		if o.Routing != nil && len(p.rules) < 100 { // counting is slow there
			p.count(tb, p.engines[i], p.e.With(o), ev, line)
		}
		if tb.Failed() {
			return
		}
	}
}

// count compares what routing counted of the event just evaluated.
func (p *pair) count(tb testing.TB, x *indexed, e *reference.Evaluator, ev *reference.Event, line []byte) {
	tb.Helper()
	pruned, has := e.Routed(ev)
	got, want := x.worker.TakeStats(), engine.Stats{Pruned: uint64(pruned)}
	if !has {
		want.WithoutLogsource = 1
	}
	if got != want {
		tb.Errorf("event %s: the engine counts %+v, want %+v", line, got, want)
	}
}

// randomPair is a pair over random rules, with their text.
func randomPair(tb testing.TB, seed uint64) (*pair, string) {
	tb.Helper()
	yaml := RandomRules(seed, 12)
	rules := load.FromBytes("random.yml", []byte(yaml), load.Options{}).Rules
	for _, r := range rules {
		for i := range r.Detections {
			if seed%4 == 0 {
				scatter(r.Detections[i].Node)
			}
		}
	}
	return newPair(tb, rules,
		reference.Options{Detail: reference.Detail(seed % 3), IncludeEvent: seed%5 == 0, ResultTime: seed%7 == 0},
		reference.Options{Detail: reference.Full, Routing: &reference.Routing{}},
		reference.Options{ResultTime: true, TimestampFields: []string{"a.b", "A"}, Routing: &reference.Routing{
			Fields: map[string]string{"product": "A", "custom.env": "a.b"}, Static: map[string]string{"service": " linux", "custom.env": "foo"},
			Windows: true,
		}},
	), yaml
}

// scatter gives some items several paths, as a pipeline may.
func scatter(n *ast.Node) {
	if n.Kind == ast.KindArray {
		return
	}
	for i := range n.Items {
		switch it := &n.Items[i]; it.Field {
		case "EventID":
			it.Paths = []string{"Event.System.EventID", "Event.System.EventID.#text"}
		case "A", "C", "n":
			it.Paths = []string{"Event.EventData." + it.Field, "Event.UserData.*." + it.Field}
		case "B":
			it.Field = "Event.UserData.C.n"
		}
	}
	for _, child := range n.Nodes {
		scatter(child)
	}
}

// corpusPair is a pair over all of rules/.
func corpusPair(tb testing.TB) *pair {
	tb.Helper()
	return newPair(tb, corpus(tb), reference.Options{}, reference.Options{Detail: reference.Full, Routing: &reference.Routing{}})
}

// judgeRandom compares both on events made for random rules.
func judgeRandom(t *testing.T, seed uint64) {
	t.Helper()
	p, yaml := randomPair(t, seed)
	if len(p.rules) == 0 {
		return
	}
	g := NewGenerator(seed, p.rules)
	for range 20 {
		if p.judge(t, g.Event()); t.Failed() {
			t.Fatalf("seed %d, rules\n%s", seed, yaml)
		}
	}
}

// An index may only skip rules that cannot match. Only a seed is fuzzed: the
// fuzzer would spend its time on shortening lines that take milliseconds each.
func FuzzIndexNeverChangesTheAnswer(f *testing.F) {
	p := corpusPair(f)
	for seed := range uint64(8) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		g := NewGenerator(seed, p.rules)
		for range 4 {
			p.judge(t, g.Event())
		}
	})
}

// Random rules reach every shape, modifier and combination.
func FuzzEveryShapeOfRuleIsJudgedAlike(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(judgeRandom)
}

// Damaged lines are read alike, by whatever format they still have.
func FuzzEveryLineIsJudgedAlike(f *testing.F) {
	p, _ := randomPair(f, 3)
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		g := NewGenerator(seed, p.rules)
		for range 50 {
			p.judge(t, g.Damaged())
		}
	})
}

// rounds is how often the deterministic runs below repeat themselves: n times,
// or as SLUICE_ROUNDS says.
func rounds(t *testing.T, n int) int {
	t.Helper()
	if s := os.Getenv("SLUICE_ROUNDS"); s != "" {
		more, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("SLUICE_ROUNDS: %v", err)
		}
		return more
	}
	if testing.Short() {
		return n / 10
	}
	return sigmatest.Rounds(n)
}

func TestRandomRulesAreJudgedAlike(t *testing.T) {
	for seed := range rounds(t, 1000) {
		judgeRandom(t, uint64(1000+seed))
	}
}

func TestEventsMadeOfTheRulesAreJudgedAlike(t *testing.T) {
	p := corpusPair(t)
	g := NewGenerator(7, p.rules)
	for range rounds(t, 1000) {
		if p.judge(t, g.Event()); t.Failed() {
			return
		}
	}
}

// Nothing that one event taught a worker may change how it evaluates another.
func TestPlainAndQuotedTextsAreKeptApart(t *testing.T) {
	rules := rulesOf(t, "title: T\ndetection:\n  sel: {'|endswith': foo}\n  condition: sel\n---\ntitle: U\ndetection:\n  sel: {'|endswith': 'foo\"'}\n  condition: sel\n")
	p := newPair(t, rules, reference.Options{})
	for _, line := range []string{`"foo"`, `{"a":"foo"}`, `"foo"`, `{"a":"foo"}`, `"a\u0041foo"`} {
		p.judge(t, []byte(line))
	}
}

func TestOneSeedGivesTheSameRulesAndEvents(t *testing.T) {
	rules := []*ast.Rule{{Detections: []ast.Detection{{Name: "sel", Node: &ast.Node{Items: []ast.Item{
		{Field: "a.b", Values: []ast.Value{ast.StringValue("x*y"), {Kind: ast.Number, Text: "7"}}},
	}}}}}}
	for seed := range uint64(50) {
		if a, b := RandomRules(seed, 10), RandomRules(seed, 10); a != b {
			t.Fatalf("seed %d gives\n%s and\n%s", seed, a, b)
		}
		a, b := NewGenerator(seed, rules), NewGenerator(seed, rules)
		for range 20 {
			if x, y := a.Damaged(), b.Damaged(); !bytes.Equal(x, y) {
				t.Fatalf("seed %d gives %s and %s", seed, x, y)
			}
		}
	}
}
