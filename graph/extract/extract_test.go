package extract_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph/extract"
)

const limit = 64 << 20

// run runs a program and returns what it brings: "none" without data, "! " and the error.
func run(t *testing.T, l extract.Language, program, value string) string {
	t.Helper()
	p, err := extract.Compile(l, program)
	if err != nil {
		t.Fatalf("%s %s: %v", l, program, err)
	}
	out, ok, err := p.Run(context.Background(), []byte(value), limit)
	switch {
	case err != nil:
		return "! " + err.Error()
	case !ok:
		if out != nil {
			t.Errorf("%s: %s beside no data", program, out)
		}
		return "none"
	}
	if !json.Valid(out) {
		t.Errorf("%s brings %s, which is not JSON", program, out)
	}
	return string(out)
}

// The same questions in the three languages have the same answers.
func TestEveryLanguageGivesTheSame(t *testing.T) {
	const feed = `{"i":[{"ip":"x","s":9},{"ip":"y","s":2}]}`
	const mixed = `{"s":"é\n\"","t":true,"f":false,"n":null,"e":[],"o":{},"i":9223372036854775807,"u":18446744073709551615,"m":-9223372036854775808,"d":1.5,"l":[1,null,"b"]}`
	for _, tc := range []struct {
		name, value        string
		jq, jsonpath, cel  string // programs; empty: the language has none
		want               string
		jsonpathWant, cels string // where they differ
	}{
		{name: "members of the elements of a list", value: feed, jq: ".i[].ip", jsonpath: "$.i[*].ip", cel: "data.i.map(e, e.ip)", want: `["x","y"]`},
		{name: "one member of one element", value: feed, jq: ".i[0].ip", jsonpath: "$.i[0].ip", cel: "data.i[0].ip", want: `"x"`},
		{name: "elements by a condition", value: feed, jq: "[.i[] | select(.s > 7) | .ip]", jsonpath: "$.i[?@.s > 7].ip", cel: "data.i.filter(e, e.s > 7).map(e, e.ip)", want: `["x"]`, jsonpathWant: `"x"`},
		{name: "several by a condition", value: feed, jq: ".i[] | select(.s > 1) | .ip", jsonpath: "$.i[?@.s > 1].ip", cel: "data.i.filter(e, e.s > 1).map(e, e.ip)", want: `["x","y"]`},
		{name: "none by a condition", value: feed, jq: ".i[] | select(.s > 50)", jsonpath: "$.i[?@.s > 50]", cel: "data.i.exists(e, e.s > 50) ? data.i : null", want: "none"},
		{name: "an empty list is data", value: feed, jq: "[.i[] | select(.s > 50)]", jsonpath: "", cel: "data.i.filter(e, e.s > 50)", want: "[]"},
		{name: "the value itself", value: ` {"a" : [ 1 ] } `, jq: ".", jsonpath: "$", cel: "data", want: `{"a":[1]}`},
		{name: "a member that is not there", value: feed, jq: ".missing", jsonpath: "$.missing", cel: "has(data.missing) ? data.missing : null", want: "none"},
		{name: "null", value: mixed, jq: ".n", jsonpath: "$.n", cel: "data.n", want: "none"},
		{name: "null as the value", value: "null", jq: ".", jsonpath: "$", cel: "data", want: "none"},
		{name: "null beside others is data", value: mixed, jq: ".l[]", jsonpath: "$.l[*]", cel: "data.l.map(e, e)", want: `[1,null,"b"]`},
		{name: "several nulls are data", value: `[null,null]`, jq: ".[]", jsonpath: "$[*]", cel: "data.map(e, e)", want: "[null,null]"},
		{name: "false", value: mixed, jq: ".f", jsonpath: "$.f", cel: "data.f", want: "false"},
		{name: "an empty object", value: mixed, jq: ".o", jsonpath: "$.o", cel: "data.o", want: "{}"},
		{name: "an empty array", value: mixed, jq: ".e", jsonpath: "$.e", cel: "data.e", want: "[]"},
		{name: "text", value: mixed, jq: ".s", jsonpath: "$.s", cel: "data.s", want: `"é\n\""`},
		{name: "the largest int", value: mixed, jq: ".i", jsonpath: "$.i", cel: "data.i", want: "9223372036854775807"},
		{name: "the largest uint", value: mixed, jq: ".u", jsonpath: "$.u", cel: "data.u", want: "18446744073709551615"},
		{name: "the smallest int", value: mixed, jq: ".m", jsonpath: "$.m", cel: "data.m", want: "-9223372036854775808"},
		{name: "a number with a fraction", value: mixed, jq: ".d", jsonpath: "$.d", cel: "data.d", want: "1.5"},
		{name: "the last of members with one key", value: `{"a":{"b":1,"b":2},"a":{"b":3,"b":4}}`, jq: ".a", jsonpath: "$.a", cel: "data.a", want: `{"b":4}`},
		{name: "a value that is no container", value: `"x"`, jq: ".", jsonpath: "$", cel: "data", want: `"x"`},
		{name: "what is no JSON", value: `{"a":}`, jq: ".", jsonpath: "$", cel: "data", want: "! the value is not JSON or nested deeper than 128"},
		{name: "several values", value: `1 2`, jq: ".", jsonpath: "$", cel: "data", want: "! the value is not JSON or nested deeper than 128"},
		{name: "no value", value: ``, jq: ".", jsonpath: "$", cel: "data", want: "! the value is not JSON or nested deeper than 128"},
		{name: "the deepest value", value: strings.Repeat("[", 128) + strings.Repeat("]", 128), jq: ".", jsonpath: "$", cel: "data", want: strings.Repeat("[", 128) + strings.Repeat("]", 128)},
		{name: "a deeper value", value: strings.Repeat("[", 129) + strings.Repeat("]", 129), jq: ".", jsonpath: "$", cel: "data", want: "! the value is not JSON or nested deeper than 128"},
		{name: "10 MiB of nesting", value: strings.Repeat("[", 5<<20) + strings.Repeat("]", 5<<20), jq: ".", jsonpath: "$..*", cel: "data", want: "! the value is not JSON or nested deeper than 128"},
		{name: "10 MiB of nesting without an end", value: strings.Repeat(`{"a":`, 2<<20), jq: ".", jsonpath: "$..*", cel: "data", want: "! the value is not JSON or nested deeper than 128"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for l, program := range map[extract.Language]string{extract.JQ: tc.jq, extract.JSONPath: tc.jsonpath, extract.CEL: tc.cel} {
				if program == "" {
					continue
				}
				want := tc.want
				if l == extract.JSONPath && tc.jsonpathWant != "" {
					want = tc.jsonpathWant
				}
				if got := run(t, l, program, tc.value); got != want {
					t.Errorf("%s %s\ngot  %.300s\nwant %.300s", l, program, got, want)
				}
			}
		})
	}
}

