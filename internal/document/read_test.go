package document

import (
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
