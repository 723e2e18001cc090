package reference_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/reference"
	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/result"
)

// indexed is the engine under the options of a reference evaluator.
type indexed struct {
	worker *engine.Worker
	events engine.Events
	batch  *result.Batch
}

func newIndexed(tb testing.TB, rules []*ast.Rule, o reference.Options) *indexed {
	tb.Helper()
	return workerOf(setOf(tb, rules, o))
}

func set(l *ast.Logsource, dimensions map[string]string) {
	for d, v := range dimensions {
		switch d {
		case "product":
			l.Product = v
		case "service":
			l.Service = v
		case "category":
			l.Category = v
		default:
			if l.Custom == nil {
				l.Custom = map[string]string{}
			}
			l.Custom[strings.TrimPrefix(d, "custom.")] = v
		}
	}
}

func setOf(tb testing.TB, rules []*ast.Rule, o reference.Options) *engine.Set {
	tb.Helper()
	set, err := engine.Compile(rules, engineOptions(o))
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

// around shortens a long text to its beginning and what is about position at.
func around(s []byte, at int) string {
	const head, context = 300, 1500
	if len(s) <= head+context {
		return string(s)
	}
	from := max(head, at-context/2)
	return fmt.Sprintf("%s ... %s", s[:head], s[from:min(len(s), from+context)])
}

func workerOf(set *engine.Set) *indexed {
	return &indexed{worker: set.NewWorker(), batch: new(result.Batch)}
}

func engineOptions(o reference.Options) engine.Options {
	out := engine.Options{
		MatchDetail:  [...]result.Detail{result.Off, result.Summary, result.Full}[o.Detail],
		IncludeEvent: o.IncludeEvent, ResultTime: o.ResultTime, TimestampFields: o.TimestampFields,
	}
	if r := o.Routing; r != nil {
		out.Routing = &engine.Routing{Windows: r.Windows}
		set(&out.Routing.Fields, r.Fields)
		set(&out.Routing.Static, r.Static)
	}
	return out
}

// lines are the engine's result lines for the last decoded event.
func (x *indexed) lines(arrival int64) [][]byte {
	x.batch.Truncate(0)
	x.worker.Evaluate(&x.events, x.events.Len()-1, arrival, x.batch)
	var out [][]byte
	for i := range x.batch.Len() {
		out = append(out, x.batch.At(i).AppendNative(nil, nil))
	}
	return out
}

// decode reads a line the way reference.DecodeAuto does.
func (x *indexed) decode(line []byte) {
	x.events.Reset()
	if t := bytes.TrimLeft(line, " \t\r\n"); len(t) == 0 || t[0] != '{' && t[0] != '[' || x.worker.DecodeJSON(&x.events, line) != nil {
		x.worker.DecodePlain(&x.events, line)
	}
}

// compare fails the test when the engine evaluates a line otherwise than e does.
func (x *indexed) compare(tb testing.TB, e *reference.Evaluator, ev *reference.Event, line []byte) {
	tb.Helper()
	const arrival = 1720621800
	x.decode(line)
	if d := difference(x.lines(arrival), e.Evaluate(ev, arrival)); d != "" {
		tb.Errorf("event %s\n%s", around(line, 0), d)
	}
}

func difference(got, want [][]byte) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Sprintf("the engine lacks\n%s", around(want[i], 0))
		case i >= len(want):
			return fmt.Sprintf("the engine has too many:\n%s", around(got[i], 0))
		case !bytes.Equal(got[i], want[i]):
			at := 0
			for at < min(len(got[i]), len(want[i])) && got[i][at] == want[i][at] {
				at++
			}
			return fmt.Sprintf("the engine says\n%s\nthe reference\n%s", around(got[i], at), around(want[i], at))
		}
	}
	return ""
}

// variants are the options under which corpora are compared.
func variants() map[string]reference.Options {
	return map[string]reference.Options{
		"every rule, detail off":  {},
		"every rule, detail full": {Detail: reference.Full, IncludeEvent: true, ResultTime: true},
		"routed, detail off":      {Routing: &reference.Routing{}},
		"routed, detail full":     {Routing: &reference.Routing{}, Detail: reference.Full},
		"derived, detail off":     {Routing: &reference.Routing{Windows: true}},
	}
}

