package tree_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph/extract/tree"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/sigma/engine"
)

func TestTextsAreReadAndWritten(t *testing.T) {
	deep := strings.Repeat("[", tree.MaxDepth) + strings.Repeat("]", tree.MaxDepth)
	for _, tc := range []struct{ name, text, want string }{
		{"members in the order of their keys", ` { "b" : [ 1 , true , false , null ] , "a" : { } } `, `{"a":{},"b":[1,true,false,null]}`},
		{"the last of members with one key", `{"a":1,"\u0061":{"x":1},"b":2}`, `{"a":{"x":1},"b":2}`},
		{"numbers as received", `[1e5,-0.0,1.50,123456789012345678901234567890]`, `[1e5,-0.0,1.50,123456789012345678901234567890]`},
		{"escapes", `"\u00e9\ud83d\ude00\n\/\ud800"`, "\"é😀\\n/\ufffd\""},
		{"bytes that are not UTF-8", "\"a\xffb\"", "\"a\ufffdb\""},
		{"the deepest value", deep, deep},
		{"a scalar", "null", "null"},
	} {
		v, err := tree.Parse([]byte(tc.text))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if got, err := tree.Append([]byte("x"), v, 1<<20); err != nil || string(got) != "x"+tc.want {
			t.Errorf("%s: got %s, %v, want %s", tc.name, got, err, tc.want)
		}
	}
}

// Digits count, however a number is spelled.
func TestNumbersOfManyDigitsBecomeDoubles(t *testing.T) {
	for _, tc := range []struct {
		text string
		want any
	}{
		{"1234", json.Number("1234")},
		{"-12.3e+4", json.Number("-12.3e+4")},
		{"12345", 12345.0},
		{"-1.2345", -1.2345},
		{"1.234e5", 1.234e5},
		{"1.2e999", math.MaxFloat64},
		{"-1.2e999", -math.MaxFloat64},
		{"1.2e-999", 0.0},
	} {
		if got, err := tree.ParseWithin([]byte(tc.text), 4); err != nil || got != tc.want {
			t.Errorf("%s: got %v, %v, want %v", tc.text, got, err, tc.want)
		}
	}
}

func TestWhatIsNotJSON(t *testing.T) {
	for _, text := range []string{
		"", " ", "{", "[", `"`, `"\`, `"\x"`, `"\u12`, `"\u12g4"`, "\"\n\"", "01", "-", "1.", ".5", "1e", "+1", "tru", "nul", "[1,]", "[1 2]", "[,1]", `{"a"}`, `{"a":}`, `{"a":1,}`,
		"{a:1}", "1 2", "]", "{]", "[}", strings.Repeat("[", tree.MaxDepth+1) + strings.Repeat("]", tree.MaxDepth+1),
	} {
		if v, err := tree.Parse([]byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, v)
		}
	}
}

func TestMadeValuesAreWritten(t *testing.T) {
	huge, _ := new(big.Int).SetString("-123456789012345678901234567890", 10)
	v := []any{1, -2.5, math.NaN(), math.Inf(1), math.Inf(-1), 1e-7, 1e21, huge, json.Number("1.0"), ""}
	const want = `[1,-2.5,null,1.7976931348623157e+308,-1.7976931348623157e+308,1e-7,1e+21,-123456789012345678901234567890,1.0,""]`
	if got, err := tree.Append(nil, v, 1000); err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	tower := any("x")
	for range 100 {
		tower = []any{tower, tower}
	}
	nested := any(1)
	for range tree.MaxDepth + 1 {
		nested = map[string]any{"a": nested}
	}
	for _, tc := range []struct {
		name string
		v    any
		want error
	}{
		{"a long text", strings.Repeat("a", 1001), tree.ErrTooLong},
		{"a text that grows", strings.Repeat("\n", 600), tree.ErrTooLong},
		{"a long number", new(big.Int).Lsh(big.NewInt(1), 10_000), tree.ErrTooLong},
		{"a tower", tower, tree.ErrTooLong},
		{"a deep value", nested, tree.ErrTooDeep},
		{"what has no JSON", struct{}{}, nil},
	} {
		got, err := tree.Append([]byte("x"), tc.v, 1000)
		if err == nil || tc.want != nil && !errors.Is(err, tc.want) || string(got) != "x" {
			t.Errorf("%s: got %s, %v, want %v", tc.name, got, err, tc.want)
		}
	}
}

// What is JSON here is JSON to the engine, and what is a value of a line there is one
// here, and the texts of the values are as the standard library has them.
func FuzzTree(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":null}],"c":"\u12aF\\"}`, `1 "a"{}[]`, `1 2`, `12true`, `[-0.5E+7,true]`, `{"a":1,"a":2}`, "\"\xff\"", `[1,]`, `  `} {
		f.Add([]byte(s))
	}
	set, err := engine.Compile(nil, engine.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, containers := range []bool{false, true} {
			values, err := tree.Split(nil, line, containers)
			if _, fault := format.FindFault(line, containers); fault == (err == nil) {
				t.Fatalf("%q: %v here, and a fault there: %t", line, err, fault)
			}
			if decoded := set.NewWorker().DecodeValues(new(engine.Events), line, containers); (decoded == nil) != (err == nil) {
				t.Fatalf("%q: %v here, %v for the engine", line, err, decoded)
			}
			for _, text := range values {
				v, err := tree.Parse(text)
				if err != nil {
					t.Fatalf("%q is a value and is not read: %v", text, err)
				}
				written, err := tree.Append(nil, v, 8*len(text)+8)
				if err != nil {
					t.Fatalf("%q: %v", text, err)
				}
				var want, got any
				if json.Unmarshal(text, &want) != nil { // a number that is too large for it
					continue
				}
				if err := json.Unmarshal(written, &got); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("%q is written as %q: %v", text, written, err)
				}
			}
		}
	})
}
