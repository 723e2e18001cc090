package step_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/sigma/correlation"
)

const login = "title: Login\nid: d-login\nlogsource: {category: auth}\ndetection: {s: {kind: login}, condition: s}\n---\n"

// counting is a correlation that counts logins by a field.
func counting(id, by string, gte int) string {
	return fmt.Sprintf("title: %s\nid: %s\ncorrelation: {type: event_count, rules: d-login, group-by: %s, timespan: 60s, condition: {gte: %d}}\n---\n", id, id, by, gte)
}

func user(name string, at int) string {
	return fmt.Sprintf(`{"kind":"login","user":%q,"host":"h","timestamp":%d}`, name, at)
}

// detected is a batch whose lines are decoded and evaluated.
func detected(set *graph.RuleSet, lines ...string) *graph.Batch {
	b := decoded(set, lines...)
	step.NewDetect(false).Batch(new(step.Sequential), b)
	return b
}

func newCorrelate(set *graph.RuleSet, maxGroups int) *step.Correlate {
	return step.NewCorrelate(correlation.New(step.Program(set), correlation.Limits{Groups: maxGroups}))
}

// correlated gives b to c and returns the results of each line that has any: d for
// a detection, else what fired; and what happened.
func correlated(c *step.Correlate, g step.Isolate, b *graph.Batch) (lines []string, effects []correlation.Outcome, failed []string) {
	c.Begin(g, b, b.Arrival)
	for i := range b.Lines {
		counted, err := c.Count(g, b, i, b.Arrival)
		effects = append(effects, counted.Effects...)
		if err != nil {
			failed = append(failed, err.Error())
			continue
		}
		if results := c.Merge(b, i); results != nil {
			lines = append(lines, describe(results))
		}
	}
	c.End()
	return lines, effects, failed
}

func describe(results *graph.ResultSet) string {
	var out []string
	for _, r := range results.Results {
		if r.Detection != nil {
			out = append(out, "d")
			continue
		}
		out = append(out, fmt.Sprintf("%s(%g)@%d", r.Correlation.Rule.Title, r.Correlation.Value, r.Correlation.Time))
	}
	return strings.Join(out, " ")
}

func TestResultsOfALineAreItsDetectionsAndWhatFired(t *testing.T) {
	for _, tc := range []struct {
		name  string
		rules string
		alter func(*graph.Batch)
		lines []string
		want  string
		fails string
	}{
		{"without correlations", whoami, nil, []string{`{"CommandLine":"whoami"}`, `{}`}, "d", ""},
		{
			"what fires goes behind the detection", login + counting("c", "user", 2), nil,
			[]string{user("ann", 100), `{"kind":"logout"}`, user("ann", 101), user("bob", 102)},
			"d, d c(2)@101, d", "",
		},
		{
			"of several events of a line the results of each stand together", login + counting("c", "user", 1),
			func(b *graph.Batch) { // the first two are one line's, as an event filter makes them
				b.Lines = b.Lines[1:]
				b.Outcomes[1].Events.From, b.Outcomes[1].Results.From, b.Outcomes[1].Matches.From = 0, 0, 0
				b.Outcomes = b.Outcomes[1:]
			},
			[]string{user("ann", 100), user("bob", 101), user("cid", 102)},
			"d c(1)@100 d c(1)@101, d c(1)@102", "",
		},
		{
			"a record that cannot be read takes its line along", login + counting("c", "user", 2),
			func(b *graph.Batch) { b.Matches[1].Record = []byte{1, 0xff} },
			[]string{user("ann", 1), user("ann", 2), user("ann", 3)},
			"d, d c(2)@3", "panic: ",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			set := ruleSet(t, tc.rules)
			b := detected(set, tc.lines...)
			if tc.alter != nil {
				tc.alter(b)
			}
			lines, _, failed := correlated(newCorrelate(set, 0), new(step.Sequential), b)
			if got := strings.Join(lines, ", "); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if got := strings.Join(failed, ", "); (got == "") != (tc.fails == "") || !strings.HasPrefix(got, tc.fails) {
				t.Errorf("failed with %q, want %q", got, tc.fails)
			}
		})
	}
}

// breaking panics at the end of the given steps.
type breaking struct {
	step.Isolate
	at    []int
	steps int
}

func (b *breaking) Step(step, undo func()) error {
	return b.Isolate.Step(func() {
		step()
		b.steps++
		for _, at := range b.at {
			if b.steps == at {
				panic("boom")
			}
		}
	}, undo)
}

func TestAnEventCountsAsAWholeOrNotAtAll(t *testing.T) {
	rules := login + counting("u", "user", 3) + counting("h", "host", 3)
	for _, tc := range []struct {
		name   string
		at     []int // steps that panic
		want   string
		groups int
		fails  string
	}{
		{"no panic", nil, "d, d, d u(3)@3 h(3)@3, d u(4)@4 h(4)@4", 2, ""},
		{"the third panics once", []int{3}, "d, d, d u(3)@3 h(3)@3, d u(4)@4 h(4)@4", 2, ""},
		{"the third panics twice", []int{3, 4}, "d, d, d u(3)@4 h(3)@4", 2, "panic: boom"},
		{"the first panics twice", []int{1, 2}, "d, d, d u(3)@4 h(3)@4", 2, "panic: boom"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			set := ruleSet(t, rules)
			c := newCorrelate(set, 0)
			g := &breaking{Isolate: new(step.Sequential), at: tc.at}
			lines, _, failed := correlated(c, g, detected(set, user("ann", 1), user("ann", 2), user("ann", 3), user("ann", 4)))
			if got := strings.Join(lines, ", "); got != tc.want || strings.Join(failed, ", ") != tc.fails {
				t.Errorf("got %s and %q, want %s and %q", got, failed, tc.want, tc.fails)
			}
			if n := c.Engine.Groups(); n != tc.groups {
				t.Errorf("%d groups, want %d", n, tc.groups)
			}
		})
	}
}

