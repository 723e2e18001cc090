package cel_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph/extract/cel"
	"github.com/sluicehq/sluice/graph/extract/tree"
)

// evaluate is the JSON of an expression over a value, or "! " and the error.
func evaluate(tb testing.TB, expression, value string) string {
	tb.Helper()
	p, err := cel.Compile(expression)
	if err != nil {
		tb.Fatalf("%s: %v", expression, err)
	}
	v, err := tree.Parse([]byte(value))
	if err != nil {
		tb.Fatal(err)
	}
	out, err := p.Append(context.Background(), []byte("x"), v, 1_000_000, 1<<20)
	if err != nil {
		if string(out) != "x" {
			tb.Errorf("%s: %s beside an error", expression, out)
		}
		return "! " + err.Error()
	}
	return strings.TrimPrefix(string(out), "x")
}

func TestExpressions(t *testing.T) {
	for _, tc := range []struct{ name, expression, value, want string }{
		{"integers are int", "type(data) == int", "9223372036854775807", "true"},
		{"above the range of int they are uint", "type(data) == uint", "9223372036854775808", "true"},
		{"the largest uint", "data", "18446744073709551615", "18446744073709551615"},
		{"above the range of uint they are double", "type(data) == double", "18446744073709551616", "true"},
		{"below the range of int they are double", "type(data) == double", "-9223372036854775809", "true"},
		{"the smallest int", "type(data) == int", "-9223372036854775808", "true"},
		{"a number with a fraction is double", "type(data) == double", "1.0", "true"},
		{"one with an exponent, too", "type(data) == double", "1e2", "true"},
		{"minus zero is int", "data", "-0", "0"},
		{"numbers of several types compare", "[data[0] == data[1], data[0] < data[2], data[2] > 1u, data[0] == 1.0, data[3] > data[0]]", "[1,1.0,1.5,18446744073709551615]", "[true,true,true,true,true]"},
		{"and stand in lists", "1 in [1.0, 2u] && data in [2]", "2.0", "true"},
		{"keys become texts", "{1: 'a', 2u: 'b', true: 'c', 'd': 'e'}", "0", `{"1":"a","2":"b","d":"e","true":"c"}`},
		{"keys in their order as texts", "{10: 1, 9: 2, 'a': 3}", "0", `{"10":1,"9":2,"a":3}`},
		{"bytes are base64", `[b'\xff\x00', bytes(data)]`, `"é"`, `["/wA=","w6k="]`},
		{"no bytes", `b''`, `0`, `""`},
		{"times are RFC 3339", "timestamp(data)", `"2026-03-10T01:02:03.500+02:00"`, `"2026-03-09T23:02:03.5Z"`},
		{"durations are seconds", "data.map(d, duration(d))", `["1h","1.5s","-250ms","0s","1ns"]`, `["3600s","1.5s","-0.25s","0s","0.000000001s"]`},
		{"the difference of times", "timestamp('2026-03-10T00:01:00Z') - timestamp('2026-03-10T00:00:00Z')", "0", `"60s"`},
		{"types are their names", "type(data)", "[]", `"list"`},
		{"doubles as jq writes them", "[1.0, 0.5, 1e21, 1e-7, -0.0]", "0", "[1,0.5,1e+21,1e-7,-0]"},
		{"what is no number is null", "[0.0 / 0.0]", "0", "[null]"},
		{"what is infinite is the largest that there is", "[1.0 / 0.0, -1.0 / 0.0]", "0", "[1.7976931348623157e+308,-1.7976931348623157e+308]"},
		{"macros", "[data.all(e, e > 0), data.exists(e, e > 2), data.exists_one(e, e == 1), has({'a': 1}.a)]", "[1,2,3]", "[true,true,true,true]"},
		{"map with a condition", "data.map(e, e > 1, e * 2)", "[1,2,3]", "[4,6]"},
		{"members of an object by name", "data.map(k, data[k])", `{"a":1}`, "[1]"},
		{"text", "data.a.startsWith('x') && data.a.contains('y') && data.a.endsWith('z') && data.a.matches('^x.z$') && data.a.size() == 3", `{"a":"xyz"}`, "true"},
		{"sums", "[data[0] + data[1], data[2] + [4]]", "[1,2,[3]]", "[3,[3,4]]"},
		{"a list of lists", "data.map(e, [e, [e]])", "[1]", "[[1,[1]]]"},
		{"lists of constants", "data.filter(e, e in ['a', 'b'])", `["a","c"]`, `["a"]`},
		{"conversions", "[string(data), string(1.5), int('7') == 7, double(data)]", "3", `["3","1.5",true,3]`},
		{"what overflows", "data + 1", "9223372036854775807", "! integer overflow"},
		{"a member that is not there", "data.b", `{"a":1}`, "! no such key: b"},
		{"a condition that saves it", "has(data.b) ? data.b : 'none'", `{"a":1}`, `"none"`},
		{"types that do not go together", "data.a + 1", `{"a":"x"}`, "! no such overload"},
		{"keys with one spelling", "{1: data, '1': data}", "0", `! two keys of a map are spelled "1"`},
		{"a list as a key", "{data: 1}", "[]", "! a key of the type list has no JSON"},
		{"a key of bytes", "{bytes(data): 1}", `"x"`, "! a key of a map is neither a bool, an int, a uint nor a string"},
		{"a member named by bytes", "{'a': 1}[dyn(bytes(data))]", `"a"`, "! invalid qualifier type"},
		{"what has no JSON", "google.protobuf.Any{type_url: 'x'}", "0", "! unsupported conversion"},
		{"values of the standard's types", "[google.protobuf.Int64Value{value: 3}, google.protobuf.Struct{fields: {'a': google.protobuf.Value{number_value: 1.0}}}]", "0", `[3,{"a":1}]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := evaluate(t, tc.expression, tc.value)
			if strings.HasPrefix(tc.want, "! ") { // the library's own words follow
				got = got[:min(len(got), len(tc.want))]
			}
			if got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// What an expression makes is charged by its size, as often as it is met, so that no
// operation can take for ever.
func TestHostileExpressionsEnd(t *testing.T) {
	list := "[" + strings.Repeat("1,", 9_999) + "1]"
	tower := "data" + strings.Repeat(".map(x, [x, x])", 30)
	for _, tc := range []struct {
		name, expression, value string
		want                    error
	}{
		{"comprehensions within each other", "data.all(a, data.all(b, data.all(c, a + b + c > 0)))", list, cel.ErrSteps},
		{"a list that doubles", "[data]" + strings.Repeat(".map(x, x + x)", 30), "[1]", cel.ErrSteps},
		{"one that doubles, compared", "[data]" + strings.Repeat(".map(x, x + x)", 30) + ".map(x, x == x)", "[1]", cel.ErrSteps},
		{"a tower", tower, "[1]", cel.ErrSteps},
		{"a tower, compared", "[" + tower + "].map(x, x == x)", "[1]", cel.ErrSteps},
		{"a tower of maps", "data" + strings.Repeat(".map(x, {'a': x, 'b': x})", 30), "[1]", cel.ErrSteps},
		{"a text that doubles", "data" + strings.Repeat(".map(x, x + x)", 30), `["abcdefgh"]`, cel.ErrSteps},
		{"bytes that double", "data.map(x, bytes(x))" + strings.Repeat(".map(x, x + x)", 30), `["abcdefgh"]`, cel.ErrSteps},
		{"a value beside each of its elements", "data.map(x, [x, data])", list, cel.ErrSteps},
		{"a regular expression for each", "data.map(x, data.map(y, 'aaaaaaaaaaaaaaaa'.matches('(a+)+$')))", list, cel.ErrSteps},
		{"a deep value", "data" + strings.Repeat(".map(x, [x])", 20), strings.Repeat("[", 120) + strings.Repeat("]", 120), tree.ErrTooDeep},
		{"a long result", "data.map(x, data.map(y, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'))", "[" + strings.Repeat("1,", 149) + "1]", tree.ErrTooLong},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := cel.Compile(tc.expression)
			if err != nil {
				t.Fatal(err)
			}
			v, err := tree.Parse([]byte(tc.value))
			if err != nil {
				t.Fatal(err)
			}
			if out, err := p.Append(context.Background(), nil, v, 1_000_000, 1<<20); !errors.Is(err, tc.want) || out != nil {
				t.Errorf("got %.100s, %v, want %v", out, err, tc.want)
			}
		})
	}
}

func TestKeysThatAreConstantsAndNone(t *testing.T) {
	if _, err := cel.Compile("{b'': []}"); err == nil || err.Error() != "a key of a map is neither a bool, an int, a uint nor a string" {
		t.Errorf("got %v", err)
	}
}

func TestExpressionsThatAreNestedTooDeep(t *testing.T) {
	for _, expression := range []string{
		"data" + strings.Repeat(".map(x, [x])", 60), strings.Repeat("[", 60) + strings.Repeat("]", 60), strings.Repeat("(", 60) + "1" + strings.Repeat(")", 60),
		strings.Repeat("[", 60_000), strings.Repeat("data.map(x,", 5000), "data" + strings.Repeat("[0]", 20_000),
	} {
		if _, err := cel.Compile(expression); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.20s: got %v", expression, err)
		}
	}
	for _, expression := range []string{"data == 0" + strings.Repeat(" || data == 1", 1000), "data" + strings.Repeat(".map(x, [x])", 20), "data in [0" + strings.Repeat(", 1", 5000) + "]"} {
		if _, err := cel.Compile(expression); err != nil {
			t.Errorf("%.20s: %v", expression, err)
		}
	}
}

func TestTheContextEndsAnEvaluation(t *testing.T) {
	p, err := cel.Compile("data.all(a, data.all(b, data.all(c, true)))")
	if err != nil {
		t.Fatal(err)
	}
	v, err := tree.Parse([]byte("[" + strings.Repeat("1,", 9_999) + "1]"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Append(ctx, nil, v, 1<<60, 1<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// No expression and no value bring the process down.
func FuzzExpressions(f *testing.F) {
	for _, e := range []string{
		"data", "data.a", "data.map(e, e + e)", "data.filter(e, e.s > 7).map(e, e.ip)", "has(data.a) ? data.a : null", "{1: data, 'b': [data]}", "data.all(a, data.exists(b, a == b))",
		"timestamp(data) - duration('1h')", "bytes(data) + b'\\xff'", "data.matches('^a.*$')", "type(data)", "int(data) / 0", "data[0] in data", "string(data)", "dyn(data) + 1u", "google.protobuf.Struct{}",
		"data.getFullYear('+01:00')", "data == data", "-data", "!data", "data % 2", "size(data)", "uint(data)", "double(data)", "'x' + data", "data ? 1 : 'b'", "[1, 2][data]",
	} {
		for _, v := range []string{`{"a":1,"i":[{"s":9,"ip":"x"}]}`, `[1,2.5,"x",null]`, `"2026-03-10T00:00:00Z"`, `18446744073709551615`, `-1`, `true`} {
			f.Add(e, []byte(v))
		}
	}
	f.Fuzz(func(t *testing.T, expression string, text []byte) {
		v, err := tree.Parse(text)
		if err != nil || len(text) > 1000 || len(expression) > 1000 {
			return
		}
		p, err := cel.Compile(expression)
		if err != nil {
			return
		}
		out, err := p.Append(context.Background(), nil, v, 100_000, 1<<16)
		if err != nil {
			if err.Error() == "" || strings.Contains(err.Error(), "internal error") {
				t.Errorf("%s of %s: %v", expression, text, err)
			}
			return
		}
		if _, err := tree.Parse(out); err != nil || len(out) > 1<<16 {
			t.Errorf("%s of %s brings %s: %v", expression, text, out, err)
		}
	})
}
