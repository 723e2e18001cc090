package fetch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sources/fetch"
)

func TestDecode(t *testing.T) {
	for _, tc := range []struct {
		name   string
		format fetch.Format
		in     string
		want   string // JSON, or the kind of the error and a part of it behind a bar
	}{
		{"JSON becomes compact", fetch.JSON, " {\"a\" : [1, 2.50, \"x y\"]}\n", `{"a":[1,2.50,"x y"]}`},
		{"a byte order mark is left out", fetch.JSON, "\xef\xbb\xbf[]", `[]`},
		{"but only one", fetch.JSON, "\xef\xbb\xbf\xef\xbb\xbf[]", "Parse|invalid JSON"},
		{"integers keep 64 bits", fetch.JSON, `[9223372036854775807,18446744073709551615,-9223372036854775808]`, `[9223372036854775807,18446744073709551615,-9223372036854775808]`},
		{"null is a value", fetch.JSON, "null", "null"},
		{"trailing data", fetch.JSON, "[1]\n[2]", "Parse|invalid JSON: invalid character '[' after top-level value (line 2)"},
		{"no data", fetch.JSON, "", "Parse|unexpected end of JSON input"},
		{"JSON that is cut", fetch.JSON, "{\"a\":\n[1,", "Parse|unexpected end of JSON input (line 2)"},
		{"what is no JSON", fetch.JSON, "<html>", "Parse|invalid character '<'"},
		{"comments are no JSON", fetch.JSON, "// x\n[]", "Parse|invalid character '/'"},
		{"not a number", fetch.JSON, "[NaN]", "Parse|invalid character 'N'"},
		{"what is no UTF-8", fetch.JSON, "[\"\n\xff\"]", "Parse|not UTF-8 (line 2)"},
		{"half a surrogate in UTF-8", fetch.Lines, "\xed\xa0\x80", "Parse|not UTF-8 (line 1)"},
		{"UTF-16", fetch.JSON, "\xff\xfe[\x00]\x00", "Parse|not UTF-8"},
		{"nesting as deep as it may be", fetch.JSON, strings.Repeat("[", 128) + strings.Repeat("]", 128), strings.Repeat("[", 128) + strings.Repeat("]", 128)},
		{"deeper", fetch.JSON, strings.Repeat("[", 129) + strings.Repeat("]", 129), "Parse|more than 128 lists and mappings within each other"},
		{"brackets in text nest nothing", fetch.JSON, `["` + strings.Repeat(`[\"{`, 200) + `"]`, `["` + strings.Repeat(`[\"{`, 200) + `"]`},
		{"lists beside each other nest nothing", fetch.JSON, "[" + strings.Repeat("[],", 200) + "[]]", "[" + strings.Repeat("[],", 200) + "[]]"},

		{"one document", fetch.YAML, "a: 1\n", `{"a":1}`},
		{"several documents", fetch.YAML, "a: 1\n---\nb: 2\n", `[{"a":1},{"b":2}]`},
		{"a document behind its marker", fetch.YAML, "---\na: 1\n...\n", `{"a":1}`},
		{"no document", fetch.YAML, "", "null"},
		{"comments alone", fetch.YAML, "# nothing\n", "null"},
		{"a text", fetch.YAML, "hello", `"hello"`},
		{"JSON is YAML", fetch.YAML, `{"a": [1, "x"]}`, `{"a":[1,"x"]}`},
		{"keys in written order", fetch.YAML, "b: 1\na: 2\n", `{"b":1,"a":2}`},
		{"keys that are no text", fetch.YAML, "1: a\ntrue: b\n1.5: c\n~: d\n", `{"1":"a","true":"b","1.5":"c","null":"d"}`},
		{"keys that become the same text: the last counts", fetch.YAML, "1: a\n\"1\": b\nx: c\n", `{"1":"b","x":"c"}`},
		{"a list for a key", fetch.YAML, "? [a, 1]\n: x\n", `{"[\"a\",1]":"x"}`},
		{"tags are dropped", fetch.YAML, "a: !thing {b: !other [1]}\nc: !!str 5\nd: !!binary aGk=\n", `{"a":{"b":[1]},"c":"5","d":"aGk="}`},
		{"timestamps stay text", fetch.YAML, "a: 2026-03-10\nb: 2026-03-10T01:02:03Z\n", `{"a":"2026-03-10","b":"2026-03-10T01:02:03Z"}`},
		{"what is not finite is null", fetch.YAML, "[.inf, -.inf, .nan, 1e999]", `[null,null,null,null]`},
		{"yes and no are text", fetch.YAML, "[yes, no, on, off, true, False]", `["yes","no","on","off",true,false]`},
		{"nothing is null", fetch.YAML, "a:\nb: ~\nc: null\n", `{"a":null,"b":null,"c":null}`},
		{"numbers", fetch.YAML, "[9223372036854775807, 18446744073709551615, 0x10, 007, 1.50, -2e3]", `[9223372036854775807,18446744073709551615,16,"007",1.5,-2000]`},
		{"text that JSON escapes", fetch.YAML, `a: "q\"b\\ \t\n\r\0é<&>"`, `{"a":"q\"b\\ \t\n\r\u0000é<&>"}`},
		{"aliases", fetch.YAML, "a: &x [1]\nb: *x\n", `{"a":[1],"b":[1]}`},
		{"a merge key is a key", fetch.YAML, "a: &x {b: 1}\nc: {<<: *x}\n", `{"a":{"b":1},"c":{"<<":{"b":1}}}`},
		{"keys that are repeated", fetch.YAML, "a: 1\na: 2\n", "Parse|invalid YAML: mapping key \"a\" is repeated (line 2)"},
		{"what is no YAML", fetch.YAML, "a: [1\nb: 2\n", "Parse|invalid YAML"},
		{"an alias of nothing", fetch.YAML, "a: *x\n", "Parse|unknown anchor"},
		{"an alias of itself", fetch.YAML, "a: &x [*x]\n", "Parse|contains itself"},
		{"aliases that multiply", fetch.YAML, laughs(12), "ResourceLimit|aliases reach more than 100000 nodes"},
		{"nesting that is too deep", fetch.YAML, strings.Repeat("[", 129) + strings.Repeat("]", 129), "Parse|more than 128"},

		{"lines", fetch.Lines, "10.0.0.1\r\n  \n# c\n", `["10.0.0.1","# c"]`},
		{"no line", fetch.Lines, "", `[]`},
		{"blank lines alone", fetch.Lines, "\n\r\n \t\n\u00a0\n", `[]`},
		{"a last line without end", fetch.Lines, "a\nb", `["a","b"]`},
		{"nothing is trimmed", fetch.Lines, " a \n\tb\n", `[" a ","\tb"]`},
		{"a carriage return that ends no line", fetch.Lines, "a\rb\r\r\nc\r", `["a\rb\r","c\r"]`},
		{"text that JSON escapes in lines", fetch.Lines, "\"\\\x01\x7f\n", `["\"\\\u0001` + "\x7f" + `"]`},

		{"rows", fetch.CSV, "h,o\ns1,ann\n", `[{"h":"s1","o":"ann"}]`},
		{"values are text, columns in order", fetch.CSV, "b,a\n1,true\n", `[{"b":"1","a":"true"}]`},
		{"too few fields", fetch.CSV, "h,o\ns1\n", "Parse|a row of 1 fields under a header of 2 (line 2)"},
		{"too many fields", fetch.CSV, "h,o\n\nx,y\ns1,b,c\n", "Parse|a row of 3 fields under a header of 2 (line 4)"},
		{"quotes", fetch.CSV, "h,o\n\"a,\"\"b\"\"\",\"c\nd\"\n", `[{"h":"a,\"b\"","o":"c\nd"}]`},
		{"a quote that is open", fetch.CSV, "h\n\"a\n", "Parse|invalid CSV"},
		{"a quote within", fetch.CSV, "h\na\"b\n", "Parse|invalid CSV: bare \" in non-quoted-field (line 2)"},
		{"blank rows", fetch.CSV, "\n  \nh,o\n\n \t\r\na,b\n\n", `[{"h":"a","o":"b"}]`},
		{"an empty text in quotes is a row", fetch.CSV, "h\n\"\"\n\" \"\n", `[{"h":""},{"h":" "}]`},
		{"empty fields", fetch.CSV, "h,o\n,\n", `[{"h":"","o":""}]`},
		{"a header alone", fetch.CSV, "h,o\n", `[]`},
		{"no header", fetch.CSV, "", "Parse|no header row"},
		{"blank rows for a header", fetch.CSV, "\n \n", "Parse|no header row"},
		{"a header that is repeated: the last counts", fetch.CSV, "h,o,h\n1,2,3\n", `[{"o":"2","h":"3"}]`},
		{"lines that end as on Windows", fetch.CSV, "h,o\r\n1,2\r\n", `[{"h":"1","o":"2"}]`},
		{"blanks around fields stay", fetch.CSV, "h, o\n a,b \n", `[{"h":" a"," o":"b "}]`},
		{"semicolons separate nothing", fetch.CSV, "h;o\n1;2\n", `[{"h;o":"1;2"}]`},
		{"names that multiply", fetch.CSV, strings.Repeat("n", 1<<20) + "\n" + strings.Repeat("x\n", 1<<10), "ResourceLimit|the rows take more than 67108864 bytes as JSON"},

		{"a format that nobody knows", "xml", "<a/>", "Parse|unknown format 'xml'"},
	} {
		out, err := fetch.Decode(tc.format, []byte(tc.in))
		if err != nil {
			var e *fetch.Error
			if k, text, ok := strings.Cut(tc.want, "|"); !errors.As(err, &e) || !ok || string(e.Kind) != k || !strings.Contains(err.Error(), text) || out != nil {
				t.Errorf("%s: got %s, %v, want %s", tc.name, out, err, tc.want)
			}
			continue
		}
		if string(out) != tc.want {
			t.Errorf("%s: got %.200s, want %.200s", tc.name, out, tc.want)
		}
		if !json.Valid(out) {
			t.Errorf("%s: %.200s is no JSON", tc.name, out)
		}
	}
}

