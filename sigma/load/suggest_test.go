package load

import (
	"fmt"
	"strings"
	"testing"
)

// Whoever misspells a name is told which one was probably meant.
func TestAMisspeltNameIsToldWithTheOneThatWasMeant(t *testing.T) {
	counted := func(block string) string { return login + over("C", "{"+block+"}") }
	const good = "type: event_count, rules: [d-login], timespan: 1m, condition: {gte: 1}"
	for _, tc := range []struct{ name, file, want string }{
		{"a modifier", item(`{F|contians: x}`), "Unknown modifier 'contians' (did you mean 'contains'?)"},
		{"a modifier behind another one", item(`{F|re|igorecase: x}`), "Unknown modifier 'igorecase' (did you mean 'ignorecase'?)"},
		{"a modifier with a capital", item(`{F|StartsWith: x}`), "Unknown modifier 'StartsWith' (did you mean 'startswith'?)"},
		{"a modifier without a field", item(`{'|base64ofset': x}`), "Unknown modifier 'base64ofset' (did you mean 'base64offset'?)"},
		{"a modifier inside an array block", "sigma-version: 3\n" + item(`{'a[any]': {b|endwith: x}}`), "Unknown modifier 'endwith' (did you mean 'endswith'?)"},
		{"a selector of an array", "sigma-version: 3\n" + item(`{'a[nome]': x}`), "unknown array selector '[nome]' in 'a[nome]' (did you mean 'none'?)"},
		{"an attribute", "sluice.supress: 1m\n" + item(`{a: b}`), "unknown attribute 'sluice.supress' (did you mean 'sluice.suppress'?)"},
		{"an attribute among the custom ones", "custom_attributes: {sluice.risk_scor: 3}\n" + item(`{a: b}`), "unknown attribute 'sluice.risk_scor' (did you mean 'sluice.risk_score'?)"},
		{"a level", "level: hihg\n" + item(`{a: b}`), `unknown level "hihg" is ignored (did you mean 'high'?)`},
		{"a level in capitals", "level: HIGH\n" + item(`{a: b}`), `unknown level "HIGH" is ignored (did you mean 'high'?)`},
		{"a status", "status: experimantal\n" + item(`{a: b}`), `unknown status "experimantal" is ignored (did you mean 'experimental'?)`},
		{"an action", "action: repaet\ntitle: T\n", `unknown action "repaet" (global, reset, repeat) (did you mean 'repeat'?)`},
		{"the title", "titel: T\ndetection: {s: {a: b}, condition: s}\n", "Missing required field 'title' (did you mean it by 'titel'?)"},
		{"the detection", "title: T\ndetecion: {s: {a: b}, condition: s}\n", "Missing required field 'detection' (did you mean it by 'detecion'?)"},
		{"the condition", "title: T\ndetection: {s: {a: b}, conditon: s}\n", "Missing required field 'condition' (did you mean it by 'conditon'?)"},
		{"a detection", "title: T\ndetection: {selection: {a: b}, filter: {c: d}, condition: selection and not fliter}\n", "unknown detection identifier: fliter (did you mean 'filter'?)"},
		{"a detection of a filter", "title: F\nfilter: {rules: any, selection: {a: b}, condition: not selecton}\n", "unknown detection identifier: selecton in filter 'F' (did you mean 'selection'?)"},
		{"a member of an array block", "sigma-version: 3\n" + item(`{'a[any]': {first: {b: c}, condition: frist}}`), "unknown detection identifier: frist in an array block (did you mean 'first'?)"},
		{"a pattern of detections", "title: T\ndetection: {selection_1: {a: b}, selection_2: {a: c}, condition: 1 of selecton_*}\n", "'1 of selecton_*' covers no detection (did you mean 'selection_*'?)"},
		{"all detections", "title: T\ndetection: {selection: {a: b}, condition: selection or all of thme}\n", "'all of thme' covers no detection (did you mean 'them'?)"},
		{"the type of a correlation", counted("type: event_cuont, rules: [d-login], timespan: 1m, condition: {gte: 1}"), `unknown type "event_cuont" (did you mean 'event_count'?)`},
		{"a key of a correlation", counted(good + ", groupby: [a]"), "unknown key 'groupby' is ignored (did you mean 'group-by'?)"},
		{"a key of its condition", counted("type: value_count, rules: [d-login], timespan: 1m, condition: {gte: 1, field: a, feild: b}"), "unknown key 'feild' of condition is ignored (did you mean 'field'?)"},
		{"the kind of its window", counted(good + ", window: sldiing"), `unknown window "sldiing" (sliding, tumbling, session) (did you mean 'sliding'?)`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := FromBytes("f.yml", []byte(tc.file), Options{})
			told := reasons(c)
			for _, w := range c.Warnings {
				told = append(told, w.Reason)
			}
			for _, reason := range told {
				if strings.Contains(reason, tc.want) {
					return
				}
			}
			t.Errorf("got %q, want %q", told, tc.want)
		})
	}
}

func TestANameThatIsLikeNoOtherGetsNoSuggestion(t *testing.T) {
	for _, file := range []string{
		item(`{F|foo_bar_baz: x}`),
		item(`{F|` + strings.Repeat("contains", 20) + `: x}`),
		"title: T\ndetection: {selection: {a: b}, condition: selection and unrelated}\n",
		"status: odd one\nsluice.nothing_alike: 1\nlevel: urgent\n" + item(`{a: b}`),
		"name: N\ndetection: {s: {a: b}, condition: s}\n",
	} {
		c := FromBytes("f.yml", []byte(file), Options{})
		for _, w := range append(c.Problems(), c.Warnings...) {
			if strings.Contains(w.Reason, "did you mean") {
				t.Errorf("%q: got %q", file, w.Reason)
			}
		}
	}
}

// A document of nothing but misspelt names costs no more than one of unknown ones.
func TestOnlyWhatIsToldGetsASuggestion(t *testing.T) {
	var detections, names []string
	for i := range 5000 {
		detections, names = append(detections, fmt.Sprintf("sel_%04d: {a: %d}", i, i)), append(names, fmt.Sprintf("sle_%04d", i))
	}
	c := FromBytes("f.yml", []byte("title: T\ndetection: {"+strings.Join(detections, ", ")+", condition: "+strings.Join(names, " or ")+"}\n"), Options{})
	problems := c.Problems()
	if len(problems) != 101 || !strings.HasSuffix(problems[99].Reason, "(did you mean 'sel_0099'?)") {
		t.Errorf("got %d problems, the last told is %q", len(problems), problems[min(99, len(problems)-1)].Reason)
	}
}
