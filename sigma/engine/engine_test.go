package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/result"
)

// rulesOf reads rules from YAML documents.
func rulesOf(tb testing.TB, text string) []*ast.Rule {
	tb.Helper()
	c := load.FromBytes("rules.yml", []byte(text), load.Options{})
	for _, r := range c.Rejected {
		tb.Fatalf("rule rejected: %v", r.Problems)
	}
	return c.Rules
}

func compile(tb testing.TB, rules []*ast.Rule, o engine.Options) *engine.Set {
	tb.Helper()
	set, err := engine.Compile(rules, o)
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

const twoRules = `
title: Shell
logsource: {product: linux}
detection:
  sel: {CommandLine|contains: whoami}
  condition: sel
---
title: Words
logsource: {product: windows, category: process_creation}
detection:
  words: [mimikatz, 'b?r*z']
  condition: words
---
title: Always
detection:
  filter: {Image|endswith: .exe}
  condition: not filter
`

// titles evaluates the last event.
func titles(w *engine.Worker, ev *engine.Events) []string {
	var b result.Batch
	w.Evaluate(ev, ev.Len()-1, 0, &b)
	var out []string
	for i := range b.Len() {
		out = append(out, b.At(i).Rule.Title)
	}
	return out
}

func TestEventsOfEveryKindAreJudged(t *testing.T) {
	w := compile(t, rulesOf(t, twoRules), engine.Options{}).NewWorker()
	for _, tc := range []struct {
		name   string
		decode func(*engine.Events)
		want   []string
	}{
		{"a field of a JSON object", func(ev *engine.Events) { mustDecode(t, w, ev, `{"CommandLine":"a WhoAmI b","Image":"x.exe"}`) }, []string{"Shell"}},
		{"a keyword anywhere", func(ev *engine.Events) { mustDecode(t, w, ev, `{"a":[{"b":"x Barqz"}],"Image":"x.exe"}`) }, []string{"Words"}},
		{"the first of repeated pairs has the name, keywords see all", func(ev *engine.Events) {
			addPairs(w, ev, "CommandLine", "x", "CommandLine", "MIMIKATZ whoami", "Image", "a.EXE")
		}, []string{"Words"}},
		{"a plain line has no fields", func(ev *engine.Events) { w.DecodePlain(ev, []byte("CommandLine whoami mimikatz")) }, []string{"Words", "Always"}},
		{"escapes are decoded before comparing", func(ev *engine.Events) { mustDecode(t, w, ev, `{"CommandLine":"who\u0061mi","Image":".exe"}`) }, []string{"Shell"}},
	} {
		var ev engine.Events
		tc.decode(&ev)
		if got := titles(w, &ev); !slices.Equal(got, tc.want) {
			t.Errorf("%s: fired %v, want %v", tc.name, got, tc.want)
		}
	}
}

// addPairs makes an event of keys and values in turn.
func addPairs(w *engine.Worker, ev *engine.Events, texts ...string) {
	p := w.Pairs(ev)
	for i := 0; i < len(texts); i += 2 {
		p.Add([]byte(texts[i]), []byte(texts[i+1]))
	}
	p.End()
}

func mustDecode(tb testing.TB, w *engine.Worker, ev *engine.Events, line string) {
	tb.Helper()
	if err := w.DecodeJSON(ev, []byte(line)); err != nil {
		tb.Fatalf("%s: %v", line, err)
	}
}

func TestAnEventDecodedByOneWorkerIsJudgedByAnother(t *testing.T) {
	set := compile(t, rulesOf(t, twoRules), engine.Options{})
	parser, judge := set.NewWorker(), set.NewWorker()
	var ev engine.Events
	for i := range 100 {
		mustDecode(t, parser, &ev, fmt.Sprintf(`{"k%d":1,"CommandLine":"whoami","Image":"x.exe"}`, i))
		if got := titles(judge, &ev); !slices.Equal(got, []string{"Shell"}) {
			t.Fatalf("event %d: fired %v, want [Shell]", i, got)
		}
	}
}

func TestTruncatingRestoresWhatWasThere(t *testing.T) {
	w := compile(t, rulesOf(t, twoRules), engine.Options{}).NewWorker()
	var ev engine.Events
	var b result.Batch
	mustDecode(t, w, &ev, `{"CommandLine":"whoami"}`)
	w.Evaluate(&ev, 0, 0, &b)
	before := string(b.At(0).AppendNative(nil, nil))
	n := b.Len()
	mustDecode(t, w, &ev, `{"m":"mimikatz"}`)
	w.Evaluate(&ev, 1, 0, &b)
	ev.Truncate(1)
	b.Truncate(n)
	if err := w.DecodeJSON(&ev, []byte(`{broken`)); err == nil {
		t.Error("a broken line was accepted")
	}
	if ev.Len() != 1 || b.Len() != n {
		t.Fatalf("%d events and %d detections are left, want 1 and %d", ev.Len(), b.Len(), n)
	}
	if got := string(b.At(0).AppendNative(nil, nil)); got != before {
		t.Errorf("the first detection is\n%s, want\n%s", got, before)
	}
	if got := titles(w, &ev); !slices.Equal(got, []string{"Shell", "Always"}) {
		t.Errorf("fired %v, want [Shell Always]", got)
	}
}

func TestRoutingCountsConflicts(t *testing.T) {
	rules := rulesOf(t, `
title: L
logsource: {product: linux}
detection: {sel: {C: x}, condition: sel}
---
title: W
logsource: {product: windows, category: process_creation}
detection: {sel: {C: x}, condition: sel}
---
title: G
detection: {sel: {C: x}, condition: sel}
`)
	for _, tc := range []struct {
		name   string
		line   string
		static string
		want   []string
		pruned uint64
		absent uint64
	}{
		{"case does not matter", `{"C":"x","product":"Windows"}`, "", []string{"W", "G"}, 1, 0},
		{"without logsource every rule is tried", `{"C":"x"}`, "", []string{"L", "W", "G"}, 0, 1},
		{"blanks leave it to the static value", `{"C":"x","product":"  "}`, "linux", []string{"L", "G"}, 1, 0},
		{"any dimension may differ", `{"C":"x","product":"windows","category":"dns"}`, "", []string{"G"}, 2, 0},
		{"conflicts count though nothing fires", `{"C":"y","product":"windows"}`, "", nil, 1, 0},
		{"an array is no value", `{"C":"x","product":["windows"]}`, "", []string{"L", "W", "G"}, 0, 1},
	} {
		w := compile(t, rules, engine.Options{Routing: &engine.Routing{Static: ast.Logsource{Product: tc.static}}}).NewWorker()
		var ev engine.Events
		mustDecode(t, w, &ev, tc.line)
		for range 2 { // the second time from memory
			if got := titles(w, &ev); !slices.Equal(got, tc.want) {
				t.Errorf("%s: fired %v, want %v", tc.name, got, tc.want)
			}
			if got := w.TakeStats(); got.Pruned != tc.pruned || got.WithoutLogsource != tc.absent {
				t.Errorf("%s: counted %+v, want %d pruned and %d absent", tc.name, got, tc.pruned, tc.absent)
			}
		}
	}
}

func TestAnImpliedLogsourceFillsWhatIsUnset(t *testing.T) {
	w := compile(t, rulesOf(t, twoRules), engine.Options{Routing: engine.DefaultRouting()}).NewWorker()
	var ev engine.Events
	mustDecode(t, w, &ev, `{"CommandLine":"whoami","m":"mimikatz","Image":".exe"}`)
	ev.Imply(0, &ast.Logsource{Product: "Windows"})
	if got := titles(w, &ev); !slices.Equal(got, []string{"Words"}) {
		t.Errorf("fired %v, want [Words]", got)
	}
}

func TestJudgingDoesNotAllocateWithoutAMatch(t *testing.T) {
	set := compile(t, rulesOf(t, strings.ReplaceAll(twoRules, "condition: not filter", "condition: filter and not filter")), engine.Options{Routing: engine.DefaultRouting()})
	w := set.NewWorker()
	lines := [][]byte{
		[]byte(`{"CommandLine":"C:\\Windows\\System32\\svchost.exe -k netsvcs","Image":"C:\\Windows\\svchost.exe","product":"windows","id":4711}`),
		[]byte(`{"CommandLine":"caf\u00e9 \u212a","Image":["a",{"b":null}],"é":true}`),
	}
	var ev engine.Events
	var b result.Batch
	step := func() {
		ev.Reset()
		for _, l := range lines {
			if err := w.DecodeJSON(&ev, l); err != nil {
				t.Fatal(err)
			}
			w.Evaluate(&ev, ev.Len()-1, 0, &b)
		}
	}
	step()
	if n := testing.AllocsPerRun(200, step); n != 0 {
		t.Errorf("%v allocations per run, want 0", n)
	}
	if b.Len() != 0 {
		t.Errorf("%d detections, want none", b.Len())
	}
}

func TestTimeOfAnEvent(t *testing.T) {
	w := compile(t, nil, engine.Options{TimestampFields: []string{"when"}}).NewWorker()
	for _, tc := range []struct {
		name string
		line string
		want int64
		ok   bool
	}{
		{"configured fields come first", `{"@timestamp":5,"when":7}`, 7, true},
		{"an unusable value falls through", `{"when":"soon","timestamp":"1970-01-01T00:01:00Z"}`, 60, true},
		{"several values are none", `{"when":[1,2],"eventTime":9}`, 9, true},
		{"none", `{"a":1}`, 0, false},
	} {
		var ev engine.Events
		mustDecode(t, w, &ev, tc.line)
		if got, ok := w.Time(&ev, 0); got != tc.want || ok != tc.ok {
			t.Errorf("%s: got %d, %t, want %d, %t", tc.name, got, ok, tc.want, tc.ok)
		}
	}
}

func TestAnUnsoundTreeIsAnError(t *testing.T) {
	rule := &ast.Rule{Detections: []ast.Detection{{Name: "sel"}}, Conditions: []ast.Condition{{}}}
	if _, err := engine.Compile([]*ast.Rule{rule}, engine.Options{}); err == nil {
		t.Error("a rule without nodes compiled")
	}
}

func TestJSONFormKeepsTheSpelling(t *testing.T) {
	w := compile(t, nil, engine.Options{}).NewWorker()
	var ev engine.Events
	mustDecode(t, w, &ev, "{ \"n\": 1.50, \"s\": \"\\u0041b\", \"z\": [1, 2], \"n\": 0, \"bad\": \"\xff\" }")
	w.DecodePlain(&ev, []byte("say \"hi\"\t<b>"))
	addPairs(w, &ev, "a", "1\n", "a", "2", "b", "")
	for i, want := range []string{
		"{\"n\":1.50,\"s\":\"\\u0041b\",\"z\":[1,2],\"n\":0,\"bad\":\"\uFFFD\"}", `{"_raw":"say \"hi\"\t<b>"}`, `{"a":"1\n","b":""}`,
	} {
		if got := string(ev.AppendJSON(nil, i)); got != want {
			t.Errorf("event %d: got %s, want %s", i, got, want)
		}
	}
}

func TestResultsKnowTheTimeOfTheirEvent(t *testing.T) {
	const arrival = 1773100800
	rules := rulesOf(t, twoRules)
	for _, tc := range []struct {
		name string
		o    engine.Options
		line string
		want result.Extra
	}{
		{"of a field", engine.Options{EventTime: true}, `{"@timestamp":"2024-07-10T14:30:00.9+02:00"}`, result.Extra{HasTime: true, Time: 1720614600}},
		{"of its arrival", engine.Options{EventTime: true}, `{"a":1}`, result.Extra{HasTime: true, Time: arrival}},
		{"and tell it", engine.Options{ResultTime: true}, `{"a":1}`, result.Extra{HasTime: true, Told: true, Time: arrival}},
		{"and tell it, when both are asked for", engine.Options{ResultTime: true, EventTime: true}, `{"a":1}`, result.Extra{HasTime: true, Told: true, Time: arrival}},
		{"not when nobody asks", engine.Options{}, `{"a":1}`, result.Extra{}},
	} {
		w := compile(t, rules, tc.o).NewWorker()
		var ev engine.Events
		mustDecode(t, w, &ev, tc.line)
		var b result.Batch
		w.Evaluate(&ev, 0, arrival, &b)
		if b.Len() != 1 {
			t.Fatalf("%s: %d results, want 1", tc.name, b.Len())
		}
		got := result.Extra{}
		if x := b.At(0).Extra; x != nil {
			got = *x
		}
		if got.HasTime != tc.want.HasTime || got.Told != tc.want.Told || got.Time != tc.want.Time {
			t.Errorf("%s: got %+v, want %+v", tc.name, got, tc.want)
		}
		if told := strings.Contains(string(b.At(0).AppendNative(nil, nil)), `"timestamp"`); told != tc.want.Told {
			t.Errorf("%s: the native line tells a time: %t, want %t", tc.name, told, tc.want.Told)
		}
	}
}
