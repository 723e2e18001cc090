package reference_test

import "strings"

// inside nests a string in n arrays below the root object.
func inside(n int) string {
	return `{"x":` + strings.Repeat("[", n) + `"deep"` + strings.Repeat("]", n) + "}"
}

func eventCases() []situation {
	return []situation{
		{
			Name: "a flat key beats the nested path, which walks arrays", Rules: rule(`{a.b: x}`),
			Events: both(yes(`{"a":[{"b":"y"},{"b":"x"}]}`, `{"a":{"b":"x"}}`, `{"a.b":"x"}`), no(`{"a.b":"y","a":{"b":"x"}}`, `{"a":{"b.c":"x"}}`, `{"a.b":[],"a":{"b":"x"}}`)),
		},
		{
			Name: "a path does not look for flat keys below the root", Rules: rule(`{a.b.c: 1}`),
			Events: both(yes(`{"a":{"b":{"c":1}}}`, `{"a.b.c":1}`), no(`{"a":{"b.c":1}}`, `{"a.b":{"c":1}}`)),
		},
		{
			Name: "empty segments look up the empty key", Rules: rule(`{a..b: x}`),
			Events: both(yes(`{"a":{"":{"b":"x"}}}`), no(`{"a":{"b":"x"}}`)),
		},
		{
			Name: "several values of a path come as an array", Rules: rule(`{a.b|exists: true}`),
			Events: with(yes(`{"a":[{"b":"y"},{"c":1},{"b":[2]}]}`), ``, `[{"field":"a.b","value":["y",[2]]}]`),
		},
		{
			Name: "keywords are found anywhere in strings", Rules: rule(`[foo, 'b?r*z']`),
			Events: both(yes(`{"m":"xx FOO"}`, `{"m":{"n":["say barqz now"]}}`), no(`{"foo":1}`, `{}`)),
		},
		{
			Name: "all keywords, each in any string", Rules: rule(`{'|all': [aa, bb]}`),
			Events: both(yes(`{"m":"aa","n":"bb"}`), no(`{"m":"aa"}`)),
		},
		{Name: "keywords reach into 63 containers", Rules: rule(`[deep]`), Events: both(yes(inside(62)), no(inside(63)))},
		{
			Name: "a list of mappings is an or of ands", Rules: rule(`[{A: 1}, {B: 2, C: 3}]`),
			Events: both(yes(`{"A":1}`, `{"B":2,"C":3}`), no(`{"B":2}`)),
		},
		{
			Name: "numeric keywords are searched by their text in strings only", Rules: rule(`[4104]`),
			Events: both(yes(`{"m":"event 4104 seen"}`), no(`{"m":4104}`)),
		},
		{
			Name: "keywords under neq want that no string matches", Rules: rule(`{'|neq': [foo]}`),
			Events: both(yes(`{"m":"bar"}`), no(`{"m":"afoo"}`, `{"m":1}`)),
		},
		{
			Name: "a keyword regular expression is applied to each string", Rules: rule(`{'|re': '^x.z$'}`),
			Events: both(yes(`{"a":1,"m":"xyz"}`), no(`{"m":"axyz"}`)),
		},
		{
			Name: "every value of a repeated key counts", Rules: rule(`{F: x}`),
			Events: with(yes(`{"F":"x","F":"a"}`), ``, `[{"field":"F","value":["x","a"]}]`),
		},
		{Name: "the second value counts, too", Rules: rule(`{F: a}`), Events: yes(`{"F":"x","F":"a"}`)},
		{Name: "all may meet different values", Rules: rule(`{F|contains|all: [x, a]}`), Events: yes(`{"F":"x","F":"a"}`)},
		{Name: "neq sees both", Rules: rule(`{F|neq: a}`), Events: no(`{"F":"x","F":"a"}`)},
		{Name: "nothing else is seen", Rules: rule(`{F: b}`), Events: no(`{"F":"x","F":"a"}`)},
		{
			Name: "the event keeps both keys", Rules: rule(`{F: x}`), IncludeEvent: true,
			Events: []caseEvent{{
				Line: `{"F":"x","F":"a"}`, Fires: []string{"T"},
				Result: `{"rule_title":"T","rule_id":null,"level":null,"tags":[],"matched_selections":["sel"],"matched_fields":[{"field":"F","value":["x","a"]}],"event":{"F":"x","F":"a"}}`,
			}},
		},
		{
			Name: "an array is one event whose elements are looked into", Rules: rule(`{a: 2}`),
			Events: with(yes(`[{"a":1},{"a":2}]`), ``, `[{"field":"a","value":[1,2]}]`),
		},
		{Name: "and nothing that is not there", Rules: rule(`{a: 3}`), Events: no(`[{"a":1},{"a":2}]`)},
		{Name: "a scalar has no fields", Rules: rule(`{a|exists: true}`), Events: no(`7`)},
		{Name: "a scalar string still has keyword text", Rules: rule(`[foo]`), Events: both(yes(`"a foo"`), no(`7`))},
		{
			Name: "escapes in keys and values are decoded before they are compared", Rules: rule(`{Path: 'C:\Windows'}`),
			Events: with(yes(`{"P\u0061th":"C:\u005cWind\u006fws"}`, `{"Path":"c:\u005Cwindows"}`)[:1], ``, `[{"field":"Path","value":"C:\u005cWind\u006fws"}]`),
		},
		{
			Name: "a rule that only negates matches an event without its fields", Rules: "title: T\ndetection:\n  sel: {A: x}\n  condition: not sel\n",
			Events: both(with(yes(`{}`, `{"A":"y"}`), `[]`, `[]`), no(`{"A":"x"}`)),
		},
	}
}

