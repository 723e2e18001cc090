package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/packed"
	"github.com/sluicehq/sluice/sigma/result"
)

func mustCompile(tb testing.TB, rules []*sigma.Rule, o Options) *Set {
	tb.Helper()
	s, err := Compile(rules, o)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func mustRestore(tb testing.TB, s *Set, rules []*sigma.Rule, o Options) *Set {
	tb.Helper()
	restored, err := Restore(rules, o, string(s.AppendCompiled(nil)))
	if err != nil {
		tb.Fatal(err)
	}
	return restored
}

// caseRules are the rules of the cases, which have all that Sigma knows.
func caseRules(tb testing.TB) []*sigma.Rule {
	tb.Helper()
	var rules []*sigma.Rule
	for _, c := range sigmatest.Cases() {
		rules = append(rules, load.FromBytes("case.yml", []byte(c.Rules), load.Options{}).Rules...)
	}
	return rules
}

func corpus(tb testing.TB) []*sigma.Rule {
	tb.Helper()
	c, err := load.Load(tb.Context(), []string{sigmatest.RuleDir(tb, "rules")}, load.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return c.Rules
}

func TestARestoredSetIsWhatCompilingGives(t *testing.T) {
	rules := append(corpus(t), caseRules(t)...)
	for _, o := range []Options{{}, {MatchDetail: result.Full, Routing: DefaultRouting(), TimestampFields: []string{"at"}, IncludeEvent: true}} {
		fresh := mustCompile(t, rules, o)
		restored := mustRestore(t, fresh, rules, o)
		for _, part := range []struct {
			name      string
			got, want any
		}{
			{"options", restored.options, fresh.options},
			{"handles", restored.handles, fresh.handles},
			{"include", restored.include, fresh.include},
			{"settled", restored.constant, fresh.constant},
			{"matchers", restored.matchers, fresh.matchers},
			{"early", restored.earlyWords, fresh.earlyWords},
			{"times", restored.times, fresh.times},
			{"routes", restored.routes, fresh.routes},
		} {
			if !reflect.DeepEqual(part.got, part.want) {
				t.Errorf("detail %s: %s came back otherwise", o.MatchDetail, part.name)
			}
		}
		if !bytes.Equal(restored.AppendCompiled(nil), fresh.AppendCompiled(nil)) {
			t.Errorf("detail %s: a restored set is stored otherwise", o.MatchDetail)
		}
	}
}

// Routes get matchers of their own on the way, as in a fresh set.
func TestARestoredSetAnswersAsAFreshOne(t *testing.T) {
	rules := corpus(t)
	o := Options{Routing: DefaultRouting(), MatchDetail: result.Full}
	fresh := mustCompile(t, rules, o)
	restored := mustRestore(t, fresh, rules, o)
	fresh.indexes.after, restored.indexes.after = 10, 10
	a, b := fresh.NewWorker(), restored.NewWorker()
	found := 0
	for _, lane := range sigmatest.Lanes() {
		lines := sigmatest.Lane(t, lane)
		lines = lines[:min(len(lines), 500)]
		want, got := laneResults(t, a, lines), laneResults(t, b, lines)
		found += bytes.Count(want, []byte("\n"))
		if !bytes.Equal(got, want) {
			t.Errorf("%s: results differ: got %d bytes, want %d", lane, len(got), len(want))
		}
	}
	if found == 0 || len(restored.indexes.slots) == 0 {
		t.Errorf("%d results, %d focuses: nothing was compared", found, len(restored.indexes.slots))
	}
}

func TestARestoredSetAnswersForEveryKindOfRule(t *testing.T) {
	rules := caseRules(t)
	o := Options{MatchDetail: result.Summary}
	fresh := mustCompile(t, rules, o)
	g := sigmatest.NewGenerator(7, rules)
	var lines [][]byte
	for range 2000 {
		if line := g.Event(); json.Valid(line) {
			lines = append(lines, line)
		}
	}
	want, got := laneResults(t, fresh.NewWorker(), lines), laneResults(t, mustRestore(t, fresh, rules, o).NewWorker(), lines)
	if !bytes.Equal(got, want) || len(want) == 0 {
		t.Errorf("results differ: got %d bytes, want %d", len(got), len(want))
	}
}

func TestWhatIsNotRestored(t *testing.T) {
	rules := caseRules(t)
	data := string(mustCompile(t, rules, Options{}).AppendCompiled(nil))
	for _, tc := range []struct {
		name  string
		rules []*sigma.Rule
		o     Options
		data  string
		want  error
	}{
		{"the same", rules, Options{}, data, nil},
		{"options that only results depend on", rules, Options{IncludeEvent: true, ResultTime: true}, data, nil},
		{"another detail", rules, Options{MatchDetail: result.Full}, data, ErrOtherOptions},
		{"a field that callers ask for", rules, Options{Fields: []string{"x"}}, data, ErrOtherOptions},
		{"a field of time", rules, Options{TimestampFields: []string{"x"}}, data, ErrOtherOptions},
		{"routing", rules, Options{Routing: DefaultRouting()}, data, ErrOtherOptions},
		{"other rules", rules[1:], Options{}, data, ErrOtherOptions},
		{"nothing", rules, Options{}, "", packed.ErrDamaged},
		{"more than was written", rules, Options{}, data + "x", packed.ErrDamaged},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := Restore(tc.rules, tc.o, tc.data); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
	for n := 0; n < len(data); n += 61 { // all of them would take minutes
		if _, err := Restore(rules, Options{}, data[:n]); !errors.Is(err, packed.ErrDamaged) && !errors.Is(err, ErrOtherOptions) {
			t.Fatalf("the first %d of %d bytes: %v, want an error", n, len(data), err)
		}
	}
}

// Whatever is restored is either refused or judges without harm.
func FuzzRestore(f *testing.F) {
	rules := caseRules(f)
	var one [][]*sigma.Rule
	for i := range rules {
		one = append(one, rules[i:i+1])
		f.Add(uint16(i), mustCompile(f, one[i], Options{}).AppendCompiled(nil))
	}
	g := sigmatest.NewGenerator(7, rules)
	var lines [][]byte
	for range 20 {
		lines = append(lines, g.Event())
	}
	f.Fuzz(func(t *testing.T, which uint16, data []byte) {
		set, err := Restore(one[int(which)%len(one)], Options{}, string(data))
		if err != nil {
			return
		}
		w := set.NewWorker()
		var events Events
		var batch result.Batch
		for i, line := range lines {
			if w.DecodeJSON(&events, line) == nil {
				w.Evaluate(&events, events.Len()-1, int64(i), &batch)
			}
		}
	})
}
