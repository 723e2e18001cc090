package reference_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
)

// What loading and compiling may allocate: some for a start, so much for a byte of the
// file, and for an alternative that an encoding makes of it.
const (
	bytesAtOnce         = 32 << 20
	bytesPerByte        = 8_000
	bytesPerAlternative = 3_000
)

// hostile are files that cost much more than their size before costs were shared or
// bounded.
func hostile() []string {
	repeat := func(n int, between string, f func(i int) string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = f(i)
		}
		return strings.Join(parts, between)
	}
	value := func(i int) string { return fmt.Sprint("v", i) }
	return []string{
		"action: global\ndetection: {s: {C|contains: [" + repeat(200, ", ", value) + "]}, condition: s}\n---\n" + repeat(300, "---\n", func(int) string { return "title: T\n" }),
		"title: T\ndetection: {s: {C|windash|base64offset: ['-a -b -c -d']}, condition: s}\n",
		"title: T\ndetection: {s: {C: [" + repeat(200, ", ", value) + "]}, o: {x: 1}, condition: " + repeat(500, " and ", func(int) string { return "(s or o)" }) + "}\n",
		"title: T\ndetection:\n" + repeat(200, "\n", func(i int) string { return fmt.Sprintf("  a%d: {C: v%d}", i, i) }) + "\n  condition: " + repeat(300, " or ", func(i int) string { return fmt.Sprintf("%d of a*", i+2) }) + "\n",
		"title: T\ndetection: {s: {C|re: '(?i)(" + strings.Repeat("abcdefgh", 2) + `){999}[\pL\x{80}-\x{1e942}]+'}, condition: s}` + "\n",
		"title: T\ndetection: {s: {C|re: '" + strings.Repeat("[ab]c", 500) + "'}, condition: s}\n",
		repeat(60, "---\n", func(i int) string { return fmt.Sprintf("{title: T%d, detection: {s: {C: %d}, condition: s}}\n", i, i) }) + "---\n" +
			repeat(60, "---\n", func(i int) string {
				return fmt.Sprintf("{title: F%d, filter: {rules: any, s: {U: u%d}, condition: not s}}\n", i, i)
			}),
		"a: &a [x, x, x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\nd: &d [*c, *c, *c, *c]\ntitle: T\ndetection: {s: {C: *d}, condition: s}\n",
		"title: T\ndetection: {s: {C|endswith: [" + repeat(300, ", ", func(i int) string { return fmt.Sprint(i, ".some.example.com") }) + "]}, condition: s}\n",
		"title: T\nsigma-version: 3\ndetection: {s: {'c[any]': {i: {p: 1}, condition: " + repeat(300, " and ", func(int) string { return "i" }) + "}}, condition: s}\n",
		"title: T\ndetection: {s: " + strings.Repeat("[{a: 1}, ", 60) + "x" + strings.Repeat("]", 60) + ", condition: not not not s}\n",
	}
}

// Whatever a file says, loading it costs no more than its size and its budgets allow. The
// corpus has files of every family, and the most telling of what runs have found.
func FuzzLoadingStaysWithinItsBudget(f *testing.F) {
	for _, text := range hostile() {
		f.Add([]byte(text))
	}
	for seed := range uint64(10) {
		f.Add([]byte(RandomRules(seed, 3)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		const most = 16 << 10
		if len(text) > most {
			t.Skip()
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c := load.FromBytes("r.yml", text, load.Options{})
		c, err := c.Compiled(func(c *load.Collection) error {
			_, err := engine.Compile(c.Rules, engine.Options{})
			return err
		})
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, r := range c.Rules {
			n += alternativesOf(r)
		}
		got, want := int(after.TotalAlloc-before.TotalAlloc), bytesAtOnce+bytesPerByte*len(text)+bytesPerAlternative*n
		if got > want {
			t.Errorf("%d bytes of rules with %d alternatives allocate %d bytes, want at most %d", len(text), n, got, want)
		}
		for _, r := range c.Rejected {
			for _, p := range r.Problems {
				if strings.Contains(p.Reason, "no evaluator can be made") || strings.Contains(p.Reason, "cannot be processed") {
					t.Errorf("%v: the checks let it pass", p)
				}
			}
		}
	})
}

// alternativesOf counts the texts that encodings make of the values of a rule.
func alternativesOf(r *ast.Rule) int {
	n := 0
	for i := range r.Detections {
		r.Detections[i].Node.Walk(func(node *ast.Node) bool {
			for _, it := range node.Items {
				for _, v := range it.Values {
					made := 1
					if it.Modifiers.HasAny(ast.Base64Encodings) && it.Modifiers.Has(ast.Windash) {
						for range ast.DashPositions(v.Plain()) {
							made *= 5
						}
					}
					if it.Modifiers.Has(ast.Base64Offset) {
						made *= 3
					}
					n += made
				}
			}
			return true
		})
	}
	return n
}
