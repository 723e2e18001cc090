package frame

import (
	"encoding/json"
	"testing"
)

// A text that cannot become JSON any more is known by its first wrong character.
func TestBeginningsOfJSON(t *testing.T) {
	for _, tc := range []struct {
		name string
		text string
		at   int // of the character that makes it no JSON; 0 for none
	}{
		{"an indented object", "{\n  \"a\": [1, -2.5e3, true, null, \"x\\u00e9\\n\"],\n  \"b\": {}\n}\n", 0},
		{"a second object without a comma", "{\"a\":\n{\"b\":1}\n{\"c\":2}", 14},
		{"a line break in a string", "{\"a\":\"x\n", 7},
		{"a value behind a value", "{\"a\":1\n{\"b\":2}", 7},
		{"an object for a key", "{\"a\":1,\n{\"b\":2}", 8},
		{"a word", "{\"a\": hello\n", 11},
		{"a key without quotes", "{a", 1},
		{"a number with two dots", "[1.2.3,", 6},
		{"a comma behind the last", "[1,]", 3},
		{"the other bracket", "[1}", 2},
		{"a bracket that closes nothing", "{}}", 2},
		{"an escape that there is not", `["\x`, 3},
		{"an escape that is cut off", `["\u00g`, 6},
		{"a second value", "{} {", 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var p prefix
			for i := range len(tc.text) {
				if !p.read([]byte(tc.text[i : i+1])) {
					if i != tc.at {
						t.Errorf("known at %d, want %d", i, tc.at)
					}
					return
				}
			}
			if tc.at > 0 {
				t.Errorf("not known, want %d", tc.at)
			}
		})
	}
}

// What the standard library reads is never given up, and what it refuses always is, once
// white space ends it.
func FuzzPrefix(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":null}],"c":"\u12aF\\"}`, `[[],{},-0.5E+7,true]`, `"x"`, `{"a":`, `[1 2]`, "{\"a\"\n:1,}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var p prefix
		if may, is := p.read(append(text, ' ')), json.Valid(text); is && !may {
			t.Errorf("%q is JSON and was given up", text)
		} else if !is && may && p.want == nothing && len(text) < maxLiteral {
			t.Errorf("%q is no JSON and was read to its end", text)
		}
	})
}