func conditionCases() []situation {
	abc := func(name, condition string, events []caseEvent) situation {
		return situation{Name: name, Rules: conditionOver(condition), Events: events}
	}
	named := func(detections, condition string) string {
		return "title: T\ndetection:\n" + detections + "  condition: " + condition + "\n"
	}
	return []situation{
		abc("and binds tighter than or, not tightest", "a or not b and c",
			both(no(`{"b":1,"c":1}`), yes(`{"c":1}`, `{"a":1,"b":1}`))),
		{
			Name: "them leaves names with an underscore out", Rules: named("  a: {a|exists: true}\n  b: {b|exists: true}\n  _c: {c|exists: true}\n", "2 of them"),
			Events: both(no(`{"a":1,"c":1}`), yes(`{"a":1,"b":1}`)),
		},
		{
			Name: "a pattern may cover names with an underscore", Rules: named("  a: {a|exists: true}\n  _c: {c|exists: true}\n", "1 of _*"),
			Events: both(with(yes(`{"c":1}`), `["_c"]`, ``), no(`{"a":1}`)),
		},
		{
			Name: "a pattern may have several stars", Rules: named("  s_1: {a|exists: true}\n  s_1_x: {c|exists: true}\n", "1 of s_*_x"),
			Events: both(yes(`{"c":1}`), no(`{"a":1}`)),
		},
		{Name: "all of nothing holds on every event", Rules: named("  a: {a|exists: true}\n", "all of zz_*"), Events: with(yes(`{}`, `{"a":1}`), `[]`, `[]`)},
		{Name: "one of nothing holds on none", Rules: named("  a: {a|exists: true}\n", "1 of zz_* or a"), Events: both(yes(`{"a":1}`), no(`{}`))},
		{
			Name: "of a list of conditions the first that holds counts", Rules: "title: T\ndetection: {s1: {A: 1}, s2: {B: 2}, condition: [s2, s1]}\n",
			Events: both(with(yes(`{"A":1,"B":2}`), `["s2"]`, `[{"field":"B","value":2}]`), with(yes(`{"A":1,"B":3}`), `["s1"]`, ``)),
		},
		abc("a failed branch is not reported", "(a and b) or c", with(yes(`{"a":1,"c":1}`), `["c"]`, `[{"field":"c","value":1}]`)),
		{
			Name: "nothing below not is reported", Rules: named("  sel: {s: 1}\n  f1: {f1: 1}\n  f2: {f2: 1}\n", "sel and not (f1 and f2)"),
			Events: with(yes(`{"s":1,"f1":1}`), `["sel"]`, `[{"field":"s","value":1}]`),
		},
		{
			Name: "a quantifier reports in written order", Rules: named("  f_2: {b: 1}\n  sel: {s: 1}\n  f_1: {a: 1}\n", "sel and 1 of f_*"),
			Events: with(yes(`{"s":1,"a":1,"b":1}`), `["sel","f_2","f_1"]`, `[{"field":"s","value":1},{"field":"b","value":1},{"field":"a","value":1}]`),
		},
		abc("a selection is named once", "a and (b or a) and 2 of them", with(yes(`{"a":1,"b":1,"c":1}`), `["a","b","c"]`, ``)),
		{Name: "a filter excludes and leaves no trace", Rules: filtered(""), Events: both(with(yes(`{"C":"whoami","U":"bob"}`), `["sel"]`, ``),
			no(`{"C":"whoami","U":"system"}`, `{"C":"whoami","H":"lab"}`))},
		{
			Name: "a filter for another logsource is not applied", Rules: filtered("logsource: {category: process_creation}\n"),
			Events: yes(`{"C":"whoami","U":"bob"}`, `{"C":"whoami","U":"system"}`),
		},
		{
			Name: "repeat adds a predicate to the same detection", Rules: "title: A\ndetection:\n  sel: {C|contains: y}\n  condition: sel\n---\naction: repeat\ntitle: B\ndetection: {sel: {C|endswith: x}}\n",
			Events: []caseEvent{{Line: `{"C":"yx"}`, Fires: []string{"A", "B"}}, {Line: `{"C":"xy"}`, Fires: []string{"A"}}, {Line: `{"C":"x"}`}},
		},
	}
}

func filtered(logsource string) string {
	return "title: T\nid: r1\ndetection:\n  sel: {C|contains: whoami}\n  condition: sel\n---\ntitle: F\n" + logsource +
		"filter:\n  rules: [r1]\n  selection_a: {U: SYSTEM}\n  selection_b: {H: lab}\n  condition: not 1 of selection_*\n"
}