func TestEngineAgreesWithTheReferenceOnEveryLane(t *testing.T) {
	rules := corpus(t)
	e, err := reference.New(rules, reference.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sets := map[string]*engine.Set{} // shared by all parts, as workers share one
	for name, o := range variants() {
		sets[name] = setOf(t, rules, o)
	}
	for _, lane := range sigmatest.Lanes() {
		const parts = 4
		lines, stride := sigmatest.Lane(t, lane), strideOf(lane)
		for part := range parts {
			t.Run(fmt.Sprintf("%s %d", lane, part), func(t *testing.T) {
				t.Parallel()
				engines := map[string]*indexed{}
				for name, set := range sets {
					engines[name] = workerOf(set)
				}
				for i := part * stride; i < len(lines) && !t.Failed(); i += parts * stride {
					ev := reference.DecodeAuto(lines[i])
					for name, o := range variants() {
						engines[name].compare(t, e.With(o), ev, lines[i])
					}
				}
			})
		}
	}
}

// strideOf thins a lane out: the generated ones repeat themselves, and the race
// detector makes the reference far too slow for everything. SLUICE_EVERY_EVENT,
// which continuous integration sets, leaves nothing out of a plain run.
func strideOf(lane string) int {
	switch {
	case sigmatest.Watched || testing.Short():
		return 50
	case lane == sigmatest.Telemetry || os.Getenv("SLUICE_EVERY_EVENT") != "":
		return 1
	}
	return 5
}

func TestEngineFindsTheExpectedHits(t *testing.T) {
	if sigmatest.Watched {
		t.Skip("counts need every event")
	}
	type row struct {
		lane   string
		routed bool
		id     string
	}
	got := map[row]int{}
	rules := corpus(t)
	for _, routed := range []bool{false, true} {
		var o reference.Options
		if routed {
			o.Routing = &reference.Routing{}
		}
		x := newIndexed(t, rules, o)
		for _, lane := range sigmatest.Lanes() {
			for _, line := range sigmatest.Lane(t, lane) {
				x.decode(line)
				x.batch.Truncate(0)
				x.worker.Evaluate(&x.events, 0, 0, x.batch)
				for i := range x.batch.Len() {
					got[row{lane, routed, x.batch.At(i).Rule.ID}]++
				}
			}
		}
	}
	for _, want := range sigmatest.ExpectedHits(t) {
		k := row{want.Lane, want.Routed, want.RuleID}
		if got[k] != want.Count {
			t.Errorf("%+v fires %d times, want %d", k, got[k], want.Count)
		}
		delete(got, k)
	}
	for k, n := range got {
		t.Errorf("%+v fires %d times, want 0", k, n)
	}
}

func TestEngineAgreesOnPairsAndPlainLines(t *testing.T) {
	rules := rulesOf(t, "title: T\ndetection:\n  sel: {a.b: x}\n  kw: [word]\n  gone: {c: null}\n  condition: sel or kw or gone\n")
	o := reference.Options{IncludeEvent: true, Detail: reference.Full}
	e, err := reference.New(rules, o)
	if err != nil {
		t.Fatal(err)
	}
	x := newIndexed(t, rules, o)
	for _, in := range [][]reference.Pair{
		nil,
		{{Key: "a.b", Value: "X"}, {Key: "a.b", Value: "y"}, {Key: "c", Value: "1"}},
		{{Key: "a.b", Value: "y"}, {Key: "a.b", Value: "X"}, {Key: "c", Value: "1"}},
		{{Key: "c", Value: "\u00e9 \"Word\"\t"}, {Key: "a", Value: "x"}},
		{{Key: "c", Value: "1"}, {Key: "c", Value: "word"}},
	} {
		x.events.Reset()
		p := x.worker.Pairs(&x.events)
		for _, pair := range in {
			p.Add([]byte(pair.Key), []byte(pair.Value))
		}
		p.End()
		if d := difference(x.lines(0), e.Evaluate(reference.DecodePairs(in), 0)); d != "" {
			t.Errorf("pairs %q: %s", in, d)
		}
	}
	for _, line := range []string{"a word", "nothing", "", "say \"WORD\" \xff\t\u00e9", `{"a.b":"x"`} {
		x.compare(t, e, reference.DecodeAuto([]byte(line)), []byte(line))
	}
}
