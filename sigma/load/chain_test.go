package load

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/ast"
)

// randomGraph writes a few rules and correlations, some of them faulty, left out or
// excluded, with names that several carry.
func randomGraph(r *rand.Rand) string {
	n := 1 + r.IntN(9)
	free := r.IntN(3) > 0 // of cycles
	var b strings.Builder
	for i := range n {
		id, name := fmt.Sprint("i", i), fmt.Sprint("n", r.IntN(n))
		if r.IntN(8) == 0 {
			id = fmt.Sprint("i", r.IntN(n))
		}
		if r.IntN(2) == 0 {
			name = id
		}
		level := "high"
		if r.IntN(30) == 0 {
			level = "low"
		}
		fmt.Fprintf(&b, "---\ntitle: T%d%s\nid: %s\nname: %s\nlevel: %s\n", i, []string{"", "", "", "", "", "", " skip"}[r.IntN(7)], id, name, level)
		if i == 0 || r.IntN(4) == 0 {
			fmt.Fprintf(&b, "logsource: {product: p%d}\ndetection: {s: {C: %s}, condition: s}\n", r.IntN(3), []string{"x", "x", "x", "{a: b}"}[r.IntN(4)*min(i, 1)])
			continue
		}
		var refs []string
		for range 1 + r.IntN(3) {
			to := r.IntN(n)
			by := []string{"i", "i", "n"}[r.IntN(3)]
			if free {
				by, to = "i", r.IntN(max(i, 1))
			}
			refs = append(refs, fmt.Sprint(by, to))
		}
		cond := []string{"", "", "", "", "", ", condition: " + refs[0], ", condition: i0", ", condition: {gte: x}"}[r.IntN(8)]
		fmt.Fprintf(&b, "correlation: {type: temporal, rules: [%s], timespan: 5m%s}\n", strings.Join(refs, ", "), cond)
	}
	return b.String()
}

// collected reads a file up to the point at which correlations are resolved.
func collected(t *testing.T, text string, o Options) *collector {
	t.Helper()
	p, err := newParser(&o)
	if err != nil {
		t.Fatal(err)
	}
	f := p.whole(File{Name: "f.yml"}, []byte(text))
	c := &collector{opts: o}
	docs := f.documents()
	for i := range docs {
		d := docs[i].again(f.Name, f.root(i))
		if d.Excluded {
			c.excluded = append(c.excluded, d)
		} else {
			c.drafts = append(c.drafts, d)
		}
	}
	c.transformRules()
	return c
}

func TestResolvingIsAsThePlainWayWouldHaveIt(t *testing.T) {
	cyclic, chained := 0, 0
	for seed := range uint64(4000) {
		text := randomGraph(rand.New(rand.NewPCG(seed, 1)))
		load := func(resolve func(*collector)) (c *collector, logsources map[string][]string) {
			logsources = make(map[string][]string)
			skip := func(m *ast.Meta) error {
				if strings.HasSuffix(m.Title, "skip") {
					return fmt.Errorf("%s: %w", m.Title, ErrSkip)
				}
				return nil
			}
			c = collected(t, text, Options{
				MinLevel: ast.LevelMedium,
				Transform: func(r *ast.Rule) (*ast.Rule, Outcome, error) {
					out := *r
					out.Logsource.Service = "s"
					return &out, Outcome{}, skip(&r.Meta)
				},
				TransformCorrelation: func(k *ast.Correlation, below []ast.Logsource) (*ast.Correlation, Outcome, error) {
					for _, l := range below {
						logsources[k.Title] = append(logsources[k.Title], l.Product+"/"+l.Service)
					}
					slices.Sort(logsources[k.Title])
					logsources[k.Title] = slices.Compact(logsources[k.Title])
					return k, Outcome{}, skip(&k.Meta)
				},
			})
			resolve(c)
			return c, logsources
		}
		var p *plain
		want, wantSources := load(func(c *collector) { p = c.resolvePlainly() })
		got, gotSources := load(func(c *collector) { c.resolveCorrelations() })
		got.reject()
		var rejected []string
		for _, r := range got.out.Rejected {
			rejected = append(rejected, r.Title)
		}
		same := reflect.DeepEqual(gotSources, wantSources) && reflect.DeepEqual(got.out.Correlations, want.out.Correlations) &&
			slices.Equal(rejected, p.reject())
		for i, d := range got.drafts {
			same = same && reflect.DeepEqual(d.Problems, want.drafts[i].Problems) && reflect.DeepEqual(d.Warnings, want.drafts[i].Warnings)
		}
		if !same {
			for i, d := range got.drafts {
				t.Logf("%s\n got %v %v\nwant %v %v", d.Title, d.Problems, d.Warnings, want.drafts[i].Problems, want.drafts[i].Warnings)
			}
			t.Fatalf("seed %d: log sources %v and %v, rejected %q and %q\n%s", seed, gotSources, wantSources, rejected, p.reject(), text)
		}
		cyclic += len(p.cyclic)
		for _, k := range got.out.Correlations {
			chained += len(k.Members[0].Correlations)
		}
	}
	if cyclic < 500 || chained < 500 {
		t.Errorf("%d correlations on cycles and %d over others: the graphs show little", cyclic, chained)
	}
}

