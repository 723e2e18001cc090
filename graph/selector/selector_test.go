package selector

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/strict"
	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/result"
)

func detection() *graph.Result {
	return &graph.Result{
		Detection: &result.Detection{
			Rule: result.NewRule(0, &ast.Rule{Meta: ast.Meta{Title: "Odd shell", ID: "r-os", Level: ast.LevelHigh}}),
			Fields: []result.Field{
				{Name: "SourceIp", Value: []byte(`"10.0.0.5"`)},
				{Name: "Port", Value: []byte(`443`)},
				{Name: "win.user", Value: []byte(`"a\"\u00e9"`)},
				{Name: "SourceIp", Value: []byte(`"10.0.0.6"`)},
				{Name: "Null", Value: []byte(`null`)},
				{Name: "a..b", Value: []byte(`true`)},
			},
			Extra: &result.Extra{Event: []byte(`{"k":"v","o":{"p":{"q":[1, 2]},"n":null},"list":[{"x":1}],"d.t":"flat","k":"second"}`)},
		},
		Enrichments: []byte(`{"risk.score":40,"geo":{"city":"Oslo"},"geo.country":"NO","user":null,"risk.objects":[{"type":"host"}]}`),
	}
}

func bare() *graph.Result {
	return &graph.Result{Detection: &result.Detection{Rule: result.NewRule(0, &ast.Rule{Meta: ast.Meta{Title: "Bare"}})}}
}

const rules = `title: Failed login
id: base
logsource: {category: authentication}
detection:
  selection: {outcome: failure}
  condition: selection
---
title: SSH burst
level: medium
correlation:
  type: event_count
  rules: [base]
  group-by: [Src, user.name]
  timespan: 5m
  condition: {gte: 1}
`

func correlation(tb testing.TB) *graph.Result {
	tb.Helper()
	detector, err := sigma.Open(fstest.MapFS{"rules.yml": {Data: []byte(rules)}})
	if err != nil {
		tb.Fatal(err)
	}
	found, err := detector.Detect([]byte(`{"outcome":"failure","Src":"10.0.0.9","user":{"name":"ro\"ot"}}`), time.Unix(1773100800, 0))
	if err != nil || len(found.Correlations) != 1 {
		tb.Fatalf("%d correlations, %v", len(found.Correlations), err)
	}
	return &graph.Result{Correlation: found.Correlations[0], Enrichments: []byte(`{"owner":"it"}`)}
}

