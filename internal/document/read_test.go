package document

import (
	"fmt"
	"strings"
	"testing"
)

func TestFaultsEndTheFile(t *testing.T) {
	for _, tc := range []struct {
		name, text     string
		read           int // documents before the fault
		number, line   int
		detailContains string
	}{
		{"an open list", "a: b\n---\nt: a\nd: [x\n---\nq: z\n", 1, 2, 4, "did not find expected ',' or ']'"},
		{"a mapping behind a list", "- a\nb: c\n", 0, 1, 2, "did not find expected '-' indicator"},
		{"a mapping inside a value", "t: a\nd: x: y\n", 0, 1, 2, "mapping values are not allowed"},
		{"a tab as indentation", "t: a\nd:\n\ts: x\n", 0, 1, 3, "cannot start any token"},
		{"wrong indentation", "t: a\nd:\n  s: 1\n c: 2\n", 0, 1, 4, "did not find expected key"},
		{"a repeated key", "a: 1\nb:\n  c: 1\n  c: 2\n", 0, 1, 4, `mapping key "c" is repeated`},
		{"a repeated key among many", "a: {a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1, j: 1, k: 1, l: 1, m: 1, n: 1, o: 1, p: 1, q: 1,\n a: 1}", 0, 1, 2, `mapping key "a" is repeated`},
		{"numbers written differently are one key", "16: a\n0x10: b\n", 0, 1, 2, `mapping key "16" is repeated`},
		{"an alias before its anchor", "a: *x\nb: &x 1\n", 0, 1, 0, "unknown anchor"},
		{"an alias into another document", "a: &x 1\n---\nb: *x\n", 1, 2, 3, "unknown anchor 'x'"},
		{"an anchor around its own alias", "a:\n  &x [*x]\n", 0, 1, 2, "contains itself"},
		{"a mapping inside a value on the first line", "d: x: y\n", 0, 1, 1, "mapping values are not allowed"},
		{"an escape that is none on the first line", "d: \"\\q\"\n", 0, 1, 1, "unknown escape"},
		{"a tab on the first line", "\ts: x\n", 0, 1, 1, "cannot start any token"},
		{"too many brackets on the first line", "{a: b}}\n", 1, 2, 1, "did not find expected <document start>"},
		{"a version that nobody knows", "%YAML 2.0\n---\na: b\n", 0, 1, 1, "incompatible"},
		{"a control character", "a: b\nc: \x01\n", 0, 1, 2, "control characters"},
		{"a control character on the first line", "a: \x7f\n", 0, 1, 1, "control characters"},
		{"a fault behind what 1.2 allows", "a: x\u2028y\nb: \"\\/\"\nc: [\n", 0, 1, 4, "did not find"},
		{"a byte that is no UTF-8", "a: b\n---\nc: \xfe\n", 0, 0, 0, "not UTF-8"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			docs, fault := Read([]byte(tc.text))
			if fault == nil {
				t.Fatalf("no fault, %d documents", len(docs))
			}
			if len(docs) != tc.read || fault.Number != tc.number || fault.Line != tc.line || !strings.Contains(fault.Detail, tc.detailContains) {
				t.Errorf("got %d documents, fault in document %d line %d: %s\nwant %d, document %d line %d: %s",
					len(docs), fault.Number, fault.Line, fault.Detail, tc.read, tc.number, tc.line, tc.detailContains)
			}
		})
	}
}

