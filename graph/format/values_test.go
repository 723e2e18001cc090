package format

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/event"
)

// The events of lines of JSON. A line that decodes to no event at all is not broken.
func TestLinesOfSeveralValues(t *testing.T) {
	set, err := engine.Compile(nil, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := set.NewWorker()
	const refused, suspect = "refused", "suspect" // the other ways to end
	text := func(line string) string { return fmt.Sprintf(`{"_raw":%q}`, line) }
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, tc := range []struct {
		name string
		line string
		json string // events, or refused
		auto string // events, with suspect in front of them; "" for the same as json
	}{
		{"an object", `{"user":"ana","n":3}`, `{"user":"ana","n":3}`, ""},
		{"a broken object", `{"user":"ana"`, refused, suspect + text(`{"user":"ana"`)},
		{"two objects", `{"a":1} {"b":2}`, `{"a":1}|{"b":2}`, ""},
		{"two objects that touch", `{"a":1}{"b":2}`, `{"a":1}|{"b":2}`, ""},
		{"text behind an object", `{"a":1} x`, refused, suspect + text(`{"a":1} x`)},
		{"an array stands for its elements", `[{"a":1},{"b":2}]`, `{"a":1}|{"b":2}`, ""},
		{"one level deep", `{"a":1}{"b":2}[{"c":3},[{"d":4}],7]`, `{"a":1}|{"b":2}|{"c":3}|[{"d":4}]|7`, ""},
		{"an empty array is no event", `[]`, ``, ""},
		{"an array of an empty array is one", `[[]]`, `[]`, ""},
		{"several empty arrays", ` [ ] [] `, ``, ""},
		{"a broken element spoils the line", `[{"a":1},{"b":]`, refused, suspect + text(`[{"a":1},{"b":]`)},
		{"a broken second value spoils the first", `{"a":1}{"b":`, refused, suspect + text(`{"a":1}{"b":`)},
		{"text in brackets", `[INFO] started`, refused, suspect + text(`[INFO] started`)},
		{"a scalar behind an array", `[1] 2`, `1|2`, suspect + text(`[1] 2`)},
		{"a scalar", `7`, `7`, text(`7`)},
		{"scalars", `7 "x" true`, `7|"x"|true`, text(`7 "x" true`)},
		{"scalars in an array", `[7,"x",null]`, `7|"x"|null`, ""},
		{"scalars that touch", `1-2`, refused, text(`1-2`)},
		{"literals that touch", `truefalse`, refused, text(`truefalse`)},
		{"a scalar that touches a bracket", `1{"a":2}"x"3`, `1|{"a":2}|"x"|3`, text(`1{"a":2}"x"3`)},
		{"a comma between values", `{"a":1},{"b":2}`, refused, suspect + text(`{"a":1},{"b":2}`)},
		{"a comma at the end of an array", `[{"a":1},]`, refused, suspect + text(`[{"a":1},]`)},
		{"white space around", "\t {\"a\": 1 }  [ {\"b\" :2} ] ", `{"a":1}|{"b":2}`, ""},
		{"128 arrays", deep(128), deep(127), ""},
		{"129 arrays", deep(129), refused, suspect + text(deep(129))},
		{"repeated keys stay", `[{"a":1,"a":2}]`, `{"a":1,"a":2}`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, f := range []Format{JSON, Auto} {
				want := tc.json
				if f == Auto && tc.auto != "" {
					want = tc.auto
				}
				ev := new(engine.Events)
				doubt, err := (&Decoder{Format: f}).Decode(w, ev, []byte(tc.line), 0)
				var all []string
				for i := range ev.Len() {
					all = append(all, string(ev.AppendJSON(nil, i)))
				}
				got := strings.Join(all, "|")
				if doubt {
					got = suspect + got
				}
				if err != nil {
					got += refused
				}
				if got != want {
					t.Errorf("%s: got %s, want %s", f, got, want)
				}
			}
		})
	}
}