func TestSelectors(t *testing.T) {
	const absent = "(absent)"
	results := map[string]*graph.Result{"detection": detection(), "bare": bare(), "correlation": correlation(t)}
	for _, tc := range []struct{ text, canonical, of, want, json string }{
		{"rule", "rule", "detection", "r-os", `"r-os"`},
		{" rule\t", "rule", "bare", "Bare", `"Bare"`},
		{"rule", "rule", "correlation", "SSH burst", `"SSH burst"`},
		{"level", "level", "detection", "high", `"high"`},
		{"level", "level", "correlation", "medium", `"medium"`},
		{"level", "level", "bare", absent, ""},

		{"event.k", "event.k", "detection", "v", `"v"`},
		{"event..o.p.", "event.o.p", "detection", `{"q":[1,2]}`, `{"q":[1,2]}`},
		{"event.o.p.q", "event.o.p.q", "detection", "[1,2]", "[1,2]"},
		{"event.o.p.q.0", "event.o.p.q.0", "detection", absent, ""},
		{"event.list.x", "event.list.x", "detection", absent, ""},
		{"event.o.n", "event.o.n", "detection", absent, ""},
		{"event.d.t", "event.d.t", "detection", absent, ""},
		{"event.K", "event.K", "detection", absent, ""},
		{"event.k", "event.k", "bare", absent, ""},
		{"event.k", "event.k", "correlation", absent, ""},

		{"match.SourceIp", "match.SourceIp", "detection", "10.0.0.5", `"10.0.0.5"`},
		{"match.Port", "match.Port", "detection", "443", "443"},
		{"match.win.user", "match.win.user", "detection", `a"é`, `"a\"\u00e9"`},
		{"match.a..b", "match.a..b", "detection", "true", "true"},
		{"match.win", "match.win", "detection", absent, ""},
		{"match.Null", "match.Null", "detection", absent, ""},
		{"match.Src", "match.Src", "correlation", absent, ""},

		{"enrichment.risk.score", "enrichment.risk.score", "detection", "40", "40"},
		{"enrichment.geo.country", "enrichment.geo.country", "detection", "NO", `"NO"`},
		{"enrichment.geo.city", "enrichment.geo.city", "detection", "Oslo", `"Oslo"`},
		{"enrichment..geo", "enrichment.geo", "detection", `{"city":"Oslo"}`, `{"city":"Oslo"}`},
		{"enrichment.risk.objects", "enrichment.risk.objects", "detection", `[{"type":"host"}]`, `[{"type":"host"}]`},
		{"enrichment.user", "enrichment.user", "detection", absent, ""},
		{"enrichment.owner", "enrichment.owner", "correlation", "it", `"it"`},
		{"enrichment.owner", "enrichment.owner", "bare", absent, ""},

		{"correlation.group_key.Src", "correlation.group_key.Src", "correlation", "10.0.0.9", `"10.0.0.9"`},
		{"correlation.group_key.user.name", "correlation.group_key.user.name", "correlation", `ro"ot`, `"ro\"ot"`},
		{"correlation.group_key.user", "correlation.group_key.user", "correlation", absent, ""},
		{"correlation.group_key.Src", "correlation.group_key.Src", "detection", absent, ""},
	} {
		s, err := Parse(tc.text)
		if err != nil {
			t.Errorf("%s: %v", tc.text, err)
			continue
		}
		if s.String() != tc.canonical || s.ReadsEvent() != strings.HasPrefix(tc.canonical, "event.") {
			t.Errorf("%s: shown as %s, reads the event: %v", tc.text, s.String(), s.ReadsEvent())
		}
		text, ok := s.AppendText([]byte("<"), results[tc.of])
		if got := string(text[1:]); ok != (tc.want != absent) || ok && got != tc.want || !ok && got != "" {
			t.Errorf("%s of %s: got %q, %v, want %q", tc.text, tc.of, got, ok, tc.want)
		}
		doc, ok := s.AppendJSON([]byte("<"), results[tc.of])
		if got := string(doc[1:]); ok != (tc.want != absent) || got != tc.json {
			t.Errorf("%s of %s as JSON: got %s, %v, want %s", tc.text, tc.of, got, ok, tc.json)
		}
	}
}

