package engine_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/pipeline"
)

// loading returns the bytes that loading and compiling a file allocates, and what was
// loaded.
func loading(tb testing.TB, text string) (int, *load.Collection, *engine.Set) {
	tb.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := load.FromBytes("rules.yml", []byte(text), load.Options{})
	set, err := engine.Compile(c.Rules, engine.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc), c, set
}

// series joins what f makes of 0 to n-1.
func series(n int, between string, f func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = f(i)
	}
	return strings.Join(parts, between)
}

func list(n int, f func(i int) string) string { return "[" + series(n, ", ", f) + "]" }

// What a file costs to load must grow with its size, not with how often it names the
// same thing.
func TestLoadingCostsInProportionToTheFile(t *testing.T) {
	value := func(i int) string { return fmt.Sprintf("'value-%05d-x'", i) }
	template := "action: global\ndetection:\n  sel: {%s: " + list(2000, value) + "}\n  o: {x: 1}\n  condition: sel and o\n---\n"
	for _, tc := range []struct {
		name, text string
		rules      int
		factor     int // bytes allocated for a byte of the file, at most
	}{
		{"documents that a template makes", fmt.Sprintf(template, "C|contains") + series(3000, "---\n", func(i int) string { return fmt.Sprintf("title: T%d\n", i) }), 3000, 400},
		{"documents that add to a template", fmt.Sprintf(template, "a.b|endswith") + series(500, "---\n", func(i int) string {
			return fmt.Sprintf("title: T%d\ndetection: {y: {Z: %d}, condition: sel or y}\n", i, i)
		}), 500, 200},
		{"documents that repeat the one before", "title: T\ndetection: {sel: {C: " + list(2000, value) + "}, condition: sel}\n---\n" + series(1000, "---\n", func(i int) string { return fmt.Sprintf("action: repeat\ntitle: T%d\n", i) }), 1001, 300},
		{"tags and attributes of a template", "action: global\nmine: " + list(50, value) + "\ntags: " + list(50, value) + "\ndetection: {sel: {C: 1}, condition: sel}\n---\n" + series(3000, "---\n", func(i int) string { return fmt.Sprintf("title: T%d\n", i) }), 3000, 1200},
		{"a detection that a condition names often", "title: T\ndetection:\n  sel: {C|contains: " + list(3000, value) + "}\n  o: {x: 1}\n  condition: " + series(3000, " and ", func(int) string { return "(sel or o)" }) + "\n", 1, 100},
		{"a detection in ever other company", "title: T\ndetection:\n  sel: {C: " + list(3000, value) + "}\n" + series(1000, "\n", func(i int) string { return fmt.Sprintf("  o%d: {x: %d}", i, i) }) + "\n  condition: " + series(1000, " and ", func(i int) string { return fmt.Sprintf("(sel or o%d)", i) }) + "\n", 1, 100},
		{"a quantifier that is repeated", "title: T\ndetection:\n" + series(3000, "\n", func(i int) string { return fmt.Sprintf("  a%d: {C: v%d}", i, i) }) + "\n  condition: " + series(2000, " or ", func(i int) string { return fmt.Sprintf("(1 of a* and not a%d)", i) }) + "\n", 1, 200},
		{"many quantifiers over the same detections", "title: T\ndetection:\n" + series(300, "\n", func(i int) string { return fmt.Sprintf("  aaaaaaaa%d: {C: [v%d, w]}", i, i) }) + "\n  condition: " + series(800, " or ", func(i int) string { return fmt.Sprintf("%d of a%s*", 2+i/8, strings.Repeat("a", i%8)) }) + "\n", 1, 6000},
		{"conditions in a list", "title: T\ndetection:\n  sel: {C: " + list(1000, value) + "}\n  condition: " + list(1000, func(i int) string { return fmt.Sprintf("sel and not %d of sel*", i+1) }) + "\n", 1, 200},
		{"filters for all rules", series(300, "---\n", func(i int) string { return fmt.Sprintf("{title: R%d, detection: {s: {C: %d}, condition: s}}\n", i, i) }) + "---\n" + series(300, "---\n", func(i int) string {
			return fmt.Sprintf("{title: F%d, filter: {rules: any, s: {U: u%d}, condition: not s}}\n", i, i)
		}), 300, 400},
		{"filters for some rules", series(300, "---\n", func(i int) string {
			return fmt.Sprintf("{title: R%d, logsource: {product: p%d}, detection: {s: {C: %d}, condition: s}}\n", i, i%3, i)
		}) + "---\n" + series(300, "---\n", func(i int) string {
			return fmt.Sprintf("{title: F%d, logsource: {product: p%d}, filter: {rules: any, s: {U: u%d}, condition: not s}}\n", i, i%5, i)
		}), 300, 400},
		{"neq over many references", "title: T\ndetection: {s: {C|fieldref|neq: " + list(3000, value) + "}, condition: s}\n", 1, 300},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bytes, c, _ := loading(t, tc.text)
			for _, p := range c.Problems() {
				t.Fatal(p)
			}
			if len(c.Rules) != tc.rules {
				t.Errorf("got %d rules, want %d", len(c.Rules), tc.rules)
			}
			if most := tc.factor*len(tc.text) + 4<<20; bytes > most {
				t.Errorf("%d KB of rules allocate %d KB, want at most %d", len(tc.text)>>10, bytes>>10, most>>10)
			}
		})
	}
}