// Nodes stand in the order of the standard: each before those below it, what is selected
// first comes first.
func TestNodesInTheirOrder(t *testing.T) {
	const v = `{"b":{"x":1,"a":[{"x":2},{"c":{"x":3}}]},"a":{"x":4},"x":5}`
	for _, tc := range []struct{ query, want string }{
		{"$..x", "[5,1,2,3,4]"},
		{"$.*.x", "[1,4]"},
		{`$["a","b"].x`, "[4,1]"},
		{"$.b.a[1,0]", `[{"c":{"x":3}},{"x":2}]`},
		{"$.b.a[::-1]", `[{"c":{"x":3}},{"x":2}]`},
		{"$.b..*", `[1,[{"x":2},{"c":{"x":3}}],{"x":2},{"c":{"x":3}},2,{"x":3},3]`},
	} {
		if got := run(t, extract.JSONPath, tc.query, v); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.query, got, tc.want)
		}
	}
}

func TestWhatIsNoProgram(t *testing.T) {
	for _, tc := range []struct {
		name    string
		l       extract.Language
		program string
		want    string
	}{
		{"halt", extract.JQ, "halt", "the function halt is not available: the process goes on"},
		{"halt in a branch that is not taken", extract.JQ, "if false then halt else . end", "the function halt is not available: the process goes on"},
		{"halt_error", extract.JQ, `"x" | halt_error`, "the function halt_error is not available: the process goes on"},
		{"halt_error with a code", extract.JQ, `halt_error(3)`, "the function halt_error is not available: the process goes on"},
		{"input", extract.JQ, "input", "the function input is not available: there is one value"},
		{"inputs", extract.JQ, "[inputs]", "the function inputs is not available: there is one value"},
		{"env", extract.JQ, "env.HOME", "the function env is not available: there is no environment"},
		{"$ENV", extract.JQ, "$ENV.HOME", "the function $ENV is not available: there is no environment"},
		{"$ENV in a text", extract.JQ, `"\($ENV.HOME)"`, "the function $ENV is not available: there is no environment"},
		{"env in a function that is not called", extract.JQ, `def f: env; 1`, "the function env is not available: there is no environment"},
		{"debug", extract.JQ, "debug", "the function debug is not available: nothing is written"},
		{"debug with a message", extract.JQ, `debug("x")`, "the function debug is not available: nothing is written"},
		{"stderr", extract.JQ, "stderr", "the function stderr is not available: nothing is written"},
		{"import", extract.JQ, `import "a" as a; .`, "there are no modules to import or include"},
		{"include", extract.JQ, `include "a"; .`, "there are no modules to import or include"},
		{"the name of the input", extract.JQ, "input_filename", "the function input_filename is not available: there is one value"},
		{"jq that ends too early", extract.JQ, ".a |", "the program ends too early"},
		{"jq in two lines", extract.JQ, ".a |\n é }", `unexpected "é" in line 2 at character 2`},
		{"JSONPath without a root", extract.JSONPath, "a.b", `unexpected identifier at position 1: a query begins with $, such as $.Records[*]`},
		{"JSONPath that ends too early", extract.JSONPath, "$.a[", "unexpected eof at position 5"},
		{"CEL that does not type-check", extract.CEL, "1 + data.a + true", "found no matching overload for '_+_' applied to '(int, bool)' at character 12"},
		{"CEL with an unknown variable", extract.CEL, "data.a.exists(e, e == event.x)", "undeclared reference to 'event' at character 23"},
		{"CEL with an unknown function", extract.CEL, "now()", "undeclared reference to 'now' at character 4"},
		{"CEL in two lines", extract.CEL, "data.a\n && 'é' + 1", "found no matching overload for '_+_' applied to '(string, int)' in line 2 at character 9"},
		{"CEL that ends too early", extract.CEL, "data.a +", ""},
		{"CEL with a regular expression that is none", extract.CEL, "data.a.matches('(')", ""},
		{"CEL that is nothing", extract.CEL, "", ""},
		{"CEL that is too long", extract.CEL, strings.Repeat(" ", 64<<10) + "1", "the expression is longer than 65536 bytes"},
		{"another language", "xpath", "x", "unknown extract type 'xpath' (expected: jq, jsonpath, cel)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := extract.Compile(tc.l, tc.program)
			if err == nil || p != nil || strings.Contains(err.Error(), "library failed") {
				t.Fatalf("got %v, %v", p, err)
			}
			if tc.want != "" && err.Error() != tc.want {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is not one line", err)
			}
		})
	}
}

