package engine

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/result"
)

// cost is what the evaluation of an event took.
type cost struct{ steps, allocated, results uint64 }

// costOf evaluates a line by the rules of a document.
func costOf(tb testing.TB, set *Set, line []byte) cost {
	tb.Helper()
	w := set.NewWorker()
	var ev Events
	var out result.Batch
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := w.DecodeJSON(&ev, line); err != nil {
		tb.Fatalf("%.200s: %v", line, err)
	}
	w.Evaluate(&ev, 0, 0, &out)
	runtime.ReadMemStats(&after)
	return cost{w.references.finder.Steps + w.machines.Steps(), after.TotalAlloc - before.TotalAlloc, uint64(out.Len())}
}

func setOf(tb testing.TB, yaml string, o Options) *Set {
	tb.Helper()
	c := load.FromBytes("r.yml", []byte(yaml), load.Options{})
	if len(c.Rejected) > 0 {
		tb.Fatalf("rejected: %+v", c.Rejected)
	}
	set, err := Compile(c.Rules, o)
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

// array is a JSON array of n texts in a format.
func array(n int, format string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, format, i)
	}
	return "[" + b.String() + "]"
}

// runs is a JSON array of texts of one letter, of every length up to n.
func runs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"%s"`, strings.Repeat("a", i+1))
	}
	return "[" + b.String()[1:] + "]"
}

func TestReferencesAndTemplatesCostWhatTheirValuesCost(t *testing.T) {
	const n = 4000
	a, b := array(n, `"left-%07d"`), array(n, `"right-%06d"`)
	objects := func(text string) string {
		return strings.ReplaceAll(strings.ReplaceAll(text, `"left`, `{"k":"left`), `",`, `"},`)
	}
	withObjects := func(text string) string { s := objects(text); return s[:len(s)-1] + "}]" }
	for _, tc := range []struct {
		name, item, event string
	}{
		{"equal texts", `{A|fieldref: B}`, `{"A":` + a + `,"B":` + b + `}`},
		{"equal texts by case", `{A|fieldref|cased: B}`, `{"A":` + a + `,"B":` + b + `}`},
		{"unlike texts", `{A|fieldref|neq: B}`, `{"A":` + a + `,"B":` + b + `}`},
		{"beginnings", `{A|fieldref|startswith: B}`, `{"A":` + a + `,"B":` + b + `}`},
		{"ends", `{A|fieldref|endswith: B}`, `{"A":` + a + `,"B":` + b + `}`},
		{"parts", `{A|fieldref|contains: B}`, `{"A":` + a + `,"B":` + b + `}`},
		{"parts of one letter", `{A|fieldref|contains: B}`, `{"A":` + runs(400) + `,"B":["b","ab","aab","aaab","` + strings.Repeat("a", 50_000) + `b"]}`},
		{"one value against many", `{A|fieldref|contains: B}`, `{"A":"` + strings.Repeat("ab", 50_000) + `","B":` + b + `}`},
		{"many values against one", `{A|fieldref|contains: B}`, `{"A":` + a + `,"B":"` + strings.Repeat("left-", 20_000) + `"}`},
		{"numbers", `{A|fieldref: B}`, `{"A":` + array(n, `1%d.5`) + `,"B":` + array(n, `2%d`) + `}`},
		{"objects", `{A|fieldref: B}`, `{"A":` + withObjects(a) + `,"B":` + strings.ReplaceAll(withObjects(a), "left", "l") + `}`},
		{"names that cross arrays", `{A.x|fieldref: B.y}`, `{"A":` + array(n, `{"x":"left-%d"}`) + `,"B":` + array(n, `{"y":"right-%d"}`) + `}`},
		{"a template of one name", `{A|expand: 'C:\%B%\x'}`, `{"A":` + a + `,"B":` + b + `}`},
		{"a template of two names", `{A|expand: '%B%-%C%'}`, `{"A":` + a + `,"B":` + b + `,"C":` + b + `}`},
		{"a template of three names", `{A|expand|contains: '%B%%C%%D%'}`, `{"A":` + a + `,"B":` + a + `,"C":` + b + `,"D":` + b + `}`},
		{"a template of six names", `{A|expand: '%B%%C%%B%%C%%B%%C%'}`, `{"A":` + a + `,"B":` + a + `,"C":` + b + `}`},
		{"neighbours of one letter", `{A|expand: '%B%%C%%D%x'}`, `{"A":"` + strings.Repeat("a", 200_000) + `","B":` + runs(400) + `,"C":` + runs(400) + `,"D":` + runs(400) + `}`},
		{"neighbours that are one array", `{A|expand|endswith: '%B%%B%%B%%B%x'}`, `{"A":"` + strings.Repeat("Aa", 100_000) + `","B":` + runs(600) + `}`},
		{"neighbours by case", `{A|expand|cased: '%B%%B%%B%x'}`, `{"A":"` + strings.Repeat("a", 200_000) + `","B":` + runs(600) + `}`},
		{"neighbours in each member", `{'A[any]|expand|startswith': '%B%%B%%B%x'}`, `{"A":` + runs(600) + `,"B":` + runs(600) + `}`},
		{"neighbours with empty texts", `{A|expand: '%B%%B%%B%x'}`, `{"A":` + runs(600) + `,"B":["","","",` + runs(600)[1:] + `}`},
		{"a template negated", `{A|expand|neq: '%B%%C%'}`, `{"A":` + a + `,"B":` + b + `,"C":` + b + `}`},
		{"a template of a long text and many", `{A|expand|endswith: '%B%%C%'}`, `{"A":` + a + `,"B":"` + strings.Repeat("x", 50_000) + `","C":` + b + `}`},
		{"a member of each array block", `{'A[any]|fieldref': B}`, `{"A":` + a + `,"B":` + b + `}`},
		{"parts in each member", `{'A[any]|fieldref|contains': B}`, `{"A":` + a + `,"B":` + b + `}`},
		{"no member", `{'A[none]|fieldref|endswith': B}`, `{"A":` + a + `,"B":` + b + `}`},
		{"a template in each member", `{'A[any].x|expand': '%B%%C%'}`, `{"A":` + array(n, `{"x":"left-%d"}`) + `,"B":` + b + `,"C":` + b + `}`},
		{"a long text in each member", `{'A[any]|expand': '%B%x'}`, `{"A":` + a + `,"B":"` + strings.Repeat("x", 50_000) + `"}`},
		{"two names of one array in each member", `{'A[all]': {'.|fieldref|neq': B, '.|fieldref|contains|cased': B}}`, `{"A":` + a + `,"B":` + b + `}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			set := setOf(t, "title: T\nsigma-version: 3\ndetection:\n  sel: "+tc.item+"\n  condition: sel\n", Options{})
			got := costOf(t, set, []byte(tc.event))
			size := uint64(len(tc.event))
			if limit := 60 * size; got.steps > limit {
				t.Errorf("%d steps for an event of %d bytes, want at most %d", got.steps, size, limit)
			}
			if limit := 1<<20 + 120*size; got.allocated > limit {
				t.Errorf("%d bytes allocated for an event of %d bytes, want at most %d", got.allocated, size, limit)
			}
			t.Logf("event of %d bytes: %+v", size, got)
		})
	}
}

func TestEveryCombinationOfATemplateCounts(t *testing.T) {
	set := setOf(t, "title: T\ndetection:\n  sel: {A|expand: '%B%-%C%'}\n  condition: sel\n", Options{})
	const n = 1000
	for _, want := range []string{"b0-c0", "b999-c999", "b500-c3"} {
		line := `{"A":"` + want + `","B":` + array(n, `"b%d"`) + `,"C":` + array(n, `"c%d"`) + `}`
		if got := costOf(t, set, []byte(line)); got.results != 1 {
			t.Errorf("%s of %d combinations: %d results, want 1", want, n*n, got.results)
		}
	}
	line := bytes.ReplaceAll([]byte(`{"A":"b1-c1000","B":`+array(n, `"b%d"`)+`,"C":`+array(n, `"c%d"`)+`}`), []byte(" "), nil)
	if got := costOf(t, set, line); got.results != 0 {
		t.Errorf("a text that is no combination: %d results, want none", got.results)
	}
}