// A document that is too dear is rejected alone, and its message tells the cost.
func TestADocumentBeyondABudgetIsRejectedWithItsCost(t *testing.T) {
	rule := func(item string) string { return "detection:\n  s: {" + item + "}\n  condition: s\n" }
	many := func(name string, n int, v string) string {
		return series(n, "\n", func(i int) string { return fmt.Sprintf("  %s%d: {%s}", name, i, v) })
	}
	for _, tc := range []struct{ name, text, want string }{
		{"an item with too many values", rule("C: " + list(100_001, func(i int) string { return fmt.Sprint("v", i) })), "'C' has 100001 alternatives, the limit is 100000"},
		{"dashes and slashes that Base64 spells out", rule("'C|windash|base64offset': '-a /b -c -d -e /f /g'"), "has 234375 alternatives once 'base64offset|windash' is written out, the limit is 100000"},
		{"values that Base64 spells out", rule("'C|windash|base64': " + list(200, func(i int) string { return fmt.Sprintf("'-a%d -b -c -d'", i) })), "has 125000 alternatives"},
		{"items that are too many together", "detection:\n" + many("s", 11, "'C|windash|base64': "+list(150, func(i int) string { return fmt.Sprintf("'-a%d -b -c -d'", i) })) + "\n  condition: 1 of s*\n", "the document has 1031261 alternatives, the limit is 1000000"},
		{"quantifiers that look at too many detections", "detection:\n" + many("s", 1000, "a: 1") + "\n  condition: " + series(1100, " or ", func(i int) string { return fmt.Sprintf("1 of s*%d*", i) }) + "\n", "alternatives, the limit is 1000000"},
		{"quantifiers that count differently", "detection:\n" + many("s", 1200, "a: 1") + "\n  condition: " + series(1100, " or ", func(i int) string { return fmt.Sprintf("%d of s*", i+2) }) + "\n", "alternatives, the limit is 1000000"},
		{"a regex that repeats much", rule("'C|re': '(aaaaaaaaaaaaaaaaaaaabb){900}'"), "the regex of 'C' has 21600 instructions once its repetitions are written out, the limit is 20000"},
		{"a regex that repeats classes", rule(`'C|re': '([a-z][a-z][a-z][a-z][a-z][a-z][a-z][a-z][a-z][a-z][0-9]){0,999}[0-9]{1000}(?:x[a-z][a-z][a-z][a-z][a-z][a-z][a-z]){1000}'`), "instructions once"},
		{"a regex with many Unicode classes", rule(`'C|re': '` + strings.Repeat(`\pL`, 501) + `'`), "the regex of 'C' has 501 Unicode classes, the limit is 500"},
		{"a regex with many wide ranges", rule(`'C|re': '(?i)` + strings.Repeat(`[B-\x{1e942}]`, 65) + `'`), "has 65 ranges beyond ASCII, the limit is 64"},
		{"regexes that are too long together", "detection:\n" + many("s", 60, "'C|re': '(abcdefghijklmnopqr){900}'") + "\n  condition: 1 of s*\n", "the regexes of the document have 1008000 instructions, the limit is 1000000"},
		{"regexes with many classes together", "detection:\n" + many("s", 60, `'C|re': '`+strings.Repeat(`\pL`, 10)+`'`) + "\n  condition: 1 of s*\n", "a Unicode class counts as 2000"},
		{"regexes that take too long for an event", "detection:\n" + many("s", 60, "'C|re': '(a|b){450}a(a|b){449}c'") + "\n  condition: 1 of s*\n", "the regexes of the document may take 1200 steps for each byte of an event, the limit is 1000"},
		{"a regex that goes round from each character on", rule("'C|re': '^(?:" + strings.Repeat("a[ab]|b[bc]|", 60) + "x)*$'"), "steps for each byte of an event, the limit is 1000; what repeats a group without a limit takes most"},
		{"a regex of which each short value reaches all", rule("'C|re': '^(?:" + strings.Repeat("x?y?", 700) + ")$'"), "steps for each byte of an event, the limit is 1000"},
		{"a filter is a document, too", "filter:\n  rules: any\n  s: {'C|re': '(aaaaaaaaaaaaaaaaaaaabb){900}'}\n  condition: not s\n", "the regex of 'C' has"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			good := "title: Good\ndetection: {s: {a: 1}, condition: s}\n"
			bytes, c, _ := loading(t, good+"---\ntitle: Bad\n"+tc.text+"---\n"+good)
			if len(c.Rules) != 2 || len(c.Rejected) != 1 || c.Rejected[0].Title != "Bad" {
				t.Fatalf("got %d rules, %d rejected, want 2 and 1: %v", len(c.Rules), len(c.Rejected), c.Problems())
			}
			if got := c.Problems()[0]; !strings.Contains(got.Reason, tc.want) {
				t.Errorf("got %q, want %q", got.Reason, tc.want)
			}
			if most := 300*len(tc.text) + 24<<20; bytes > most {
				t.Errorf("%d KB of rules allocate %d KB before they are rejected, want at most %d", len(tc.text)>>10, bytes>>10, most>>10)
			}
		})
	}
}

