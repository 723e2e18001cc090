package jq

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/itchyny/gojq"

	"github.com/sluicehq/sluice/graph/extract/tree"
)

// A function that a new version of the library has is put to use with its guard, or
// refused, by somebody's decision.
func TestEveryFunctionOfTheLibraryIsDecidedAbout(t *testing.T) {
	library, err := gojq.Parse(functions + " .")
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	for _, def := range library.FuncDefs {
		known[key(def.Name, len(def.Args))] = true
	}
	q, err := gojq.Parse("builtins[]")
	if err != nil {
		t.Fatal(err)
	}
	for out := q.Run(nil); ; {
		v, ok := out.Next()
		if !ok {
			return
		}
		name := v.(string)
		plain, _, _ := strings.Cut(name, "/")
		_, guarded := guards[name]
		_, refused := missing[plain]
		switch {
		case known[name] && guarded && plain != "not":
			t.Errorf("%s is a function of the library and one in jq", name)
		case !known[name] && !guarded && !refused:
			t.Errorf("%s is neither guarded nor refused", name)
		}
	}
}

// programs are for the comparison with other interpreters of jq.
var programs = []struct{ program, value string }{
	{`.`, `{"a":[1,2,{"b":null}],"c":"x"}`},
	{`.a[1:], .a[:-1], .a[-1], .c[1:2], .a[5]?`, `{"a":[1,2,3],"c":"héllo"}`},
	{`.[] as [$a, {b: $c}] | [$a, $c]`, `[[1,{"b":2}],[3,{"b":4}]]`},
	{`.[] as {a: $x} ?// [$x] | $x`, `[{"a":1},[2]]`},
	{`to_entries, (with_entries(.value |= tostring)), (. | keys), (map_values(. + 1))`, `{"b":1,"a":2}`},
	{`[.[] | select(.a > 1 and (.b | not) or .c == "x")]`, `[{"a":2},{"a":2,"b":true},{"a":0,"c":"x"}]`},
	{`(.a, .b) = 1 | .c += 1 | .d //= 5 | .e *= 2 | .f /= 2 | .g -= 1 | .h %= 3`, `{"c":1,"e":2,"f":4,"g":1,"h":5}`},
	{`.a += (1, 2)`, `{"a":1}`},
	{`.a[1:3] = ["x"], (.a[0] |= empty), del(.a[0, 2]), delpaths([["a", 1]]), to_entries`, `{"a":[1,2,3]}`},
	{`paths, (tostream | tojson), getpath(["a", 0]), (path(..) | tojson), [leaf_paths?]`, `{"a":[1,{"b":2}]}`},
	{`[.[] | tostring, tojson, type, length]`, `[null,true,12,"é","a\nb",[1],{"a":1}]`},
	{`sort, sort_by(-.), group_by(. > 1), unique, min, max, add, reverse, any, all, (map(. % 2) | index(1))`, `[3,1,2,3]`},
	{`[limit(3; range(10))], first(range(5; 7)), [range(0; 10; 3)], isempty(empty), [.[] | tojson | fromjson], until(. > 100; . * 2)?`, `[1]`},
	{`reduce .[] as $x (0; . + $x), [foreach .[] as $x (0; . + $x; [$x, .])], ([.[] | if . > 1 then "b" elif . == 1 then "c" else "d" end] | join("-"))`, `[0,1,2]`},
	{`[match("a(b)?"; "g") | .offset, .captures[0].string], test("B"), test("B"; "i"), sub("a(?<x>.)"; "<\(.x)>"), gsub("[ab]"; "."), [scan("ab?")], split("b"), split("b+"; null), ascii_downcase, ltrimstr("x"), (explode | implode)`, `"xabacABb"`},
	{`@base64, @uri, @html, @json, @text, (@base64 | @base64d), ([., 1] | @csv, @tsv, @sh)`, `"<a&'\" é>"`},
	{`try error("x") catch ., (try error({a: 1}) catch .a), ([.[]?]), (.a? // "none"), (label $f | 1, break $f, 2)`, `7`},
	{`def f(x): x * 2; def g: f(. + 1) | f(.); g, ([recurse(if . < 3 then . + 1 else empty end)]), ("a" * 3), ("a,b" / ","), ([1, 2, 3] - [2]), ({a: {b: 1}} * {a: {c: 2}})`, `1`},
	{`{a, "b": .c, ("x" + .a): 1, "i\(.c)": 3}`, `{"a":"q","c":2}`},
	{`walk(if type == "array" then sort else . end), (.. |= (numbers |= . + 1)?), flatten, (flatten(1))`, `[[3,[2,1]],1]`},
	{`[.[] | floor, sqrt, (. | round), pow(.; 2)], ([1, [2]] | contains([1])), inside([1, 4, 9, 16]), (map(tostring) | implode?), transpose?, combinations?`, `[1,4,9]`},
	{`input_line_number?`, `1`},
	{`todate, (todate | fromdate), strftime("%Y %j"), (gmtime | mktime)`, `1425599621`},
	{`INDEX(.id), (. as $d | [IN($d[]; {"id":1})]), ascii?, (map(.id) | IN([1, 2])), splits("x")?, (env | type), ($ENV | length), getpath(["x"])?`, `[{"id":1},{"id":2}]`},
	{`1 / 0, 5`, `null`},
	{`[.[] | (. / 2, 1 / .)?], .[0] - "a"`, `[0, 2]`},
	{`"\(1 + 2) is \("x" * 2)", "é" * 0, (. * 0)?, -., (-(.)), +.?, .[1.7]?`, `3`},
	{`[splits(", *")], ascii_upcase, utf8bytelength, (tonumber? // "no"), ltrimstr("a"), rtrimstr("d"), startswith("a"), endswith("d"), (index(","), rindex(","), indices(", "))`, `"a, b,c, d"`},
	{`limit(0; 1), (try limit(-1; 1) catch "neg"), nth(1; .[]), (.[2:] = [9]), (to_entries | from_entries?), bsearch(2), bsearch(5), (tojson | fromjson), (first, last), (getpath([0]) |= 5)`, `[1,2,3]`},
}