// laughs is a document of a few lines that means 9 to the power of n texts.
func laughs(n int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x]\n")
	for i := 1; i <= n; i++ {
		before := fmt.Sprintf("*a%d", i-1)
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.Join(slices.Repeat([]string{before}, 9), ", "))
	}
	return b.String()
}

// Blocks that are nested by what is in front of them.
func TestNestedBlocks(t *testing.T) {
	var b strings.Builder
	for i := 0; b.Len() < 1<<20; i++ {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	if out, err := fetch.Decode(fetch.YAML, []byte(b.String())); err == nil || out != nil {
		t.Errorf("got %d bytes, %v", len(out), err)
	}
}

// Ten megabytes that are nothing but nesting end with an error, whatever opens it.
func TestNestingWithoutEnd(t *testing.T) {
	const size = 10 << 20
	for _, tc := range []struct {
		format fetch.Format
		unit   string
	}{
		{fetch.JSON, "["},
		{fetch.JSON, `{"a":`},
		{fetch.YAML, "["},
		{fetch.YAML, "{a: "},
		{fetch.YAML, "- "},
		{fetch.YAML, "? "},
		{fetch.YAML, "&a ["},
		{fetch.YAML, "!t "},
	} {
		out, err := fetch.Decode(tc.format, []byte(strings.Repeat(tc.unit, size/len(tc.unit))))
		if err == nil || out != nil {
			t.Errorf("%s, %q: got %d bytes, %v", tc.format, tc.unit, len(out), err)
		}
	}
}