func TestALineThatIsGivenAgainIsNotCountedAgain(t *testing.T) {
	set := ruleSet(t, login+counting("c", "user", 1))
	c, g, b := newCorrelate(set, 0), new(step.Sequential), detected(set, user("ann", 1))
	c.Begin(g, b, 1)
	for range 2 {
		if _, err := c.Count(g, b, 0, 1); err != nil {
			t.Fatal(err)
		}
	}
	if again, _ := c.Count(g, b, 0, 1); len(again.Firings) != 0 {
		t.Errorf("%d firings are told again, want none", len(again.Firings))
	}
	if got := describe(c.Merge(b, 0)); got != "d c(1)@1" {
		t.Errorf("got %s, want one firing", got)
	}
	c.End()
}

func TestTheOutcomeSaysWhatHappenedBesideFiring(t *testing.T) {
	set := ruleSet(t, login+counting("c", "user", 3))
	var lines []string
	for i := range 11 {
		lines = append(lines, user(fmt.Sprint("u", i), 1000+i))
	}
	_, effects, _ := correlated(newCorrelate(set, 10), new(step.Sequential), detected(set, append(lines, user("u10", 1))...))
	want := []correlation.Outcome{{Evicted: 1, Before: 10}, {Late: 1, Evicted: 1, Before: 10}}
	for i := range want {
		want[i].Bytes = effects[i].Bytes // what a group takes is no matter of this test
	}
	if fmt.Sprint(effects) != fmt.Sprint(want) {
		t.Errorf("got %+v, want %+v", effects, want)
	}
}

func TestABatchOfAnotherRuleSetCarriesTheStateOver(t *testing.T) {
	g := new(step.Sequential)
	first := ruleSet(t, login+counting("keep", "user", 3)+counting("gone", "user", 3)+counting("other", "user", 3))
	c := newCorrelate(first, 0)
	correlated(c, g, detected(first, user("ann", 1), user("ann", 2)))
	empty := newBatch(ruleSet(t, login+counting("other", "host", 3)+counting("keep", "user", 5)))
	var dropped []string
	for _, d := range c.Begin(g, empty, 2).Dropped {
		dropped = append(dropped, fmt.Sprintf("%s %s %d", d.Correlation, d.Reason, d.Groups))
	}
	c.End()
	if got := strings.Join(dropped, ", "); got != "gone removed 1, other shape_changed 1" {
		t.Errorf("dropped %s", got)
	}
	lines, _, _ := correlated(c, g, detected(empty.Set, user("ann", 3), user("ann", 4), user("ann", 5)))
	if got := strings.Join(lines, ", "); got != "d, d, d other(3)@5 keep(5)@5" {
		t.Errorf("got %s, want the state of the correlation whose shape is the same", got)
	}
}

func TestWhatResultsKeepOfTheMemoryOfTheirLines(t *testing.T) {
	hit, miss := `{"CommandLine":"whoami"}`, `{"CommandLine":"nobody"}`
	for _, tc := range []struct {
		name   string
		lines  []string
		shared bool
	}{
		{"few would keep much, and get copies", []string{miss, hit, miss, miss, miss, miss, miss, miss}, false},
		{"many keep what is mostly theirs", []string{hit, hit, miss, hit}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			set, g := ruleSet(t, whoami), new(step.Sequential)
			b := detected(set, tc.lines...)
			returned := 0
			memory := make([]byte, 0, len(hit)*len(b.Lines))
			buffer := graph.NewBuffer(memory, func(*graph.Buffer) { returned++ })
			buffer.Retain(len(b.Lines) - 1)
			for i := range b.Lines {
				line, from := &b.Lines[i], len(memory)
				memory = append(memory, line.Raw...)
				line.Raw, line.Buffer = memory[from:len(memory):len(memory)], buffer
			}
			c := newCorrelate(set, 0)
			c.Begin(g, b, 0)
			var sets []*graph.ResultSet
			for i := range b.Lines {
				if results := c.Merge(b, i); results != nil {
					sets = append(sets, results)
				}
			}
			c.End()
			graph.ReleaseLines(b.Lines)
			if (returned == 0) != tc.shared {
				t.Errorf("the memory is kept: %t, want %t", returned == 0, tc.shared)
			}
			clear(memory) // what is not shared is its maker's again
			for _, results := range sets {
				if whole := string(results.Raw) == hit; whole == tc.shared || (results.Buffer != nil) != tc.shared {
					t.Errorf("results have the line %q, and a share: %t, want one or the other", results.Raw, results.Buffer != nil)
				}
				results.Buffer.Release(1)
			}
			if returned != 1 {
				t.Errorf("the memory came back %d times, want once", returned)
			}
		})
	}
}
