package reference_test

import (
	"testing"

	"github.com/sluicehq/sluice/internal/reference"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/load"
)

// rulesOf loads a YAML text all of whose documents are sound.
func rulesOf(tb testing.TB, yaml string) []*ast.Rule {
	tb.Helper()
	c := load.FromBytes("rules.yml", []byte(yaml), load.Options{})
	for _, p := range c.Problems() {
		tb.Fatalf("rules\n%s: %v", yaml, p)
	}
	return c.Rules
}

func detailOf(tb testing.TB, s string) reference.Detail {
	tb.Helper()
	switch s {
	case "", "off":
		return reference.Off
	case "summary":
		return reference.Summary
	case "full":
		return reference.Full
	}
	tb.Fatalf("no detail %q", s)
	return reference.Off
}

func TestReferenceFollowsTheCaseTable(t *testing.T) {
	for _, c := range cases() {
		t.Run(c.Name, func(t *testing.T) {
			o := reference.Options{Detail: detailOf(t, c.Detail), IncludeEvent: c.IncludeEvent, ResultTime: c.ResultTime}
			if c.Routing != nil {
				o.Routing = &reference.Routing{Static: c.Routing.Static, Windows: c.Routing.Windows}
			}
			e, err := reference.New(rulesOf(t, c.Rules), o)
			if err != nil {
				t.Fatal(err)
			}
			for i := range c.Events {
				ev, err := reference.DecodeJSON([]byte(c.Events[i].Line))
				if err != nil {
					t.Fatal(err)
				}
				got := outcome{Lines: e.Evaluate(ev, c.Arrival)}
				if c.Routing != nil {
					pruned, has := e.Routed(ev)
					got.Pruned, got.WithoutLogsource = pruned, !has
				}
				c.Events[i].check(t, got)
			}
		})
	}
}

func TestReferenceReadsOnlyWholeLines(t *testing.T) {
	nested := func(n int) string {
		s := make([]byte, 0, 2*n)
		for range n {
			s = append(s, '[')
		}
		for range n {
			s = append(s, ']')
		}
		return string(s)
	}
	for _, tc := range []struct {
		name, line string
		want       bool
	}{
		{"an object", `{"a":1}`, true},
		{"white space around it", " \t{} \r", true},
		{"a scalar", "7", true},
		{"128 containers", nested(128), true},
		{"129 containers", nested(129), false},
		{"two values", "{} {}", false},
		{"a trailing comma", `{"a":1,}`, false},
		{"a control character in a string", "\"a\nb\"", false},
		{"invalid UTF-8", "\"a\xff\"", true},
	} {
		if _, err := reference.DecodeJSON([]byte(tc.line)); (err == nil) != tc.want {
			t.Errorf("%s: error %v, want readable: %t", tc.name, err, tc.want)
		}
	}
}

func TestReferenceKnowsPairsAndPlainLines(t *testing.T) {
	rules := rulesOf(t, "title: T\ndetection:\n  sel: {a.b: x}\n  kw: [word]\n  condition: sel or kw\n")
	e, err := reference.New(rules, reference.Options{IncludeEvent: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		ev   *reference.Event
		want string
	}{
		{
			"a pair is found by its exact name", reference.DecodePairs([]reference.Pair{{Key: "a.b", Value: "X"}, {Key: "a.b", Value: "y"}}),
			`"matched_selections":["sel"],"matched_fields":[{"field":"a.b","value":"X"}],"event":{"a.b":"X"}}`,
		},
		{
			"every value of a pair is keyword text", reference.DecodePairs([]reference.Pair{{Key: "m", Value: "a Word"}}),
			`"matched_selections":["kw"],"matched_fields":[],"event":{"m":"a Word"}}`,
		},
		{
			"also of a pair whose key was seen before", reference.DecodePairs([]reference.Pair{{Key: "m", Value: "a"}, {Key: "m", Value: "Word"}}),
			`"matched_selections":["kw"],"matched_fields":[],"event":{"m":"a"}}`,
		},
		{
			"a plain line has no fields but keyword text", reference.DecodePlain([]byte("say \"WORD\" \xff")),
			`"matched_selections":["kw"],"matched_fields":[],"event":{"_raw":"say \"WORD\" ` + "\ufffd" + `"}}`,
		},
		{
			"a line that is no JSON is plain", reference.DecodeAuto([]byte(`{"a.b":"x" word`)),
			`"matched_selections":["kw"],"matched_fields":[],"event":{"_raw":"{\"a.b\":\"x\" word"}}`,
		},
	} {
		got := ""
		for _, line := range e.Evaluate(tc.ev, 0) {
			got += string(line)
		}
		if want := `{"rule_title":"T","rule_id":null,"level":null,"tags":[],` + tc.want; got != want {
			t.Errorf("%s: result is\n%s, want\n%s", tc.name, got, want)
		}
	}
}