func TestSelectorsThatNameNothing(t *testing.T) {
	const known = " (rule, level, event.<path>, match.<field>, enrichment.<path>, correlation.group_key.<field>)"
	for text, want := range map[string]string{
		"bogus.x":                "unknown selector 'bogus.x'" + known,
		"":                       "unknown selector ''" + known,
		"rule.id":                "unknown selector 'rule.id'" + known,
		"Rule":                   "unknown selector 'Rule'" + known,
		"correlation.type":       "unknown selector 'correlation.type'" + known,
		"event":                  "selector 'event' names nothing behind 'event.'",
		" event. ":               "selector ' event. ' names nothing behind 'event.'",
		"event...":               "selector 'event...' names nothing behind 'event.'",
		"match.":                 "selector 'match.' names nothing behind 'match.'",
		"enrichment..":           "selector 'enrichment..' names nothing behind 'enrichment.'",
		"correlation.group_key":  "selector 'correlation.group_key' names nothing behind 'correlation.group_key.'",
		"correlation.group_key.": "selector 'correlation.group_key.' names nothing behind 'correlation.group_key.'",
	} {
		if _, err := Parse(text); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestMatchers(t *testing.T) {
	for _, tc := range []struct {
		name                string
		selector, op, value string
		value2              string // of match.SourceIp, if not empty
		want                bool
	}{
		{"an expression that covers the text", "match.SourceIp", "=~", `10\.0\.0\.\d+`, "", true},
		{"an expression that covers a part", "match.SourceIp", "=~", `10\.0\.0\.\d+`, "10.0.0.5x", false},
		{"an expression with a bar covers the whole text by one side", "match.SourceIp", "=~", `10|10.0.0.5`, "", true},
		{"neither side covers it", "match.SourceIp", "=~", `10.|.*4`, "", false},
		{"an expression without regard to case", "level", "=~", "(?i)HIGH", "", true},
		{"case matters otherwise", "level", "=~", "HIGH", "", false},
		{"a quoted part without an end", "match.SourceIp", "=~", `\Q10.0.0.5`, "", true},
		{"a line break is no end", "match.SourceIp", "=~", `a`, "a\n", false},
		{"lines within an expression do not end the text", "match.SourceIp", "=~", `(?m)a$`, "a\nb", false},
		{"not like", "match.SourceIp", "!~", `10.*`, "", false},
		{"not like an absent value", "match.Foo", "!~", `.+`, "", true},
		{"an absent value is not x", "match.Foo", "!=", "x", "", true},
		{"an absent value is empty", "match.Foo", "=", "", "", true},
		{"a number by its text", "match.Port", "=", "443", "", true},
		{"an absent op is =", "match.Port", "", "443", "", true},
		{"null is empty", "enrichment.user", "=", "", "", true},
		{"an absent enrichment is empty", "enrichment.nobody", "=", "", "", true},
		{"a key with a dot", "enrichment.risk.score", "=~", ".+", "", true},
		{"case matters", "match.SourceIp", "=", "X", "x", false},
		{"another value", "rule", "!=", "r-os", "", false},
	} {
		m, err := Compile(Condition{tc.selector, tc.op, tc.value})
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		r := detection()
		if tc.value2 != "" {
			value, err := json.Marshal(tc.value2)
			if err != nil {
				t.Fatal(err)
			}
			r.Detection.Fields[0].Value = value
		}
		if got, _ := m.Matches(r, nil); got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
		text, _ := m.Selector().AppendText(nil, r)
		if got := m.MatchesText(text); got != tc.want {
			t.Errorf("%s: of its text got %v, want %v", tc.name, got, tc.want)
		}
		if c := m.Condition(); c.Selector != tc.selector || c.Value != tc.value || c.Op != tc.op && tc.op != "" || c.Op == "" {
			t.Errorf("%s: told as %v", tc.name, c)
		}
	}
}

func TestSetsOfMatchers(t *testing.T) {
	compile := func(text string) Matchers {
		conditions, faults := fromFile(t, text)
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		set, err := CompileAll(conditions)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	for text, want := range map[string]bool{
		"[]":                              false,
		"[{selector: rule, value: r-os}]": true,
		"[{selector: rule, value: r-os}, {selector: match.Port, op: '=', value: 443}]":   true,
		"[{selector: rule, value: r-os}, {selector: match.Port, op: '!=', value: 443}]":  false,
		"[{selector: match.a..b, value: true}, {selector: event.k, op: =~, value: 'v'}]": true,
	} {
		set := compile(text)
		if got, _ := set.Match(detection(), nil); got != want || set.ReadsEvent() != strings.Contains(text, "event.") {
			t.Errorf("%s: got %v, want %v; reads the event: %v", text, got, want, set.ReadsEvent())
		}
	}
	_, err := CompileAll([]Condition{{Selector: "rule", Value: "x"}, {Selector: "bogus.x", Op: "=", Value: "y"}, {Selector: "rule", Op: "~", Value: "z"}, {Selector: "rule", Op: "=~", Value: "("}})
	const want = `matchers[1]: unknown selector 'bogus.x' (rule, level, event.<path>, match.<field>, enrichment.<path>, correlation.group_key.<field>)
matchers[2]: matcher of 'rule': unknown op '~' (=, !=, =~, !~)
matchers[3]: matcher of 'rule': expression '(' cannot be used: error parsing regexp: missing closing ): ` + "`(`"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v, want\n%s", err, want)
	}
	for name, expression := range map[string]string{
		"a bracket that closes ours":        "a)|(?:b",
		"more instructions than are useful": strings.Repeat("a{1000}", 21),
		"repetitions within repetitions":    "((a{10}){10}){100,}" + strings.Repeat("b{900}", 12),
		"many letters":                      strings.Repeat(`\pL`, 500),
	} {
		if _, err := Compile(Condition{"rule", Like, expression}); err == nil {
			t.Errorf("%s: %.40s was accepted", name, expression)
		}
	}
}

func TestConditionsAreStrict(t *testing.T) {
	for _, tc := range []struct{ name, json, yaml, want, wantYAML string }{
		{"all keys", `{"selector":"rule","op":"!=","value":"x"}`, `{selector: rule, op: "!=", value: x}`, "", ""},
		{"without an op", `{"selector":"rule","value":""}`, `{selector: rule, value: ""}`, "", ""},
		{"without a value", `{"selector":"rule"}`, `{selector: rule}`, "the matcher of 'rule' needs a value", "1: field 'matchers': the matcher of 'rule' needs a value"},
		{"with a value that is null", `{"selector":"rule","value":null}`, `{selector: rule, value: ~}`, "the matcher of 'rule' needs a value", "1: field 'matchers': the matcher of 'rule' needs a value"},
		{"without a selector", `{"value":"x"}`, `{value: x}`, "a matcher needs a selector", "1: field 'matchers': a matcher needs a selector"},
		{"with another key", `{"selector":"rule","values":"x"}`, `{selector: rule, values: x}`, "a matcher has no key 'values' (selector, op, value) (did you mean 'value'?)", "1: field 'matchers': a matcher: unknown key 'values'"},
		{"with another key of another type", `{"selector":"rule","value":"x","is_regex":true}`, `{selector: rule, value: x, is_regex: true}`, "a matcher has no key 'is_regex' (selector, op, value)", "1: field 'matchers': a matcher: unknown key 'is_regex'"},
		{"a number", `{"selector":"rule","value":443}`, `{selector: rule, value: 443}`, "a matcher is an object whose members selector, op and value are strings", ""},
		{"a list", `{"selector":"rule","value":["x"]}`, `{selector: rule, value: [x]}`, "a matcher is an object whose members selector, op and value are strings", "1: field 'matchers': a matcher: field 'value': want a single value, got a list"},
		{"no object", `"rule"`, `rule`, "a matcher is an object whose members selector, op and value are strings", "1: field 'matchers': a matcher is a mapping of selector, op and value"},
	} {
		var c Condition
		if err := json.Unmarshal([]byte(tc.json), &c); message(err) != tc.want {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
		var told string
		if _, faults := fromFile(t, "["+tc.yaml+"]"); len(faults) == 1 {
			told = fmt.Sprintf("%d: %v", faults[0].Line, faults[0])
		} else if len(faults) > 1 {
			t.Errorf("%s in a file: %d faults", tc.name, len(faults))
		}
		if told != tc.wantYAML {
			t.Errorf("%s in a file: got %s, want %s", tc.name, told, tc.wantYAML)
		}
	}
	all, faults := fromFile(t, "[{selector: match.Port, value: 0x1F}, {selector: match.Port, value: '0x1F'}, {selector: match.Ok, value: true}]")
	if want := []Condition{{"match.Port", Equal, "31"}, {"match.Port", Equal, "0x1F"}, {"match.Ok", Equal, "true"}}; len(faults) > 0 || !slices.Equal(all, want) {
		t.Errorf("the text of single values: got %v, %v", all, faults)
	}
	if _, faults := fromFile(t, "\n  - selector: rule\n    value: x\n  - selector: rule\n    op: 5\n    value: x\n"); len(faults) != 1 || faults[0].Line != 5 {
		t.Errorf("got %v, want a fault on line 5", faults)
	}
	out, err := json.Marshal(Condition{"rule", Equal, "x"})
	if want := `{"selector":"rule","op":"=","value":"x"}`; err != nil || string(out) != want {
		t.Errorf("got %s, %v, want %s", out, err, want)
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// fromFile reads the matchers of a file.
func fromFile(t *testing.T, text string) ([]Condition, []strict.Fault) {
	t.Helper()
	root, err := strict.Read([]byte("matchers: " + text))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Matchers []Condition `yaml:"matchers"`
	}
	_, faults := strict.Decode(root, &file)
	return file.Matchers, faults
}
