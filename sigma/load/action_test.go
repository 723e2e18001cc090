package load

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

// Templates may multiply in proportion to their file: a file of many collections can
// pay for each of them, however many there are.
func TestAFileOfManyCollectionsCanPayForEach(t *testing.T) {
	sigmatest.Plainly(t)
	const rule = "title: T\n"
	const keys = "status: test\nlevel: low\nauthor: A\ndate: D\nmodified: M\nlicense: L\nname: n\nlogsource: {product: p}\ntaxonomy: t\none: 1\ntwo: 2\nthree: 3\n"
	const sel = "detection: {s: {a: 1}, condition: s}\n"
	words := func(n int) string { return strings.Repeat("some words, ", n/12) }
	for _, tc := range []struct {
		name, template, document, between string
		collections, documents            int
	}{
		{"many keys, with a reset between", keys + sel, rule, "---\naction: reset\n", 2500, 10},
		{"many keys, where one template replaces the other", keys + sel, rule, "", 2500, 10},
		{"documents that add to the detection", "detection: {s: {a: 1}, t: {a: 2}, u: {a: 3}, v: {a: 4}, w: {a: 5}, x: {a: 6}, y: {a: 7}, z: {a: 8}, condition: s}\n", "title: T\ndetection: {o: {b: 1}, p: {c: 1}}\n", "---\naction: reset\n", 2500, 13},
		{"documents that repeat the one before", keys + "title: T\n" + sel, "action: repeat\nlevel: high\n", "---\naction: reset\n", 1500, 9},
		{"long attributes", sel + "note: " + words(4000) + "\n", rule, "---\naction: reset\n", 1500, 12},
		{"long descriptions", sel + "description: " + words(12_000) + "\n", rule, "---\naction: reset\n", 100, 60},
		{"long descriptions for many", sel + "description: " + words(12_000) + "\n", rule, "---\naction: reset\n", 1, 6000},
		{"lists of references for many", sel + "references: [" + words(12_000) + "]\n", rule, "---\naction: reset\n", 1, 6000},
		{"filters", "filter: {rules: any, s: {a: 1}, condition: s, t: {b: 1}, u: {c: 1}}\n" + keys, rule, "---\naction: reset\n", 2500, 12},
		{"correlations", keys + "correlation: {type: event_count, rules: [none], timespan: 1m, condition: {gte: 1}, group-by: [a]}\n", rule, "---\naction: reset\n", 2500, 10},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var b strings.Builder
			collections := sigmatest.Rounds(tc.collections)
			want := collections * tc.documents
			for range collections {
				if b.Len() > 0 {
					b.WriteString(tc.between + "---\n")
				}
				b.WriteString("action: global\n" + tc.template)
				if strings.HasPrefix(tc.document, "action: repeat") {
					b.WriteString("---\nauthor: B\n")
					want++
				}
				for range tc.documents {
					b.WriteString("---\n" + tc.document)
				}
			}
			c := FromBytes("f.yml", []byte(b.String()), Options{})
			for _, p := range c.Problems() {
				if strings.Contains(p.Reason, "'action'") {
					t.Fatalf("%d bytes: %v", b.Len(), p)
				}
			}
			if got := len(c.Rules) + c.Filters + len(c.Rejected); got != want {
				t.Errorf("got %d documents, want %d: %v", got, want, c.Problems())
			}
		})
	}
}

// What was rejected is told apart by digests, of which shared parts have one.
func TestRejectedDocumentsOfATemplateCostNoMoreThanTheirFile(t *testing.T) {
	for _, tc := range []struct{ name, template string }{
		{"a long text", "mine: " + strings.Repeat("x", 400_000) + "\n"},
		{"a text that aliases repeat", "x: &x " + strings.Repeat("x", 20_000) + "\nmine: [" + strings.Repeat("*x, ", 200) + "]\n"},
		{"a long text in a description", "description: " + strings.Repeat("x", 400_000) + "\n"},
		{"many values", "detection: {s: {a: [" + strings.Repeat("x, ", 100_000) + "x]}, condition: t}\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := "action: global\n" + tc.template + strings.Repeat("---\ntitle: T\n", 1000)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			c := FromBytes("f.yml", []byte(text), Options{})
			runtime.ReadMemStats(&after)
			if len(c.Rejected) != 1000 {
				t.Fatalf("got %d rejected, want all", len(c.Rejected))
			}
			if got, most := int(after.TotalAlloc-before.TotalAlloc)>>10, (300*len(text)+64<<20)>>10; got > most {
				t.Errorf("%d KB of rules allocate %d KB, want at most %d", len(text)>>10, got, most)
			}
		})
	}
}

// What a hostile file makes of templates is in proportion to its size, too.
func TestTemplatesMultiplyInProportionToTheirFile(t *testing.T) {
	sigmatest.Plainly(t)
	many := func(n int, what string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = fmt.Sprintf(what, i)
		}
		return strings.Join(parts, ", ")
	}
	for _, tc := range []struct {
		name, template, document string
		collections              int
	}{
		{"many attributes", "mine: {" + many(2000, "k%d: 1") + "}\ndetection: {s: {a: 1}, condition: s}\n", "title: T\n", 1},
		{"many tags, in several collections", "tags: [" + many(2000, "t%d") + "]\ndetection: {s: {a: 1}, condition: s}\n", "title: T\n", 3},
		{"many detections", "detection: {" + many(2000, "s%d: {a: 1}") + ", condition: 1 of s*}\n", "title: T\ndetection: {x: {y: 1}}\n", 1},
		{"many detections, in several collections", "detection: {" + many(2000, "s%d: {a: 1}") + ", condition: 1 of s*}\n", "title: T\ndetection: {x: {y: 1}}\n", 3},
		{"many keys of the document", strings.ReplaceAll(many(2000, "k%d: 1"), ", ", "\n") + "\ndetection: {s: {a: 1}, condition: s}\n", "title: T\n", 1},
		{"a text that aliases repeat", "x: &x " + strings.Repeat("x", 20_000) + "\nmine: [" + strings.Repeat("*x, ", 200) + "]\ndetection: {s: {a: 1}, condition: s}\n", "title: T\n", 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			one := "action: global\n" + tc.template + strings.Repeat("---\n"+tc.document, 3000/tc.collections)
			text := strings.Repeat(one+"---\naction: reset\n---\n", tc.collections) + "title: Last\ndetection: {s: {a: 1}, condition: s}\n"
			c := FromBytes("f.yml", []byte(text), Options{})
			if len(c.Rules) < 10 || len(c.Rejected) < 500 || c.Rules[len(c.Rules)-1].Title != "Last" {
				t.Fatalf("got %d rules and %d rejected, want some, most, and the last one", len(c.Rules), len(c.Rejected))
			}
			if got := c.Problems()[0].Reason; !strings.Contains(got, "the limit for its size is") {
				t.Errorf("got %q, want the limit", got)
			}
		})
	}
}