// run are the outputs of code, one a line, and how it ended.
func run(t *testing.T, out gojq.Iter) string {
	t.Helper()
	var text strings.Builder
	for {
		v, ok := out.Next()
		if !ok {
			return text.String()
		}
		if err, failed := v.(error); failed {
			fmt.Fprintf(&text, "! %v\n", err)
			return text.String()
		}
		line, err := tree.Append(nil, v, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "%s\n", line)
	}
}

// Guards change nothing: a program has the outputs and the error that the library's own
// interpreter has for it.
func TestGuardsDoNotShow(t *testing.T) {
	for _, tc := range programs {
		if strings.Contains(tc.program, "input_line_number") {
			continue
		}
		program := strings.ReplaceAll(tc.program, ", [leaf_paths?]", "")
		program = strings.ReplaceAll(program, "ascii?, ", "")
		v, err := tree.Parse([]byte(tc.value))
		if err != nil {
			t.Fatal(err)
		}
		q, err := gojq.Parse(program)
		if err != nil {
			t.Fatalf("%s: %v", program, err)
		}
		code, err := gojq.Compile(q)
		if err != nil {
			t.Fatalf("%s: %v", program, err)
		}
		want := run(t, code.Run(v))
		p, err := Compile(program)
		if err != nil {
			t.Errorf("%s: %v", program, err)
			continue
		}
		r, err := p.NewRun()
		if err != nil {
			t.Fatal(err)
		}
		r.Begin(len(tc.value))
		v, err = tree.Parse([]byte(tc.value))
		if err != nil {
			t.Fatal(err)
		}
		if got := run(t, r.code.RunWithContext(r.account, v)); got != want {
			t.Errorf("%s of %s\ngot\n%s\nwant\n%s", program, tc.value, got, want)
		}
	}
}

