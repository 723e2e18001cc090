package pipeline_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/pipeline"
)

// values makes a snapshot of pairs of an id and its JSON.
func values(pairs ...string) map[string]pipeline.Value {
	out := map[string]pipeline.Value{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = pipeline.Value{JSON: []byte(pairs[i+1])}
	}
	return out
}

func expand(t *testing.T, s *pipeline.Set, v map[string]pipeline.Value) (*pipeline.Set, []string) {
	t.Helper()
	out, warnings, err := s.Expand(v, pipeline.ExpandOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return out, warnings
}

func TestValuesOfSourcesTakeThePlaceOfReferences(t *testing.T) {
	snapshot := values(
		"l", `["a", null, 4624, true]`, "o", `{"env":{"name":"prod"},"ids":["p","q"],"x-y":1,"none":null}`, "n", `null`, "e", `[]`,
		"s", `"text"`, "empty", `""`, "i", `12345678901234567890`, "f", `1.50`, "b", `false`, "odd", `["", "\u00e9\"", [1, "x"], {"k": [ ]}, "${source.s}", "%bad%", "a,]b"]`,
	)
	snapshot["pending"] = pipeline.Value{}
	for _, tc := range []struct {
		name, variable string
		want           []string
		warning        string
	}{
		{"a list is its elements, without null", `"${source.l}"`, []string{"a", "4624", "true"}, "variable 'v': source 'l': null or empty elements are left out: 1"},
		{"a list inside of a list takes its place in it", `["z", "${source.o.ids}"]`, []string{"z", "p", "q"}, ""},
		{"inside of text the value is text", `"logs-${source.o.env.name}-x"`, []string{"logs-prod-x"}, ""},
		{"a list inside of text is JSON", `"x ${source.o.ids}"`, []string{`x ["p","q"]`}, ""},
		{"a number in a path counts elements from 0", `"${source.o.ids.1}"`, []string{"q"}, ""},
		{"a path that leads nowhere is null", `"${source.o.nope}"`, nil, "'${source.o.nope}' leads nowhere in the value of the source, and counts as null"},
		{"nor does one behind the last element", `"${source.o.ids.2}"`, nil, "leads nowhere"},
		{"nor one into text", `"${source.s.x}"`, nil, "leads nowhere"},
		{"an index may not be negative or a word", `["${source.o.ids.-1}", "${source.o.ids.p}"]`, nil, "leads nowhere"},
		{"a null that is there is no dead path", `"${source.o.none}"`, nil, ""},
		{"null is no element", `"${source.n}"`, nil, ""},
		{"null inside of text is nothing", `"v${source.n}"`, []string{"v"}, ""},
		{"a value that is not there yet is null", `["${source.pending}", "v${source.pending}"]`, []string{"v"}, ""},
		{"an object is one element of JSON", `"${source.o.env}"`, []string{`{"name":"prod"}`}, ""},
		{"a string is one element", `"${source.s}"`, []string{"text"}, ""},
		{"also an empty one", `"${source.empty}"`, []string{""}, ""},
		{"numbers and booleans are their JSON", `["${source.i}", "${source.f}", "${source.b}"]`, []string{"12345678901234567890", "1.50", "false"}, ""},
		{"an empty list is none", `"${source.e}"`, nil, ""},
		{"elements of any type are text, and what they say is data", `"${source.odd}"`, []string{"é\"", `[1,"x"]`, `{"k":[]}`, "${source.s}", "%bad%", "a,]b"}, "left out: 1"},
		{"a path has letters, digits, dashes and underlines", `"${source.o.x-y}"`, []string{"1"}, ""},
		{"two references make one element", `"${source.s}${source.o.ids.0}"`, []string{"textp"}, ""},
		{"what is no reference stays", `["${source.}", "${source.s", "${other}", "$source.s"]`, []string{"${source.}", "${source.s", "${other}", "$source.s"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, warnings := expand(t, set(t, "vars: {v: "+tc.variable+"}\n"), snapshot)
			if got := out.Pipelines[0].Vars["v"]; !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			told := strings.Join(warnings, "\n")
			if (tc.warning == "") != (told == "") || !strings.Contains(told, tc.warning) {
				t.Errorf("got the warnings %q, want %q", told, tc.warning)
			}
			if out.Pipelines[0].Dynamic || len(out.Sources()) > 0 {
				t.Error("a reference is left")
			}
		})
	}
}

func TestASetListsTheSourcesItRefersTo(t *testing.T) {
	s := set(t, "vars: {a: [\"${source.b.x}\", 'x${source.a}-${source.c}'], k: v}\n"+items(`{include: "${source.inc.items}"}`, `{type: include, include: bare}`), "name: static\n")
	if got, want := strings.Join(s.Sources(), " "), "a b bare c inc"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !s.Pipelines[0].Dynamic || s.Pipelines[1].Dynamic {
		t.Error("a pipeline is dynamic when it refers to a source, and only then")
	}
	_, _, err := s.Expand(values("a", "1", "inc", "[]", "bare", "[]"), pipeline.ExpandOptions{})
	if want := "pipeline references undeclared source(s): b, c"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := s.Undeclared(func(string) bool { return true }); err != nil {
		t.Error(err)
	}
}

func TestAReferenceElsewhereIsWarnedAbout(t *testing.T) {
	for _, tc := range []struct{ name, doc, want string }{
		{"in a key of an item", items(`{id: r, type: replace_string, regex: a, replacement: "${source.x}"}`), "transformations[0] 'r': 'replacement': the reference in '${source.x}' is not expanded"},
		{"in a list of one", items(`{type: value_placeholders, include: ["${source.x.y}"]}`), "transformations[0]: 'include'"},
		{"in a key of a mapping", items(`{type: field_name_mapping, mapping: {"${source.x}": a}}`), "transformations[0]: '${source.x}'"},
		{"inside of nest", items(`{type: nest, items: [{type: field_name_prefix, prefix: "${source.x}"}]}`), "transformations[0]: 'prefix'"},
		{"in a condition of an include", items(`{include: x, rule_conditions: [{type: tag, tag: "${source.x}"}]}`), "transformations[0]: 'tag'"},
		{"in the name", `name: "${source.x}"`, "pipeline: 'name'"},
	} {
		p, err := pipeline.Parse([]byte(tc.doc))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		n := 0
		for _, w := range p.Warnings {
			if strings.Contains(w, "is not expanded") {
				n++
			}
		}
		if n != 1 || !strings.Contains(strings.Join(p.Warnings, "\n"), tc.want) {
			t.Errorf("%s: got %q, want one that has %q", tc.name, p.Warnings, tc.want)
		}
	}
}

func TestWhatValuesOfSourcesMakeOfRules(t *testing.T) {
	const fill = "vars: {bad: \"${source.f}\"}\n"
	use := items(`{type: value_placeholders}`)
	for _, tc := range []struct {
		name, json, detection, event string
		want                         bool
	}{
		{"a value is one of the alternatives", `["mal","evil"]`, `s: {C|contains: '%bad%'}, condition: s`, `{"C":"x evil.exe"}`, true},
		{"a wildcard in a value is one", `["m*l"]`, `s: {C: '%bad%'}, condition: s`, `{"C":"mill"}`, true},
		{"an escaped one is text", `["m\\*l"]`, `s: {C: '%bad%'}, condition: s`, `{"C":"m*l"}`, true},
		{"null elements do not match everything", `[null, "", "mal"]`, `s: {C|contains: '%bad%'}, condition: s`, `{"C":"good"}`, false},
		{"an empty list matches nothing", `[]`, `s: {C|contains: '%bad%'}, condition: s`, `{"C":"%bad%"}`, false},
		{"a value that looks like a placeholder is text", `["%bad%"]`, `s: {C: '%bad%'}, condition: s`, `{"C":"%bad%"}`, true},
		{"a value that looks like a reference is text", `["${source.f}", "a"]`, `s: {C: '%bad%'}, condition: s`, `{"C":"${source.f}"}`, true},
		{"also inside of text", `["${source.f}", "a"]`, `s: {C: 'x%bad%'}, condition: s`, `{"C":"x${source.f}"}`, true},
		{"and in an expression", `["\\$\\{source\\.f\\}"]`, `s: {C|re: '^%bad%$'}, condition: s`, `{"C":"${source.f}"}`, true},
		{"the elements are alternatives of all", `["a","b"]`, `s: {C|contains|all: '%bad%'}, condition: s`, `{"C":"b a"}`, true},
		{"and all of them are needed", `["a","b"]`, `s: {C|contains|all: '%bad%'}, condition: s`, `{"C":"b"}`, false},
		{"networks of a source are networks", `["10.0.0.0/8"]`, `s: {C|cidr|expand: '%bad%'}, condition: s`, `{"C":"10.1.1.1"}`, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, _ := expand(t, set(t, fill+use), values("f", tc.json))
			c := loadWith(t, s, ruleWith(tc.detection))
			for _, p := range c.Problems() {
				t.Fatal(p)
			}
			if got := fires(t, c.Rules, tc.event); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
	t.Run("a reference that nobody resolved rejects the rule", func(t *testing.T) {
		c := loadWith(t, set(t, fill+use), ruleWith(`s: {C: 'x%bad%'}, condition: s`))
		if got := c.Problems(); len(got) != 1 || !strings.Contains(got[0].Reason, "unresolved source placeholder in detection value: x${source.f}") {
			t.Errorf("got %v", got)
		}
	})
	t.Run("also one that the rule wrote beside a value", func(t *testing.T) {
		s, _ := expand(t, set(t, fill+use), values("f", `["a"]`))
		c := loadWith(t, s, ruleWith(`s: {C: '${source.f}%bad%'}, condition: s`))
		if got := c.Problems(); len(got) != 1 || !strings.Contains(got[0].Reason, "unresolved source placeholder") {
			t.Errorf("got %v", got)
		}
	})
}

func TestItemsOfASourceTakeThePlaceOfTheInclude(t *testing.T) {
	const prefix = `[{"type":"field_name_prefix","prefix":"p."}]`
	linux := `, rule_conditions: [{type: logsource, product: linux}]`
	windows := `, rule_conditions: [{type: logsource, product: windows}]`
	rule := ruleWith(`s: {A: 1}, condition: s`)
	for _, tc := range []struct{ name, pipeline, json, event string }{
		{"an include without conditions acts on every rule", items(`{include: "${source.t}"}`), prefix, `{"p.A":1}`},
		{"its conditions are those of a nest", items(`{include: "${source.t}"` + linux + `}`), prefix, `{"A":1}`},
		{"and hold where they hold", items(`{include: "${source.t}"` + windows + `}`), prefix, `{"p.A":1}`},
		{"an id alone names the source", items(`{include: t, type: include}`), prefix, `{"p.A":1}`},
		{"a path leads to the items", items(`{include: "${source.t.deep.0}"}`), `{"deep":[` + prefix + `]}`, `{"p.A":1}`},
		{"items stand in order between the others", items(`{type: field_name_suffix, suffix: _1}`, `{include: t}`, `{type: field_name_suffix, suffix: _3}`), `[{"type":"field_name_suffix","suffix":"_2"}]`, `{"A_1_2_3":1}`},
		{"the conditions of the fields hold inside, too", items(`{include: t, field_name_conditions: [{type: include_fields, fields: [B]}]}`), prefix, `{"A":1}`},
		{"the id of the include is applied", items(`{id: inc, include: t}`, `{type: field_name_suffix, suffix: _s, rule_conditions: [{type: processing_item_applied, processing_item_id: inc}]}`), prefix, `{"p.A_s":1}`},
		{"and so are those inside", items(`{include: t}`, `{type: field_name_suffix, suffix: _s, rule_conditions: [{type: processing_item_applied, processing_item_id: inner}]}`), `[{"id":"inner","type":"field_name_prefix","prefix":"p."}]`, `{"p.A_s":1}`},
		{"null inserts nothing", items(`{include: t}`), `null`, `{"A":1}`},
		{"an empty list neither", items(`{include: t}`), `[]`, `{"A":1}`},
		{"nest may be included", items(`{include: t}`), `[{"type":"nest","items":` + prefix + `}]`, `{"p.A":1}`},
		{"variables of the pipeline are those of what is included", "vars: {v: 1}\n" + items(`{include: t}`), `[{"type":"set_value","value":"%v%"},{"type":"value_placeholders"}]`, `{"A":"1"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, _ := expand(t, set(t, tc.pipeline), values("t", tc.json))
			c := loadWith(t, s, rule)
			for _, p := range c.Problems() {
				t.Fatal(p)
			}
			if !fires(t, c.Rules, tc.event) {
				t.Errorf("the rule does not meet %s", tc.event)
			}
		})
	}
	t.Run("a null value is warned about", func(t *testing.T) {
		_, warnings := expand(t, set(t, items(`{include: t}`)), values("t", "null"))
		if len(warnings) != 1 || !strings.Contains(warnings[0], "transformations[0]: include of '${source.t}': the source has no value, nothing is inserted") {
			t.Errorf("got %q", warnings)
		}
	})
	t.Run("correlations are renamed, too", func(t *testing.T) {
		s, _ := expand(t, set(t, items(`{include: t}`)), values("t", prefix))
		c := loadWith(t, s, rule+"---\ntitle: C\ncorrelation: {type: event_count, rules: [r], group-by: [U], timespan: 1m, condition: {gte: 2}}\n")
		if len(c.Correlations) != 1 || c.Correlations[0].GroupBy[0] != "p.U" {
			t.Errorf("got %v", c.Problems())
		}
	})
	t.Run("until it is resolved an include does nothing", func(t *testing.T) {
		if c := loadWith(t, set(t, items(`{include: t}`)), rule); !fires(t, c.Rules, `{"A":1}`) {
			t.Error("the rule does not meet the field as written")
		}
	})
}

func TestIncludesThatAreRefused(t *testing.T) {
	for _, tc := range []struct{ name, json, want string }{
		{"no array", `{"a":1}`, "include parse error: source 't': the value is no array of transformation objects"},
		{"text", `"x"`, "include parse error: source 't': the value is no array"},
		{"an element that is no object", `[1]`, "include parse error: source 't': transformations[0].include[0]: transformation must be a mapping"},
		{"an element that does not parse", `[{"type":"explode"}]`, "include parse error: source 't': transformations[0].include[0]: unknown transformation type: explode"},
		{"an include inside", `[{"include":"t"}]`, "include is not allowed in what is included"},
		{"one within nest", `[{"type":"nest","items":[{"include":"${source.u}"}]}]`, "include is not allowed in what is included"},
		{"items that are nested without end", "[" + strings.Repeat(`{"type":"nest","items":[`, 200) + strings.Repeat("]}", 200) + "]", "nested deeper than 100 levels"},
		{"no JSON", `[`, "the value of source 't' is no JSON"},
		{"nesting beyond reason", strings.Repeat("[", 10<<20), "the value of source 't' is no JSON"},
		{"a key twice", `[{"type":"nest","type":"nest"}]`, `key "type" stands twice`},
	} {
		_, _, err := set(t, items(`{include: t}`)).Expand(values("t", tc.json), pipeline.ExpandOptions{})
		var which *pipeline.LoadError
		if err == nil || !strings.Contains(err.Error(), tc.want) || !errors.As(err, &which) {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
	}
	t.Run("items from the network need leave", func(t *testing.T) {
		s := set(t, items(`{include: t}`))
		remote := map[string]pipeline.Value{"t": {JSON: []byte(`[]`), Remote: true}}
		_, _, err := s.Expand(remote, pipeline.ExpandOptions{})
		if err == nil || !strings.Contains(err.Error(), "source 't'") || !strings.Contains(err.Error(), "--allow-remote-include") {
			t.Errorf("got %v", err)
		}
		if _, _, err := s.Expand(remote, pipeline.ExpandOptions{AllowRemote: true}); err != nil {
			t.Error(err)
		}
	})
	t.Run("variables may come from the network", func(t *testing.T) {
		v := map[string]pipeline.Value{"t": {JSON: []byte(`["a"]`), Remote: true}}
		if out, _ := expand(t, set(t, `vars: {v: "${source.t}"}`), v); out.Pipelines[0].Vars["v"][0] != "a" {
			t.Error("the value is not used")
		}
	})
	for _, tc := range []struct{ name, include, want string }{
		{"text around the reference", "x${source.t}", "names no source"},
		{"two references", "${source.t}${source.u}", "names no source"},
		{"an id that none can have", "1t", "names no source"},
	} {
		if _, err := pipeline.Parse([]byte(items(`{include: "` + tc.include + `"}`))); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
	}
}

func TestAVariableBeyondItsBoundsIsRefused(t *testing.T) {
	for _, tc := range []struct{ name, json, want string }{
		{"entries", "[" + strings.Repeat(`"a",`, 2_000_000) + `"a"]`, "variable 'v': it has more than 2000000 values"},
		{"text", `["` + strings.Repeat("a", 64<<20) + `","b"]`, "variable 'v': its values are more than 67108864 bytes of text"},
	} {
		if _, _, err := set(t, `vars: {v: "${source.f}"}`).Expand(values("f", tc.json), pipeline.ExpandOptions{}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
	}
}

// Of what a rule reads its pipelines tell, so that a change elsewhere need not be looked
// for in it.
func TestRulesTellWhatTheyUse(t *testing.T) {
	s := set(t, "vars: {v: \"${source.a}\", w: ['${source.b}'], k: x}\n"+items(`{type: value_placeholders}`, `{include: t, rule_conditions: [{type: logsource, product: linux}]}`))
	out, _ := expand(t, s, values("a", `["1"]`, "b", `["2"]`, "t", `[]`))
	uses := map[string][]string{}
	observe := load.Options{TransformCorrelation: out.ApplyCorrelation}
	rule := func(title, product, value string) string {
		return fmt.Sprintf("title: %s\nlogsource: {product: %s}\ndetection: {s: {A: '%s'}, condition: s}\n", title, product, value)
	}
	c := load.FromBytes("r.yml", []byte(rule("None", "windows", "%k%")+"---\n"+rule("V", "windows", "%v%")+"---\n"+rule("Both", "windows", "%v%-%w%")+"---\n"+rule("Include", "linux", "x")), observe)
	for _, r := range c.Rules {
		_, o, err := out.Apply(r)
		if err != nil {
			t.Fatal(err)
		}
		uses[r.Title] = o.Uses
	}
	for title, want := range map[string]string{"None": "", "V": "v", "Both": "v w", "Include": "include 1 of pipeline 0"} {
		if got := strings.Join(uses[title], " "); got != want {
			t.Errorf("%s: got %q, want %q", title, got, want)
		}
	}
	for _, tc := range []struct {
		name    string
		v       map[string]pipeline.Value
		changed string
	}{
		{"the same values", values("a", `[ "1" ]`, "b", `["2"]`, "t", `[]`), ""},
		{"null beside them changes nothing", values("a", `["1",null]`, "b", `["2"]`, "t", `[]`), ""},
		{"one variable", values("a", `["3"]`, "b", `["2"]`, "t", `[]`), "v"},
		{"a variable and an include", values("a", `["1"]`, "b", `[]`, "t", `[{"type":"regex"}]`), "include 1 of pipeline 0 w"},
	} {
		now, _ := expand(t, s, tc.v)
		got, ok := now.Changed(out)
		if !ok || strings.Join(got, " ") != tc.changed {
			t.Errorf("%s: got %q, %v, want %q", tc.name, got, ok, tc.changed)
		}
	}
	other, _ := expand(t, set(t, "vars: {v: x}\n"), nil)
	if _, ok := other.Changed(out); ok {
		t.Error("other pipelines are not the same with other values")
	}
}

// A list of a variable is one for all rules that have it.
func TestRulesShareTheValuesOfAVariable(t *testing.T) {
	s, _ := expand(t, set(t, "vars: {v: \"${source.a}\"}\n"+items(`{type: value_placeholders}`)), values("a", `["1","2"]`))
	c := loadWith(t, s, ruleWith(`s: {A: '%v%', B|contains: '%v%'}, condition: s`))
	list := c.Rules[0].Detections[0].Node.Items
	if &list[0].Values[0] != &list[1].Values[0] {
		t.Error("two items have lists of their own")
	}
	if _, err := engine.Compile(c.Rules, engine.Options{}); err != nil {
		t.Error(err)
	}
}

// What equal values made is made once, so that a long list costs nothing when another
// source changes.
func TestWhatEqualValuesMadeIsTakenOver(t *testing.T) {
	s := set(t, "vars: {a: \"${source.a}\", b: \"${source.b}\"}\n")
	v := values("a", `["x",null]`, "b", `["y"]`)
	first, warnings := expand(t, s, v)
	if len(warnings) != 1 {
		t.Errorf("got the warnings %q, want one", warnings)
	}
	v["b"] = pipeline.Value{JSON: []byte(`["z"]`)}
	next, warnings, err := s.Expand(v, pipeline.ExpandOptions{Before: first})
	if err != nil || len(warnings) != 0 {
		t.Fatalf("got %v and the warnings %q, want nothing said again", err, warnings)
	}
	if &next.Pipelines[0].Vars["a"][0] != &first.Pipelines[0].Vars["a"][0] {
		t.Error("the list of a was made again")
	}
	if got := next.Pipelines[0].Vars["b"]; !slices.Equal(got, []string{"z"}) {
		t.Errorf("b is %q", got)
	}
	if changed, ok := next.Changed(first); !ok || !slices.Equal(changed, []string{"b"}) {
		t.Errorf("got %q changed, want b", changed)
	}
}

// An object is read once, however many paths lead into it.
func TestPathsIntoALargeValueReadItOnce(t *testing.T) {
	var value, variables strings.Builder
	value.WriteString(`{"deep":{`)
	for i := range 300 {
		if i > 0 {
			value.WriteString(",")
		}
		fmt.Fprintf(&value, `"k%d":%q`, i, strings.Repeat("x", 4000))
		fmt.Fprintf(&variables, "  v%d: \"${source.o.deep.k%d}\"\n", i, i)
	}
	value.WriteString("}}")
	s := set(t, "vars:\n"+variables.String())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out, _ := expand(t, s, values("o", value.String()))
	runtime.ReadMemStats(&after)
	if n := len(out.Pipelines[0].Vars["v299"]); n != 1 {
		t.Fatalf("v299 has %d elements, want 1", n)
	}
	if took, size := after.TotalAlloc-before.TotalAlloc, uint64(value.Len()); took > 30*size {
		t.Errorf("300 paths into %d bytes allocate %d bytes", size, took)
	}
}
