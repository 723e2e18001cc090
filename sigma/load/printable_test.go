package load

import (
	"strings"
	"testing"
	"unicode"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/load/internal/check"
)

// A rule file must not steer the terminal that its problems are printed on.
func TestProblemsPrintNoControlCharacters(t *testing.T) {
	const esc = `"\e[2J\a\u202e\u2028\x00x\r\n"`
	for _, tc := range []struct{ name, text string }{
		{"a value", "title: T\ndetection: {s: {a|cidr: " + esc + "}, condition: s}\n"},
		{"a modifier", "title: T\ndetection: {s: {? \"a|\\e[2J\" : 1}, condition: s}\n"},
		{"a key", "title: T\nid: " + esc + "\ndetection: {s: {" + esc + ": {}}, condition: t}\n"},
		{"a title", "title: " + esc + "\ndetection: {condition: " + esc + "}\n"},
		{"a warning", "title: T\nstatus: " + esc + "\nlevel: " + esc + "\ndetection: {s: {a|exists: " + esc + "}, condition: s}\n"},
		{"a name of a detection", "title: T\ndetection: {s: {a: 1}, condition: [s, " + esc + "]}\n"},
		{"an action", "action: " + esc + "\n"},
		{"broken YAML", "a: [\x1b[2J\n"},
		{"an unknown reference", "title: T\ncorrelation: {type: event_count, rules: [" + esc + "], group-by: [a], timespan: 1m, condition: {gte: 1}}\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := FromBytes("a\x1b[2Jb.yml", []byte(tc.text), Options{})
			all := append(c.Problems(), c.Warnings...)
			if len(all) == 0 {
				t.Fatal("nothing is told")
			}
			for _, p := range all {
				for _, s := range []string{p.Error(), p.Reason} {
					if i := strings.IndexFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == '\u202e' || r == '\u2028' }); i >= 0 {
						t.Errorf("%q has a control character", s)
					}
				}
			}
		})
	}
}

func TestAReasonStaysReadable(t *testing.T) {
	c := FromBytes("r.yml", []byte("title: T\ndetection: {s: {a|cidr: '"+strings.Repeat("é", 1<<20)+"'}, condition: s}\n"), Options{})
	if got := c.Problems()[0].Reason; len(got) > 2*maxReason || !strings.Contains(got, "bytes in all") {
		t.Errorf("a reason of %d bytes, want it cut", len(got))
	}
	if got := ast.Printable("plain – text"); got != "plain – text" {
		t.Errorf("got %q", got)
	}
}

func TestADocumentTellsItsFirstProblems(t *testing.T) {
	c := FromBytes("r.yml", []byte("title: T\ndetection:\n  s:\n"+strings.Repeat("    - {a|cidr: x, b|foo: y}\n", 500)+"  condition: s\n"), Options{})
	if got := len(c.Problems()); got != check.MaxProblems+1 {
		t.Errorf("got %d problems, want %d and one that says so", got, check.MaxProblems)
	}
}