// The documents that a template makes are as many as their file can pay for.
func TestATemplateMakesNoMoreThanItsFileCanPayFor(t *testing.T) {
	for _, tc := range []struct{ name, template, document, want string }{
		{"metadata that results carry", "tags: " + list(5000, func(i int) string { return fmt.Sprint("tag-", i) }) + "\ndetection: {s: {a: 1}, condition: s}\n", "title: T\n", "repeats"},
		{"an attribute", "mine: {x: [" + strings.Repeat("y", 400_000) + "]}\ndetection: {s: {a: 1}, condition: s}\n", "title: T\n", "repeats"},
		{"keys that overlays copy", "detection:\n  condition: 1 of s*\n" + series(3000, "", func(i int) string { return fmt.Sprintf("  s%d: {a: 1}\n", i) }), "title: T\ndetection: {x: {y: 1}}\n", "merges"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := "action: global\n" + tc.template + "---\n" + series(600, "---\n", func(int) string { return tc.document }) +
				"---\naction: reset\n---\ntitle: Last\ndetection: {s: {a: 1}, condition: s}\n"
			bytes, c, _ := loading(t, text)
			if len(c.Rules) < 100 || len(c.Rejected) < 100 || c.Rules[len(c.Rules)-1].Title != "Last" {
				t.Fatalf("got %d rules and %d rejected, want some of both and the last one", len(c.Rules), len(c.Rejected))
			}
			if got := c.Problems()[0].Reason; !strings.Contains(got, "'action' "+tc.want) {
				t.Errorf("got %q, want one that tells what 'action' %s", got, tc.want)
			}
			if most := 512 << 20; bytes > most {
				t.Errorf("%d KB of rules allocate %d KB", len(text)>>10, bytes>>10)
			}
		})
	}
}

// Conditions over the members of an array ask for a detection once for each member.
func TestConditionsInABlockAskForADetectionOnce(t *testing.T) {
	text := "title: T\nsigma-version: 3\ndetection:\n  s:\n    c[any]:\n      i: {p|re: '(x+x+)+y$'}\n      o: {q: 1}\n      condition: " +
		series(3000, " and ", func(i int) string { return "(i or o or i)" }) + "\n  condition: s\n"
	set := compile(t, rulesOf(t, text), engine.Options{})
	w := set.NewWorker()
	line := []byte(`{"c":[` + series(200, ",", func(i int) string { return fmt.Sprintf(`{"p":"%s","q":2}`, strings.Repeat("x", i%50)) }) + `]}`)
	allocs := testing.AllocsPerRun(3, func() {
		var ev engine.Events
		if err := w.DecodeJSON(&ev, line); err != nil {
			t.Fatal(err)
		}
		if len(titles(w, &ev)) != 0 {
			t.Error("fires")
		}
	})
	if most := 200 * 20.0; allocs > most {
		t.Errorf("%.0f allocations for 200 members, want at most %.0f", allocs, most)
	}
}

// What rules have in common they have in common behind pipelines, too.
func TestPipelinesKeepWhatRulesShare(t *testing.T) {
	set, err := pipeline.Load([]string{"ecs_windows"})
	if err != nil {
		t.Fatal(err)
	}
	for _, category := range []string{"process_creation", "none"} { // rewritten, and left alone
		text := "action: global\nlogsource: {product: windows, category: " + category + "}\ndetection:\n  s: {CommandLine|contains: " +
			list(500, func(i int) string { return fmt.Sprint("value-", i) }) + ", U: [1, 2]}\n  condition: s\n---\n" +
			series(200, "---\n", func(i int) string { return fmt.Sprintf("title: T%d\n", i) }) + "---\naction: reset\n---\n" +
			series(50, "---\n", func(i int) string {
				return fmt.Sprintf("{title: F%d, filter: {rules: any, s: {CommandLine: u%d, Image: x}, condition: not s}}\n", i, i)
			})
		c := load.FromBytes("r.yml", []byte(text), load.Options{Transform: set.Apply})
		if len(c.Rules) != 200 || len(c.Rejected) != 0 {
			t.Fatalf("%d rules, %v", len(c.Rules), c.Problems())
		}
		first := c.Rules[0]
		if got, want := first.Detections[0].Node.Items[0].Field == "process.command_line", category == "process_creation"; got != want {
			t.Errorf("%s: rewritten %t, want %t", category, got, want)
		}
		for _, r := range c.Rules[1:] {
			if &r.Detections[0] != &first.Detections[0] || &r.Filters[0] != &first.Filters[0] {
				t.Fatalf("%s: %s has trees of its own", category, r.Title)
			}
		}
	}
}