// refer writes a correlation.
func refer(b *strings.Builder, id, name string, refs ...string) {
	fmt.Fprintf(b, "---\n{title: T, id: %s, name: %s, correlation: {type: temporal, rules: [%s], timespan: 5m}}\n", id, name, strings.Join(refs, ", "))
}

func numbered(prefix string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint(prefix, i))
	}
	return out
}

// each writes n correlations c0, c1, .. with the references that refs gives.
func each(n int, refs func(i int) []string) string {
	var b strings.Builder
	for i := range n {
		refer(&b, fmt.Sprint("c", i), fmt.Sprint("m", i), refs(i)...)
	}
	return b.String()
}

// graphs are the forms that correlations can take, of about n references.
var graphs = []struct {
	name string
	file func(n int) string
}{
	{"a chain from below", func(n int) string {
		return each(n, func(i int) []string { return []string{[]string{"d", fmt.Sprint("c", i-1)}[min(i, 1)]} })
	}},
	{"a chain from above", func(n int) string {
		return each(n, func(i int) []string { return []string{[]string{"d", fmt.Sprint("c", i+1)}[min(n-1-i, 1)]} })
	}},
	{"a chain from above over what is not there", func(n int) string {
		return each(n, func(i int) []string { return []string{fmt.Sprint("c", i+1)} })
	}},
	{"a chain from below over what is not there", func(n int) string {
		return each(n, func(i int) []string { return []string{fmt.Sprint("c", i-1)} })
	}},
	{"a star of correlations", func(n int) string {
		var b strings.Builder
		refer(&b, "star", "star", numbered("c", n)...)
		return each(n, func(int) []string { return []string{"d"} }) + b.String()
	}},
	{"a star of rules by two names", func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "---\n{title: R, id: r%d, name: s%d, detection: {s: {a: b}, condition: s}}\n", i, i)
		}
		refer(&b, "star", "star", slices.Concat(numbered("r", n), numbered("s", n))...)
		return b.String()
	}},
	{"a star of what is not there", func(n int) string {
		var b strings.Builder
		refer(&b, "star", "star", numbered("x", n)...)
		return b.String()
	}},
	{"a centre that all refer to", func(n int) string {
		return each(n, func(i int) []string { return []string{[]string{"d", "c0"}[min(i, 1)]} })
	}},
	{"layers", func(n int) string { return layers(n, "d") }},
	{"layers over what is not there", func(n int) string { return layers(n, "nope") }},
	{"layers in a circle", func(n int) string { return layers(n, "") }},
	{"layers of one name each", func(n int) string {
		var b strings.Builder
		for i := range n {
			refer(&b, fmt.Sprint("c", i), fmt.Sprint("l", i*10/n), []string{"d", fmt.Sprint("l", i*10/n-1)}[min(i*10/n, 1)])
		}
		return b.String()
	}},
	{"one name for all", func(n int) string {
		var b strings.Builder
		for i := range n {
			refer(&b, fmt.Sprint("c", i), "x", "x")
		}
		return b.String()
	}},
	{"one big cycle", func(n int) string { return each(n, func(i int) []string { return []string{fmt.Sprint("c", (i+1)%n)} }) }},
	{"one big cycle backwards", func(n int) string {
		return each(n, func(i int) []string { return []string{fmt.Sprint("c", (i+n-1)%n)} })
	}},
	{"a chain of which all lead back", func(n int) string {
		return each(n, func(i int) []string { return []string{fmt.Sprint("c", (i+1)%n), "c0"} })
	}},
	{"many small cycles", func(n int) string {
		return each(n, func(i int) []string { return []string{fmt.Sprint("c", i^1)} })
	}},
	{"a chain of small cycles", func(n int) string {
		return each(n, func(i int) []string { return []string{fmt.Sprint("c", i^1), fmt.Sprint("c", i+1)} })
	}},
	{"each to itself", func(n int) string { return each(n, func(i int) []string { return []string{fmt.Sprint("c", i)} }) }},
}