func TestTheYAMLOfTodayIsRead(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"the version in front", "%YAML 1.2\n---\na: b\n", `{"a":"b"}`},
		{"the version behind a comment, with one behind", "# c\n%YAML  1.2 # d\n---\na: b\n", `{"a":"b"}`},
		{"a version of every document", "%YAML 1.2\n---\na: b\n...\n%YAML 1.3\n---\nc: d\n", `{"a":"b"} {"c":"d"}`},
		{"what looks like a version is a text", "a: |\n  x\n  %YAML 1.2\nb: '%YAML 1.2'\n", `{"a":"x\u000a%YAML 1.2\u000a","b":"%YAML 1.2"}`},
		{"an escaped slash", `a: "x\/y"` + "\n", `{"a":"x/y"}`},
		{"an escaped slash in a key and a flow", `{"a\/": ["\/", "\\/", "\\\/"]}` + "\n", `{"a/":["/","\\/","\\/"]}`},
		{"a backslash and a slash elsewhere", "a: 'x\\/y'\nb: x\\/y\nc: |\n  \\/\n  \\\\/\nd: \"\\/\"\n# \\/\n", `{"a":"x\\/y","b":"x\\/y","c":"\\/\u000a\\\\/\u000a","d":"/"}`},
		{"a text of several lines", "a: \"b\n  c\\/d\"\n", `{"a":"b c/d"}`},
		{"a bare document behind the end of another", "a: b\n...\nc: d\n", `{"a":"b"} {"c":"d"}`},
		{"behind comments", "a: b\n... # e\n\n# c\nc: d\n...\n", `{"a":"b"} {"c":"d"}`},
		{"a marked one", "a: b\n...\n---\nc: d\n", `{"a":"b"} {"c":"d"}`},
		{"several ends", "a: b\n...\n...\nc: d\n", `{"a":"b"} {"c":"d"}`},
		{"with returns", "a: b\r\n...\r\nc: d\r\n", `{"a":"b"} {"c":"d"}`},
		{"what looks like an end is a text", "a: |\n  ...\n  b\n", `{"a":"...\u000ab\u000a"}`},
		{"a next line in a text", "a: 'x\u0085y'\nb: x\u0085y\nc: \"x\u0085y\"\n", "{\"a\":\"x\u0085y\",\"b\":\"x\u0085y\",\"c\":\"x\u0085y\"}"},
		{"line and paragraph separators in texts", "a: x\u2028y\nb: |\n  x\u2029y\nc\u2028d: e\n", "{\"a\":\"x\u2028y\",\"b\":\"x\u2029y\\u000a\",\"c\u2028d\":\"e\"}"},
		{"characters for private use stay", "a: x\u2028\U000F0000\U000F0001y\n", "{\"a\":\"x\u2028\U000F0000\U000F0001y\"}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			docs, fault := Read([]byte(tc.text))
			if fault != nil {
				t.Fatalf("line %d: %v", fault.Line, fault)
			}
			var got []string
			for _, d := range docs {
				if d.Root.Kind != Null {
					got = append(got, string(d.Root.Canonical()))
				}
			}
			if s := strings.Join(got, " "); s != tc.want {
				t.Errorf("got  %s\nwant %s", s, tc.want)
			}
		})
	}
}

func TestEmptyDocumentsCount(t *testing.T) {
	docs, fault := Read([]byte("---\n# nothing\n---\na: b\n---\n"))
	if fault != nil || len(docs) != 3 {
		t.Fatalf("got %d documents, %v, want 3", len(docs), fault)
	}
	if docs[0].Root.Kind != Null || docs[1].Root.Kind != Map || docs[1].Number != 2 || docs[2].Root.Kind != Null {
		t.Errorf("kinds %v %v %v, want null, map, null", docs[0].Root.Kind, docs[1].Root.Kind, docs[2].Root.Kind)
	}
	if docs, fault := Read(nil); fault != nil || len(docs) != 0 {
		t.Errorf("an empty file gives %d documents, %v", len(docs), fault)
	}
}

func TestCanonicalIgnoresOrderAndLayout(t *testing.T) {
	canonical := func(text string) string {
		docs, fault := Read([]byte(text))
		if fault != nil {
			t.Fatal(fault)
		}
		return string(docs[0].Root.Canonical())
	}
	if got, want := canonical("b: [1, 2.50, .inf, null]\n1: {d: yes, c: true}\n"), `{"1":{"c":true,"d":"yes"},"b":[1,2.5,".inf",null]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if a, b := canonical("{a: 1, b: 2} # x"), canonical("b: 2\na: 1"); a != b {
		t.Errorf("%s and %s differ", a, b)
	}
}

// With a tab the file is left to the parser of YAML.
func TestScalarsAreKeptAsTheyAreWritten(t *testing.T) {
	for _, tc := range []struct{ text, value, written string }{
		{"1.10", "1.1", "1.10"},
		{"0x1F", "31", "0x1F"},
		{"+5", "5", "+5"},
		{"1e3", "1000", "1e3"},
		{"True", "true", "True"},
		{"~", "", "~"},
		{".inf", ".inf", ".inf"},
		{"7", "7", "7"},
		{"007", "007", "007"},
		{"text", "text", "text"},
		{"'1.10'", "1.10", "1.10"},
		{`"a\x41"`, "aA", "aA"},
	} {
		for _, form := range []string{"k: %s\n", "k: %s # note\n", "k: %s\t\n", "k: [%s]\n", "%s : v\n", "%s: v\t\n"} {
			file := fmt.Sprintf(form, tc.text)
			docs, fault := Read([]byte(file))
			if fault != nil {
				t.Fatalf("%q: %v", file, fault)
			}
			e := docs[0].Root.Entries[0]
			n := e.Value
			switch {
			case n.Kind == List:
				n = n.Items[0]
			case form[0] == '%':
				n = e.Key
			}
			if n.Text != tc.value || n.Written() != tc.written {
				t.Errorf("%q: got %q, written %q, want %q, written %q", file, n.Text, n.Written(), tc.value, tc.written)
			}
		}
	}
}
