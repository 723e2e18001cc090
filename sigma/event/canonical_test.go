package event

import "testing"

func TestCanonicalFormsOfEqualValuesAreEqual(t *testing.T) {
	for _, tc := range []struct {
		name, a, b string
		equal      bool
	}{
		{"keys in any order", `{"b":1,"a":[ 2 ]}`, `{"a":[2], "b":1}`, true},
		{"numbers by their text", `[1.0,1e2]`, `[1,100]`, true},
		{"a number is no text", `[1]`, `["1"]`, false},
		{"escapes", `{"\u0061":"\/"}`, `{"a":"/"}`, true},
		{"a repeated key is an array", `{"a":1,"b":0,"a":[2]}`, `{"b":0,"a":[1,[2]]}`, true},
		{"elements have an order", `[1,2]`, `[2,1]`, false},
		{"texts are not taken for structure", `["a,b"]`, `["a","b"]`, false},
		{"keys are not taken for structure", `{"a\":1,\"b":1}`, `{"a":1,"b":1}`, false},
		{"empty containers", `[{},[]]`, `[[],{}]`, false},
	} {
		a, b := ValueOf([]byte(tc.a)).AppendCanonical(nil), ValueOf([]byte(tc.b)).AppendCanonical(nil)
		if got := string(a) == string(b); got != tc.equal {
			t.Errorf("%s: %s and %s are %s and %s, want equal: %t", tc.name, tc.a, tc.b, a, b, tc.equal)
		}
	}
}
