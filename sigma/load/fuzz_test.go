package load

import (
	"testing"

	"github.com/sluicehq/sluice/sigma/ast"
)

// No file ends the process, every rejected document has a reason, and every
// usable one survives being stored.
func FuzzFromBytes(f *testing.F) {
	for _, s := range []string{
		item("{a|contains|all: [b, 'c*']}"),
		"sigma-version: 3\n" + item("{'a[any].b': {condition: x and 1 of y*, x: {c: 1}, y1: [d]}}"),
		login + corr(""),
		filtered + "title: F\nfilter: {rules: any, s: {U: x}, condition: not s}",
		"action: global\nlevel: high\n---\n" + item("[x, {y: z}]") + "---\naction: repeat\ntitle: U\n",
		"a: &a [*a]", "a: &a {b: *a}", "? {a: b}\n: c", "title: \xff", "\xef\xbb\xbf%YAML 1.2\n---\n!!map {a: !!int b}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := FromBytes("f.yml", data, Options{})
		for _, r := range c.Rejected {
			if len(r.Problems) == 0 {
				t.Errorf("rejected without a problem: %+v", r)
			}
		}
		for _, r := range c.Rules {
			wantRoundTrip(t, r)
			if problems, _ := Check(r); len(problems) > 0 {
				t.Errorf("loaded, but %v", problems)
			}
		}
		for _, r := range c.Correlations {
			wantRoundTrip[ast.Correlation](t, r)
		}
		if again := FromBytes("f.yml", data, Options{}); again.NewlyRejected(c) != nil {
			t.Errorf("the same bytes are newly rejected: %+v", again.NewlyRejected(c))
		}
	})
}