// The program jq gives what programs give here, but for what it does not have or does in
// its own way.
func TestProgramsAsTheProgramJQ(t *testing.T) {
	command, err := exec.LookPath("jq")
	if err != nil {
		if os.Getenv("SLUICE_TOOLS") == "required" {
			t.Fatal(err)
		}
		t.Skipf("there is no program jq to compare with: %v", err)
	}
	for _, tc := range []struct{ program, value string }{
		{`.records[]`, `{"records":[{"a":1},{"b":[null,true,"x"]}]}`},
		{`.event`, `{"x":1}`},
		{`.[] | select(.EventID == 4625) | {id: .EventID, user: .User.Name}`, `[{"EventID":4625,"User":{"Name":"ana"}},{"EventID":1}]`},
		{`with_entries(.value += 1), keys, map_values(. * 2)`, `{"b":1,"a":2}`},
		{`(.a, .b) = 1 | .c += 1 | .d //= 5 | del(.e) | .f[1] = 2`, `{"c":1,"e":2}`},
		{`.a[1:], .a[:-1], .a[-1], .c[1:2]`, `{"a":[1,2,3],"c":"héllo"}`},
		{`[paths], [tostream], [..], (path(..))`, `{"a":[1,{"b":2}]}`},
		{`sort, group_by(. > 1), unique, min, max, add, any, all, reverse`, `[3,1,2,3]`},
		{`reduce .[] as $x (0; . + $x), [foreach .[] as $x (0; . + $x)], [limit(2; .[])], first(.[]), [range(0; 10; 3)]`, `[1,2,3]`},
		{`[match("a(b)?"; "g") | .offset], test("B"; "i"), sub("a(?<x>.)"; "<\(.x)>"), [scan("ab?")], split("b"), ascii_downcase`, `"xabacABb"`},
		{`@base64, @uri, @json, ([., 1] | @csv, @tsv)`, `"a&b \"é\""`},
		{`try error("x") catch ., [.[]?], (.a? // "none"), (label $f | 1, break $f, 2)`, `7`},
		{`def f(x): x * 2; f(. + 1), ("a,b" / ","), ([1, 2, 3] - [2]), ({a: {b: 1}} * {a: {c: 2}}), [recurse(if . < 3 then . + 1 else empty end)]`, `1`},
		{`{a, "b": .c, ("x" + .a): 1, "i\(.c)": 3}`, `{"a":"q","c":2}`},
		{`walk(if type == "array" then sort else . end), flatten, (map(length?))`, `[[3,[2,1]],[]]`},
		{`todate, (todate | fromdate)`, `1425599621`},
		{`.[] as [$a, {b: $c}] | [$a, $c]`, `[[1,{"b":2}],[3,{"b":4}]]`},
		{`., (.a | keys)`, `{"a":{"x":1,"x":2},"a":{"y":1,"y":3}}`},
		{`.[] | 1 / .`, `[1,2,0,4]`},
	} {
		cmd := exec.Command(command, "-c", "-S", tc.program)
		cmd.Stdin = strings.NewReader(tc.value)
		out, err := cmd.Output()
		want := string(out)
		p, compileErr := Compile(tc.program)
		if compileErr != nil {
			t.Fatal(compileErr)
		}
		r, runErr := p.NewRun()
		if runErr != nil {
			t.Fatal(runErr)
		}
		v, parseErr := tree.Parse([]byte(tc.value))
		if parseErr != nil {
			t.Fatal(parseErr)
		}
		r.Begin(len(tc.value))
		got := run(t, r.code.RunWithContext(r.account, v))
		got, failure, failed := strings.Cut("\n"+got, "\n! ")
		got = strings.TrimPrefix(got, "\n")
		if failed {
			got += "\n"
		}
		if got != want || failed != (err != nil) {
			t.Errorf("%s of %s\ngot %q, error %q\nwant %q, %v", tc.program, tc.value, got, failure, want, err)
		}
	}
}

// No program and no value bring the process down, and all of them end.
func FuzzPrograms(f *testing.F) {
	for _, tc := range programs {
		f.Add(tc.program, []byte(tc.value))
	}
	for _, program := range []string{`def f: f; f`, `"a" * 1e9`, `[range(1e9)]`, `reduce range(60) as $i (1; [., .]) | tojson`, `.[1000000] = 1`, `[match(".";"g")]`, `repeat(.)`, `@sh`, `limit(3; repeat(.))`, `.. |= .`, `getpath([paths])?`, `splits(".")`, `combinations(3)`} {
		f.Add(program, []byte(`"a'b"`))
	}
	f.Fuzz(func(t *testing.T, program string, text []byte) {
		v, err := tree.Parse(text)
		if err != nil || len(text) > 1000 || len(program) > 1000 {
			return
		}
		p, err := Compile(program)
		if err != nil {
			return
		}
		r, err := p.NewRun()
		if err != nil {
			t.Fatalf("%s was understood and then not: %v", program, err)
		}
		r.Begin(len(text))
		n := 0
		if err := r.Over(v, func(v any) bool {
			_, _ = tree.Append(nil, v, 1<<16)
			n++
			return n < 1000
		}); err != nil && len(err.Error()) == 0 {
			t.Error("an error without text")
		}
	})
}