// Each event of a line is judged by its own value alone: neither do two make up a match
// nor does one excuse another.
func TestEventsOfALineDoNotSeeEachOther(t *testing.T) {
	set, err := engine.Compile(nil, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ev := new(engine.Events)
	if err := set.NewWorker().DecodeValues(ev, []byte(` {"a":{"b":1}} [ {"c":"x"}, {"a":2} ]`), true); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		event int
		field string
		want  []string
	}{
		{0, "a.b", []string{"1"}}, {0, "c", nil}, {1, "c", []string{`"x"`}}, {1, "a", nil}, {2, "a", []string{"2"}}, {2, "a.b", nil},
	} {
		var got []string
		for _, v := range ev.Resolve(nil, tc.event, tc.field, 2) {
			got = append(got, string(v.Raw))
		}
		if !slices.Equal(got, tc.want) || ev.Kind(tc.event) != event.JSON {
			t.Errorf("field %s of event %d: %q, want %q", tc.field, tc.event, got, tc.want)
		}
	}
}

func TestFindFault(t *testing.T) {
	for _, tc := range []struct {
		name       string
		line       string
		containers bool
		want       Fault
	}{
		{"an object that ends too early", `{"user":"ana"`, true, Fault{13, unfinished}},
		{"a string that ends too early", `{"user":"an`, true, Fault{11, unfinished}},
		{"nothing at all", ` `, true, Fault{1, unfinished}},
		{"text behind an object", `{"a":1} x`, true, Fault{8, notAContainer}},
		{"text behind a value", `{"a":1} x`, false, Fault{8, notAValue}},
		{"a comma behind a value", `{"a":1},{"b":2}`, false, Fault{7, notAValue}},
		{"a value that is missing", `[{"a":1},{"b":]`, true, Fault{14, notAValue}},
		{"text in brackets", `[INFO] started`, true, Fault{1, notAValue}},
		{"a scalar behind an array", `[1] 2`, true, Fault{4, notAContainer}},
		{"a key without quotes", `{a:1}`, true, Fault{1, noKey}},
		{"a comma before the end of an object", `{"a":1,}`, true, Fault{7, noKey}},
		{"a key without a colon", `{"a" 1}`, true, Fault{5, noColon}},
		{"an object without a comma", `{"a":1 "b":2}`, true, Fault{7, noComma}},
		{"the wrong bracket", `{"a":[1}`, true, Fault{7, noComma}},
		{"a number with a zero in front", `[01]`, true, Fault{2, noComma}},
		{"an escape that is none", `{"a":"C:\Windows"}`, true, Fault{8, badEscape}},
		{"a tab in a string", "{\"a\":\"\t\"}", true, Fault{6, control}},
		{"numbers that touch", `1-2`, false, Fault{1, notSeparate}},
		{"a Python dictionary", `{'a': 1}`, true, Fault{1, noKey}},
		{"too many brackets", strings.Repeat("[", 200), true, Fault{128, tooDeep}},
		{"an array is no bound for its elements", `[[[1],{"a":[2]}],3] {}`, true, Fault{}},
	} {
		got, ok := FindFault([]byte(tc.line), tc.containers)
		if got != tc.want || ok != (tc.want != Fault{}) {
			t.Errorf("%s: got %+v (%t), want %+v", tc.name, got, ok, tc.want)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	set, err := engine.Compile(nil, engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	object := `{"EventID":1,"Image":"C:\\Windows\\System32\\cmd.exe","CommandLine":"` + strings.Repeat("x", 200) + `"}`
	for _, tc := range []struct {
		name string
		line string
	}{
		{"a value", object},
		{"an array of fifty", "[" + strings.Repeat(object+",", 49) + object + "]"},
	} {
		b.Run(tc.name, func(b *testing.B) {
			w, ev, line := set.NewWorker(), new(engine.Events), []byte(tc.line)
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				ev.Reset()
				if _, err := (&Decoder{}).Decode(w, ev, line, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
