package compile

import (
	"io/fs"
	"reflect"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/packed"
	"github.com/sluicehq/sluice/sigma/result"
)

// every rule of the corpus, and those of the cases, which have what it lacks.
func everyRule(tb testing.TB) []*sigma.Rule {
	tb.Helper()
	rules := caseRules(tb)
	for _, dir := range []string{"rules", "rules-placeholder"} {
		sub, err := fs.Sub(sigmatest.RuleArchive(tb), dir)
		if err != nil {
			tb.Fatal(err)
		}
		c, err := load.FromFS(sub, load.Options{})
		if err != nil {
			tb.Fatal(err)
		}
		rules = append(rules, c.Rules...)
	}
	return rules
}

func caseRules(tb testing.TB) []*sigma.Rule {
	tb.Helper()
	var rules []*sigma.Rule
	for _, c := range sigmatest.Cases() {
		rules = append(rules, load.FromBytes("case.yml", []byte(c.Rules), load.Options{}).Rules...)
	}
	if len(rules) == 0 {
		tb.Fatal("the cases have no rules")
	}
	return rules
}

func read(tb testing.TB, data string) *Plan {
	tb.Helper()
	r := packed.NewReader(data)
	p := Read(r)
	if err := r.End(); err != nil {
		tb.Fatal(err)
	}
	return p
}

func TestAPlanComesBackAsItWas(t *testing.T) {
	rules := everyRule(t)
	for _, detail := range []result.Detail{result.Off, result.Full} {
		want := Build(rules, Options{Detail: detail, Names: []string{"@timestamp", "a.b"}})
		data := want.Append(nil)
		got := read(t, string(data))
		if string(got.Append(nil)) != string(data) {
			t.Error("a plan that was read and never asked is written otherwise")
		}
		for i := range want.trees {
			if g, w := got.Rule(uint32(i)), want.Rule(uint32(i)); !reflect.DeepEqual(g, w) {
				t.Fatalf("rule %s: got %+v, want %+v", rules[i].Title, g, w)
			}
		}
		if string(got.Append(nil)) != string(data) {
			t.Error("a plan that was read and asked is written otherwise")
		}
		for _, part := range []struct {
			name      string
			got, want any
		}{
			{"fields", got.Fields, want.Fields},
			{"predicates", got.Preds, want.Preds},
			{"code", got.Code, want.Code},
			{"programs", got.Programs, want.Programs},
			{"tests", got.Tests, want.Tests},
			{"branches", got.Branches, want.Branches},
			{"wakes", got.Candidates, want.Candidates},
			{"starts of wakes", got.CandidateStart, want.CandidateStart},
			{"always", got.Always, want.Always},
			{"machines", got.Machines, want.Machines},
		} {
			if !reflect.DeepEqual(part.got, part.want) {
				t.Errorf("detail %s: %s came back otherwise", detail, part.name)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	rules := caseRules(f)
	for _, r := range rules {
		f.Add(Build([]*sigma.Rule{r}, Options{Detail: result.Full}).Append(nil))
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		r := packed.NewReader(string(data))
		p := Read(r)
		if r.End() != nil {
			return
		}
		for i := range p.trees {
			p.Rule(uint32(i))
		}
		p.Needed(make([]uint64, (len(p.trees)+63)/64))
	})
}

func BenchmarkRead(b *testing.B) {
	data := string(Build(everyRule(b), Options{}).Append(nil))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		read(b, data)
	}
}
