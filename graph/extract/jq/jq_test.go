package jq_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph/extract/jq"
	"github.com/sluicehq/sluice/graph/extract/tree"
	"github.com/sluicehq/sluice/internal/sigmatest"
)

// outputs runs a program over a text and returns its outputs, one a line, with the error
// behind them.
func outputs(tb testing.TB, program, text string) string {
	tb.Helper()
	p, err := jq.Compile(program)
	if err != nil {
		tb.Fatalf("compile %s: %v", program, err)
	}
	run, err := p.NewRun()
	if err != nil {
		tb.Fatal(err)
	}
	v, err := tree.Parse([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	var out strings.Builder
	run.Begin(len(text))
	err = run.Over(v, func(v any) bool {
		line, err := tree.Append(nil, v, 1<<20)
		if err != nil {
			tb.Errorf("output: %v", err)
		}
		fmt.Fprintf(&out, "%s\n", line)
		return true
	})
	if err != nil {
		fmt.Fprintf(&out, "! %v\n", err)
	}
	return out.String()
}

func TestPrograms(t *testing.T) {
	for _, tc := range []struct{ name, program, value, want string }{
		{"the value itself", ".", `{"b":1,"a":[true,null]}`, `{"a":[true,null],"b":1}`},
		{"its elements", ".[]", `[1,2]`, "1\n2"},
		{"a member", ".a.b", `{"a":{"b":"x"}}`, `"x"`},
		{"one that is not there", ".a", `{}`, "null"},
		{"no output", "empty", "1", ""},
		{"integers of any length", ".", `123456789012345678901234567890`, "123456789012345678901234567890"},
		{"numbers as received", ".", `[1.0,1e3,-0]`, "[1.0,1e3,-0]"},
		{"sums of them", ". + 1", `123456789012345678901234567890`, "123456789012345678901234567891"},
		{"the last of members with one key", ".", `{"a":1,"a":2}`, `{"a":2}`},
		{"outputs in front of an error stand", ".[] | 1 / .", `[1,0,2]`, "1\n! cannot divide number (1) by: number (0)"},
		{"errors are caught", `.[] | try (1 / .) catch "none"`, `[1,0]`, "1\n\"none\""},
		{"assignment", `.a.b = 1 | .c += 2 | .d |= . | .e -= 1`, `{"c":1,"e":1}`, `{"a":{"b":1},"c":3,"d":null,"e":0}`},
		{"assignment of several", `.a *= (2, 3)`, `{"a":2}`, "{\"a\":4}\n{\"a\":6}"},
		{"assignment within an operand", `.a += (.b += 1 | .b)`, `{"a":1,"b":2}`, `{"a":4,"b":2}`},
		{"paths", `[paths]`, `{"a":[1]}`, `[["a"],["a",0]]`},
		{"a path through guards", `path(.a[].b[0]?)`, `{"a":[{"b":[1]},{"b":[2]}]}`, "[\"a\",0,\"b\",0]\n[\"a\",1,\"b\",0]"},
		{"deletion", `del(.[1, 2])`, `[1,2,3,4]`, "[1,4]"},
		{"walk", `walk(if type == "number" then . * 2 else . end)`, `[1,{"a":2}]`, `[2,{"a":4}]`},
		{"entries", `with_entries(.value += 1)`, `{"a":1}`, `{"a":2}`},
		{"order of operands", `[(1, 2) * (10, 20)]`, "0", "[10,20,20,40]"},
		{"order of differences", `[(1, 2) - (10, 20)]`, "0", "[-9,-8,-19,-18]"},
		{"text", `"a" * 3, ("a,b" / ","), "x\(1 + 1)y\("z")"`, "0", "\"aaa\"\n[\"a\",\"b\"]\n\"x2yz\""},
		{"formats", `@json, @base64, (@csv "\([1, "a"])")`, `"é"`, "\"\\\"é\\\"\"\n\"w6k=\"\n\"1,\\\"a\\\"\""},
		{"regular expressions", `[match("(?<x>b)|é"; "g") | [.offset, .length, .string, .captures[0].name]]`, `"aébb"`, `[[1,1,"é","x"],[2,1,"b","x"],[3,1,"b","x"]]`},
		{"empty matches", `[match("b*"; "g") | [.offset, .length]]`, `"abc"`, `[[0,0],[1,1],[2,0],[3,0]]`},
		{
			"substitution", `gsub("(?<d>\\d)"; "<\(.d)>"), sub("a"; "b"; "g"), [splits(", *")], test("A"; "i"), (capture("(?<y>a+)") | .y), [scan("a.")]`,
			`"aa1, a2"`, "\"aa<1>, a<2>\"\n\"bb1, b2\"\n[\"aa1\",\"a2\"]\ntrue\n\"aa\"\n[\"aa\",\"a2\"]",
		},
		{"own functions", `def add: 7; def f(g): g | add; f(.), ([1, 2] | add)`, "0", "7\n7"},
		{"reduce and foreach", `reduce .[] as $x (0; . + $x), [foreach .[] as [$a] (0; . + 1)], [limit(2; .[])], first(.[]), (. as [$a, $b] | $b), any, all`, `[1,2,3]`, "6\n! cannot"},
		{"recursion", `[.. | numbers], [recurse(if . < 2 then . + 1 else empty end)]?`, `[0,[1]]`, "[0,1]\n[[0,[1]]]"},
		{"grouping", `group_by(.a) | map(length)`, `[{"a":1},{"a":2},{"a":1}]`, "[2,1]"},
		{"the environment is empty", `env, $ENV`, "0", "{}\n{}"},
		{"time", `strptime("%Y-%m-%d") | mktime | todate`, `"2026-03-10"`, `"2026-03-10T00:00:00Z"`},
		{"joins", `join(","), (map(tostring) | join("-")), transpose?`, `["a","b"]`, "\"a,b\"\n\"a-b\""},
		{"streams", `[tostream] == [tostream], fromstream(tostream)`, `{"a":[1,2]}`, "true\n{\"a\":[1,2]}"},
		{"what is contained", `contains({a: ["b"]}), (.a | index("c")), inside({a: ["bar", "c"]})`, `{"a":["bar","c"]}`, "true\n1\ntrue"},
		{"labels", `[label $out | .[] | if . > 1 then break $out else . end]`, `[1,2,3]`, "[1]"},
		{"input and output of numbers", `infinite, nan, 1e-9, 1.5, 1e1000`, "0", "1.7976931348623157e+308\nnull\n1e-9\n1.5\n1.7976931348623157e+308"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := strings.TrimSuffix(outputs(t, tc.program, tc.value), "\n")
			if prefix, cut := strings.CutSuffix(tc.want, "! cannot"); cut {
				if !strings.HasPrefix(got, prefix) || !strings.Contains(got, "\n! ") {
					t.Errorf("got\n%s\nwant\n%s and an error", got, prefix)
				}
				return
			}
			if got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

func TestWhatIsNoProgram(t *testing.T) {
	for _, tc := range []struct{ name, program, want string }{
		{"it ends too early", ".a |", "the program ends too early"},
		{"something is not expected", ".a }", `unexpected "}" at character 4`},
		{"something is not expected in a line", ".a |\n é }", `unexpected "é" in line 2 at character 2`},
		{"an unknown function", "lenght", "there is no function lenght with 0 arguments"},
		{"another number of arguments", "length(1)", "there is no function length with 1 argument"},
		{"an unknown variable", "$x", "variable not defined: $x"},
		{"a function of the library's own", `_match("a"; null; false)`, "there is no function _match with 3 arguments"},
		{"a guard", `__depth`, "there is no function __depth with 0 arguments"},
		{"an import", `import "a" as a; .`, "there are no modules to import or include"},
		{"an include", `include "a"; .`, "there are no modules to import or include"},
		{"further inputs", "[inputs]", "the function inputs is not available: there is one value"},
		{"the end of the process", "halt", "the function halt is not available: the process goes on"},
		{"output", `"x" | stderr`, "the function stderr is not available: nothing is written"},
		{"a large index", ".[9999999] = 1", "index 9999999 is above 1048576"},
		{"it is too long", strings.Repeat(" ", jq.MaxProgram) + ".", "the program is longer than 65536 bytes"},
		{"nothing", "", "missing query (try \".\")"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := jq.Compile(tc.program)
			if err == nil || err.Error() != tc.want {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

// Programs that would run for ever or use up the memory end, whatever they catch, and
// what they have brought until then stands.
func TestHostileProgramsEnd(t *testing.T) {
	sigmatest.Plainly(t)
	wide := "[" + strings.TrimSuffix(strings.Repeat("1,", 50_000), ",") + "]"
	text := `"` + strings.Repeat("a", 1<<20-2) + `"`
	quotes := `"` + strings.Repeat("'", 1000) + `"`
	deep := strings.Repeat("[", 128) + strings.Repeat("]", 128)
	for _, tc := range []struct {
		name, program, value string
		want                 error
	}{
		{"a loop", "1, (def f: f; f)", "0", jq.ErrSteps},
		{"a loop that catches", "1, (def f: (try f catch f), f; f)", "0", jq.ErrSteps},
		{"repeat", "1, [repeat(1)]", "0", jq.ErrSteps},
		{"a recursion", "1, (def f: 1 + f; f)", "0", jq.ErrSteps},
		{"a recursion with two arms", "1, (def f: f, f; f)", "0", jq.ErrSteps},
		{"a long range", "1, [range(1e12)]", "0", jq.ErrSteps},
		{"a range without end", "1, (range(0; 1; 0) | empty), last(range(1; infinite))", "0", jq.ErrSteps},
		{"a while", "1, (0 | while(true; . + 1) | empty)", "0", jq.ErrSteps},
		{"combinations", "1, ([[range(100)] as $a | range(10) | $a] | combinations | empty)", "0", jq.ErrSteps},
		{"a text many times", `1, ("a" * 1e9)`, "0", jq.ErrMemory},
		{"a text many times, caught", `1, (try ("a" * 1e9) catch "more"), 2`, "0", jq.ErrMemory},
		{"a text that doubles", `1, reduce range(60) as $i ("a"; . + .)`, "0", jq.ErrSteps},
		{"a text that doubles in place", `1, ({a: "a"} | until(false; .a += .a))`, "0", jq.ErrSteps},
		{"a text that is multiplied in place", `1, ({a: "a"} | until(false; .a *= 2))`, "0", jq.ErrSteps},
		{"an array that doubles", `1, reduce range(60) as $i ([0]; . + .)`, "0", jq.ErrMemory},
		{"a number that grows", `1, (10 | until(false; . * .))`, "0", jq.ErrSteps},
		{"a number that grows slowly", `1, (10 | until(false; . * 10))`, "0", jq.ErrSteps},
		{"texts that are kept", `1, [range(1e6) as $i | . + "x"]`, text, jq.ErrMemory},
		{"slices of a text", `1, (def f: .[1:] | f; f)`, text, jq.ErrMemory},
		{"lengths of a text", `1, (def f: length as $l | f; f)`, text, jq.ErrMemory},
		{"a tower of pairs as text", `1, (reduce range(60) as $i (1; [., .]) | tojson)`, "0", jq.ErrSteps},
		{"a tower of pairs in a text", `1, (reduce range(60) as $i (1; [., .]) | "\(.)")`, "0", jq.ErrSteps},
		{"a tower of pairs compared", `1, (reduce range(60) as $i (1; [., .]) | [.] == [.])`, "0", jq.ErrSteps},
		{"a tower of pairs flattened", `1, (reduce range(60) as $i (1; [., .]) | flatten)`, "0", jq.ErrSteps},
		{"a tower of pairs sorted", `1, (reduce range(60) as $i (1; [., .]) | [., ., .] | sort)`, "0", jq.ErrSteps},
		{"a tower of pairs as an error", `1, (reduce range(60) as $i (1; [., .]) | error)`, "0", jq.ErrSteps},
		{"a deep value compared", `1, (reduce range(20000) as $i (0; [.]) | . == [.])`, "0", jq.ErrDepth},
		{"a deep value as text", `1, (reduce range(20000) as $i (0; {a: .}) | tojson)`, "0", jq.ErrDepth},
		{"a deep value changed", `1, (reduce range(20000) as $i (0; [.]) | del(..))`, "0", jq.ErrDepth},
		{"paths of a deep value", `1, (reduce range(20000) as $i (0; [.]) | [paths])`, "0", jq.ErrSteps},
		{"quotes within quotes", `1, (until(false; @sh))`, quotes, jq.ErrSteps},
		{"JSON within JSON", `1, (until(false; tojson))`, quotes, jq.ErrSteps},
		{"wide columns", `1, ([range(20000) as $i | []] + [[range(20000)]] | transpose)`, "0", jq.ErrSteps},
		{"a long separator", `1, (. as $t | [range(10000)] | join($t))`, text, jq.ErrMemory},
		{"sums of one text", `1, (. as $t | [range(10000) | $t] | add)`, text, jq.ErrMemory},
		{"sums of one text, by function", `1, (. as $t | add(range(10000) | $t))`, text, jq.ErrMemory},
		{"matches of one character", `1, [match("."; "g")]`, text, jq.ErrMemory},
		{"substitution of each character", `1, gsub("."; "xx")`, text, jq.ErrMemory},
		{"a regular expression with many states", `1, (def f: test("(a|aa|aaa){1,200}$") as $x | f; f)`, text, jq.ErrSteps},
		{"regular expressions made up", `1, (range(1e9) | tostring | . as $r | "x" | test($r) | empty)`, "0", jq.ErrSteps},
		{"a wide array within itself", `1, (def f: .[] as $x | f; f)`, wide, jq.ErrMemory},
		{"a wide array mapped within itself", `1, (def f: . as $a | map($a | f); f)`, wide, jq.ErrMemory},
		{"a wide array changed often", `1, (reduce range(1e6) as $i (.; .[0] = $i))`, wide, jq.ErrMemory},
		{"copies that are kept", `1, [foreach range(1e6) as $i (.; .[0] += 1)]`, wide, jq.ErrMemory},
		{"differences of wide arrays", `1, (. - map(. + 1))`, wide, jq.ErrSteps},
		{"a wide array within another", `1, contains(map(. + 1))`, wide, jq.ErrSteps},
		{"a wide array in another", `1, indices([range(20000)])`, wide, jq.ErrSteps},
		{"a text in pieces", `1, (def f: explode as $x | f; f)`, text, jq.ErrMemory},
		{"a format of a time", `1, (def f: ("%1000c" * 1000) as $f | 0 | strftime($f) as $x | f; f)`, "0", jq.ErrMemory},
		{"paths of a nested value", `1, (def f: [paths] as $p | f; f)`, deep, jq.ErrSteps},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := jq.Compile(tc.program)
			if err != nil {
				t.Fatal(err)
			}
			run, err := p.NewRun()
			if err != nil {
				t.Fatal(err)
			}
			v, err := tree.Parse([]byte(tc.value))
			if err != nil {
				t.Fatal(err)
			}
			var got []any
			run.Begin(len(tc.value))
			err = run.Over(v, func(v any) bool {
				got = append(got, v)
				return true
			})
			if !jq.Bounded(err) || !errors.Is(err, tc.want) {
				t.Errorf("ended with %v, want %v", err, tc.want)
			}
			if len(got) != 1 || got[0] != 1 {
				t.Errorf("%d outputs, want the one in front", len(got))
			}
			run.Begin(1)
			if err := run.Over(json.Number("1"), func(any) bool { return false }); err != nil { // it is as good as new
				t.Errorf("the next run: %v", err)
			}
		})
	}
}

// What values say is no way around the bounds of the index of an array.
func TestLargeIndexesOfValuesAreErrors(t *testing.T) {
	for _, program := range []string{`.a[.n] = 1`, `.a[.n] |= 1`, `setpath(["a", .n]; 1)`, `getpath(["a", .n]) = 1`, `.n as $n | def f: .a[$n]; f = 1`, `.n as $n | null | [.[$n]] as [$x] | .[$n] += 1`} {
		if got := outputs(t, program, `{"n":100000000}`); got != "! index is above 1048576\n" {
			t.Errorf("%s: got %s", program, got)
		}
	}
}
