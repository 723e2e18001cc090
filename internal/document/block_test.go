package document

import (
	"io/fs"
	"reflect"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

// blockFiles are read without the parser, so they must be what it makes of them.
var blockFiles = []struct{ name, text string }{
	{"a rule", "title: A\nid: 1-2\ndetection:\n  sel:\n    - C|contains: 'x'\n      N: 5\n    - '*.exe'\n  condition: sel\nlevel: high\n"},
	{"a marker in front", "---\na: b\n"},
	{"comments everywhere", "# one\n\n---\n# two\na: b # three\n\n# four\nc: # five\n  - d # six\n  # seven\n  - 'e' # eight\n #nine\n"},
	{"a list as deep as its key", "a:\n- b\n- c: d\n  e:\n  - f\ng: h\n"},
	{"lists in lists", "x:\n  - - a\n    - b\n  -\n    - c\n  - d:\n      - e\n"},
	{"what is null", "a:\nb: ~\nc: null\nd:\n  -\n  - # nothing\n"},
	{"what is no text", "a: 1\nb: 0x1F\nc: 1e3\nd: true\ne: .inf\nf: 007\n1: x\ntrue: y\n2.50: z\n"},
	{"quotes", "a: 'it''s'\nb: \"q\\\"\\\\\\n\"\n'c d' : e\n\"f\": \"#g\"\nh: ''\n"},
	{"an escaped slash", "a: \"x\\/y\"\n\"b\\/\": c\n"},
	{"colons and hashes inside", "a: http://x:8/#y\nb: C:\\x\nc: -x\nd: a#b\n-k: v\n"},
	{"literal texts", "a: |\n  one\n\n   two \n  three\n\nb: |-\n\n    x\n    \nc: |+\n  y\n\n\nd: e\n"},
	{"folded texts", "a: >\n  one\n  two\n\n  three\n   four\n   five\n\n\n  six\nb: >-\n  x\n  y\n"},
	{"a folded text that ends the file", "a: >+\n  x\n\n\n"},
	{"letters beyond ASCII", "a: é – 日本\nбв: '\u00A0'\n"},
}

// leftFiles are for the parser: the reader of blocks must not try.
var leftFiles = []struct{ name, text string }{
	{"nothing", ""},
	{"no break at the end", "a: b"},
	{"a flow", "a: [b, c]\n"},
	{"a plain text of several lines", "a: b\n  c\n"},
	{"a quoted text of several lines", "a: 'b\n  c'\n"},
	{"an anchor", "a: &x b\n"},
	{"an alias", "a: *x\n"},
	{"a tag", "a: !!str 1\n"},
	{"a merge key", "<<: x\n"},
	{"a complex key", "? a\n: b\n"},
	{"a repeated key", "a: b\na: c\n"},
	{"two documents", "a: b\n---\nc: d\n"},
	{"the end of a document", "a: b\n...\n"},
	{"what is no mapping", "- a\n"},
	{"a directive", "%YAML 1.2\n---\na: b\n"},
	{"tabs", "a:\tb\n"},
	{"returns", "a: b\r\n"},
	{"a line break beyond ASCII", "a: b\u2028c\n"},
	{"a value with a colon", "a: b: c\n"},
	{"an indentation that fits nothing", "a:\n    b: c\n  d: e\n"},
	{"a list inside a mapping", "a: b\n- c\n"},
	{"an indentation that is told", "a: |2\n   b\n"},
	{"an empty line wider than the text", "a: |\n     \n  b\n"},
}

func wantAlike(t *testing.T, text string) (read bool) {
	t.Helper()
	got, ok := readBlock(text)
	if !ok {
		return false
	}
	docs, fault := parse([]byte(text))
	if fault != nil || len(docs) != 1 {
		t.Fatalf("%q is read as one document, the parser finds %d and %v", text, len(docs), fault)
	}
	if want := (Document{Number: 1, Root: got}); !reflect.DeepEqual(docs[0], want) {
		t.Fatalf("%q is read as %s, want %s (lines and kinds included)", text, got.Canonical(), docs[0].Root.Canonical())
	}
	return true
}

func TestBlocksAreReadAsTheParserDoes(t *testing.T) {
	for _, tc := range blockFiles {
		t.Run(tc.name, func(t *testing.T) {
			if !wantAlike(t, tc.text) {
				t.Error("left to the parser")
			}
		})
	}
	for _, tc := range leftFiles {
		t.Run(tc.name, func(t *testing.T) {
			if wantAlike(t, tc.text) {
				t.Error("read, want it left to the parser")
			}
		})
	}
}

func TestAlmostEveryRuleFileIsReadWithoutTheParser(t *testing.T) {
	files, read := 0, 0
	archive := sigmatest.RuleArchive(t)
	err := fs.WalkDir(archive, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(archive, name)
		if err != nil {
			return err
		}
		files++
		if wantAlike(t, string(data)) {
			read++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 || read < files*95/100 {
		t.Errorf("%d of %d files, want nearly all", read, files)
	}
}

func FuzzBlocksAreReadAsTheParserDoes(f *testing.F) {
	for _, tc := range blockFiles {
		f.Add(tc.text)
	}
	for _, tc := range leftFiles {
		f.Add(tc.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, fault := Read([]byte(text)); fault == nil || fault.Number > 0 { // valid UTF-8
			wantAlike(t, text)
		}
	})
}