// layers writes about n references: in layers of 20, all refer to all of the next one.
func layers(n int, bottom string) string {
	const width = 20
	count := max(n/(width*width), 2)
	return each(count*width, func(i int) []string {
		next := i/width + 1
		if next == count && bottom != "" {
			return []string{bottom}
		}
		var refs []string
		for k := range width {
			refs = append(refs, fmt.Sprint("c", next%count*width+k))
		}
		return refs
	})
}

func TestResolvingCostsWhatTheFileHas(t *testing.T) {
	sigmatest.Plainly(t)
	const rule = "{title: D, id: d, logsource: {product: p}, detection: {s: {a: b}, condition: s}}\n"
	through := Options{TransformCorrelation: func(c *ast.Correlation, _ []ast.Logsource) (*ast.Correlation, Outcome, error) {
		return c, Outcome{}, nil
	}}
	for _, tc := range graphs {
		for _, o := range []Options{{}, through} {
			t.Run(fmt.Sprintf("%s, with a pipeline: %v", tc.name, o.TransformCorrelation != nil), func(t *testing.T) {
				cost := func(n int) (allocated, told, size int) {
					text := rule + tc.file(n)
					c := collected(t, text, o)
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					g := c.resolveCorrelations()
					c.reject()
					runtime.ReadMemStats(&after)
					for _, p := range slices.Concat(c.out.Problems(), c.out.Warnings) {
						told += len(p.Reason)
					}
					edges := len(g.out)
					for _, out := range g.out {
						edges += len(out)
					}
					circling := 0
					for v := range g.nodes {
						if g.cyclic(v) {
							circling++
						}
					}
					if most := 12*edges + maxSearch*circling; g.steps > most {
						t.Errorf("%d steps for %d edges and %d correlations on cycles, want at most %d", g.steps, edges, circling, most)
					}
					return int(after.TotalAlloc - before.TotalAlloc), told, len(text)
				}
				n := 2000
				if strings.HasPrefix(tc.name, "a star of rules") {
					n = 20_000
				}
				allocated, told, size := cost(sigmatest.Rounds(n))
				if most := 1<<20 + 400*size; allocated > most {
					t.Errorf("%d bytes allocated for %d of rules, want at most %d", allocated, size, most)
				}
				if told > 10*size {
					t.Errorf("%d bytes told of %d of rules", told, size)
				}
			})
		}
	}
}

func TestALongCycleIsToldByItsBeginning(t *testing.T) {
	ring := func(n int) string { return graphs[13].file(n) }
	ten := "c0 -> c1 -> c2 -> c3 -> c4 -> c5 -> c6 -> c7 -> c8 -> c9 -> "
	for _, tc := range []struct{ name, file, title, want string }{
		{"ten are told", ring(10), "c5", ten + "c0"},
		{"of eleven there is one more", ring(11), "c5", ten + "(1 more) -> c0"},
		{"of a hundred all tell the same", ring(100), "c99", ten + "(90 more) -> c0"},
		{"of a thousand the first one", ring(1000), "c0", ten + "(990 more) -> c0"},
		{"and the last one", ring(1000), "c999", ten + "(990 more) -> c0"},
		{"and one in the middle", ring(1000), "c500", ten + "(990 more) -> c0"},
		{"a way back that is short", graphs[15].file(1000), "c600", ten + "(591 more) -> c0"},
		{"a way there that is short", each(1000, func(i int) []string {
			if i == 0 {
				return numbered("c", 1000)[1:]
			}
			return []string{fmt.Sprint("c", (i+1)%1000)}
		}), "c600", "c0 -> c600 -> c601 -> c602 -> c603 -> c604 -> c605 -> c606 -> c607 -> c608 -> (391 more) -> c0"},
		{"a long name is shortened", strings.ReplaceAll(ring(2), "c1", strings.Repeat("y", 200)), "c0", "c0 -> " + strings.Repeat("y", 100) + "... -> c0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, r := range FromBytes("f.yml", []byte(tc.file), Options{}).Rejected {
				if r.ID == tc.title {
					if got := r.Problems[0].Reason; got != "correlation cycle: "+tc.want {
						t.Errorf("got %q, want %q", got, tc.want)
					}
					return
				}
			}
			t.Error("it is not rejected")
		})
	}
}