func TestErrorsOfPrograms(t *testing.T) {
	for _, tc := range []struct {
		l             extract.Language
		program, want string
	}{
		{extract.JQ, `error("x")`, "! error: x"},
		{extract.JQ, `.a | keys`, "! "},
		{extract.JQ, `1, error`, "! "},
		{extract.JSONPath, `$.a.b.c`, "none"},
		{extract.CEL, `data.b`, "! no such key: b"},
		{extract.CEL, `data.a / 0`, "! division by zero"},
		{extract.CEL, `data.a + 'x'`, "! no such overload"},
		{extract.CEL, `{1: 'a', '1': 'b'}`, `! two keys of a map are spelled "1"`},
		{extract.CEL, `google.protobuf.Any{}`, "! "},
	} {
		if got := run(t, tc.l, tc.program, `{"a":1}`); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: got %s, want %s", tc.program, got, tc.want)
		}
	}
}

func TestTheResultIsLimited(t *testing.T) {
	for _, tc := range []struct {
		name    string
		l       extract.Language
		program string
		value   string
		size    int // of the result
	}{
		{"a text of jq", extract.JQ, ".", `"aaaaaaaa"`, 10},
		{"several outputs of jq", extract.JQ, ".[]", `[1,2,3,4]`, 9},
		{"a node", extract.JSONPath, "$", `"aaaaaaaa"`, 10},
		{"several nodes", extract.JSONPath, "$[*]", `[1,2,3,4]`, 9},
		{"nodes with repeated keys", extract.JSONPath, "$[*]", `[{"a":1,"a":2},3]`, 11},
		{"a text of CEL", extract.CEL, "data", `"aaaaaaaa"`, 10},
		{"bytes of CEL", extract.CEL, "bytes(data)", `"aaa"`, 6},
		{"a list of CEL", extract.CEL, "data.map(e, e)", `[1,2,3,4]`, 9},
		{"a map of CEL", extract.CEL, "{'a': data}", `[1,2,3,4]`, 15},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := extract.Compile(tc.l, tc.program)
			if err != nil {
				t.Fatal(err)
			}
			out, ok, err := p.Run(context.Background(), []byte(tc.value), tc.size)
			if err != nil || !ok || len(out) != tc.size {
				t.Errorf("at the limit: got %s, %t, %v", out, ok, err)
			}
			for size := range tc.size {
				out, ok, err = p.Run(context.Background(), []byte(tc.value), size)
				if ok || out != nil || !errors.Is(err, extract.ErrLimit) || !strings.HasPrefix(err.Error(), "the result is longer than ") {
					t.Errorf("limit %d: got %s, %t, %v", size, out, ok, err)
				}
			}
		})
	}
}

// A program runs for many at once.
func TestManyRunAtOnce(t *testing.T) {
	for l, program := range map[extract.Language]string{extract.JQ: "[.[] | . + 1]", extract.JSONPath: "$[?@ > 0]", extract.CEL: "data.map(e, e + 1)"} {
		p, err := extract.Compile(l, program)
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := p.Run(context.Background(), []byte(`[1,2]`), limit)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan string)
		for range 8 {
			go func() {
				for range 50 {
					if out, _, err := p.Run(context.Background(), []byte(`[1,2]`), limit); err != nil || string(out) != string(want) {
						done <- string(out)
						return
					}
				}
				done <- ""
			}()
		}
		for range 8 {
			if got := <-done; got != "" {
				t.Errorf("%s: got %s, want %s", l, got, want)
			}
		}
	}
}
