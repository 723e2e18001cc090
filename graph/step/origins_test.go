package step_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
)

// ruleOf is a rule for a product, empty for none, that fires on events with its key.
func ruleOf(product, key string) string {
	logsource := ""
	if product != "" {
		logsource = "logsource: {product: " + product + "}\n"
	}
	return fmt.Sprintf("---\ntitle: %s %s\n%sdetection: {sel: {%s|exists: true}, condition: sel}\n", product, key, logsource, key)
}

func compiled(t *testing.T, rules string, o engine.Options) *graph.RuleSet {
	t.Helper()
	set, err := engine.Compile(load.FromBytes("r.yml", []byte(rules), load.Options{}).Rules, o)
	if err != nil {
		t.Fatal(err)
	}
	return &graph.RuleSet{Engine: set}
}

// batchOf evaluates lines in one batch. Line breaks lie between the events of a line.
func batchOf(t *testing.T, d *step.Detect, set *graph.RuleSet, lines ...string) {
	t.Helper()
	b := &graph.Batch{Set: set, Events: new(engine.Events)}
	w := set.Engine.NewWorker()
	for _, line := range lines {
		from := uint32(b.Events.Len())
		for event := range strings.SplitSeq(line, "\n") {
			if err := w.DecodeJSON(b.Events, []byte(event)); err != nil {
				t.Fatal(err)
			}
		}
		b.Lines = append(b.Lines, graph.Line{Raw: []byte(line)})
		b.Outcomes = append(b.Outcomes, graph.LineOutcome{Kind: graph.Decoded, Events: graph.Span{From: from, To: uint32(b.Events.Len())}})
	}
	d.Batch(new(step.Sequential), b)
}

func repeat(n int, line string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = line
	}
	return out
}

func TestWhereMostResultsComeFrom(t *testing.T) {
	rules := ruleOf("windows", "w") + ruleOf("zeek", "z") + ruleOf("cisco", "c") + ruleOf("", "n")
	const record = `,"Channel":"Security","EventID":1}`
	for _, tc := range []struct {
		name            string
		lines           []string
		results, events string // empty when there is no answer
	}{
		{"rules of other products on Windows records", repeat(10, `{"w":1,"z":1,"c":1`+record), "cisco 10, windows 10, zeek 10", "windows"},
		{"just half of the results", repeat(10, `{"w":1,"z":1`+record), "", ""},
		{"fewer than it takes", repeat(3, `{"z":1`+record), "", ""},
		{"rules without a product", repeat(10, `{"n":1`+record), "", ""},
		{"products that no rule has", repeat(10, `{"z":1,"product":"pix"}`), "zeek 10", "pix"},
		{"events without a product, one product of rules", repeat(10, `{"z":1}`), "", ""},
		{"events without a product, several products of rules", repeat(10, `{"z":1,"c":1}`), "cisco 10, zeek 10", ""},
		{"events without a product, mostly rules without one", repeat(10, `{"z":1,"n":1}`), "", ""},
		{"several products of events", append(repeat(9, `{"z":1,"product":"a"}`), repeat(9, `{"z":1,"product":"b"}`)...), "zeek 18", "a, b"},
		{"more products of events than are told apart", many(100), "zeek 100", "p0, p1, p10, p11, p12, p13 and 10 more"},
		{"several events on each line", repeat(5, `{"w":1`+record+"\n"+`{"z":1,"c":1`+record), "cisco 5, windows 5, zeek 5", "windows"},
		{"several events on each line, each from where its results are", repeat(5, `{"w":1`+record+"\n"+`{"z":1,"product":"zeek"}`), "", ""},
		{"no results", repeat(10, `{}`), "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			set := compiled(t, rules, engine.Options{})
			o := &step.Origins{Least: 10}
			d := step.NewDetect(false)
			d.Watch(o, nil)
			for i := 0; i < len(tc.lines); i += 4 {
				batchOf(t, d, set, tc.lines[i:min(len(tc.lines), i+4)]...)
			}
			m, ok := o.Misplaced()
			if ok != (tc.results != "") || ok && m != (step.Misplaced{Results: tc.results, Events: tc.events}) {
				t.Errorf("answer %t: %+v, want %q on events of %q", ok, m, tc.results, tc.events)
			}
		})
	}
}

func many(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(`{"z":1,"product":"p%d"}`, i))
	}
	return out
}

func TestNothingIsCountedWithRoutingOrWithoutProducts(t *testing.T) {
	for name, set := range map[string]*graph.RuleSet{
		"routing":           compiled(t, ruleOf("zeek", "z")+ruleOf("cisco", "z"), engine.Options{Routing: engine.DefaultRouting()}),
		"no product at all": compiled(t, ruleOf("", "z"), engine.Options{}),
	} {
		o := &step.Origins{}
		d := step.NewDetect(false)
		d.Watch(o, nil)
		batchOf(t, d, set, repeat(10, `{"z":1}`)...)
		if m, ok := o.Misplaced(); ok {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestNamesOfProductsNeitherSteerNorFillATerminal(t *testing.T) {
	set := compiled(t, ruleOf("zeek", "z"), engine.Options{})
	o := &step.Origins{Least: 10}
	d := step.NewDetect(false)
	d.Watch(o, nil)
	batchOf(t, d, set, repeat(10, `{"z":1,"product":"\u001b[2J\n`+strings.Repeat("x", 100_000)+`"}`)...)
	m, ok := o.Misplaced()
	if !ok || len(m.Events) > 200 || strings.ContainsAny(m.Events, "\x1b\n") {
		t.Errorf("answer %t with %d bytes of events, %.100q", ok, len(m.Events), m.Events)
	}
}

// Workers count together, an answer is given once, and then nothing is counted.
func TestTheAnswerIsGivenOnce(t *testing.T) {
	set := compiled(t, ruleOf("zeek", "z")+ruleOf("cisco", "c"), engine.Options{})
	o := &step.Origins{Least: 100}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			d := step.NewDetect(false)
			d.Watch(o, nil)
			for range 10 {
				batchOf(t, d, set, repeat(10, `{"z":1,"c":1}`)...)
			}
		})
	}
	wait.Wait()
	m, ok := o.Once()
	if !ok || m.Results != "cisco 400, zeek 400" {
		t.Errorf("answer %t: %+v, want 400 of each", ok, m)
	}
	if _, again := o.Once(); again {
		t.Error("it is given twice")
	}
	var nobody *step.Origins
	if _, ok := nobody.Once(); ok {
		t.Error("nobody watches, and there is an answer")
	}
}
