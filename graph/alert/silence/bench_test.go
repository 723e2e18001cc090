package silence

import (
	"fmt"
	"testing"
	"time"

	"github.com/sluicehq/sluice/graph"
)

// everyday is a result with five matched fields.
func everyday(tb testing.TB) *graph.Result {
	tb.Helper()
	return detection(tb, "rule-00007", "high", `{"field":"Image","value":"C:\\Windows\\cmd.exe"},{"field":"CommandLine","value":"cmd /c whoami"},`+
		`{"field":"User","value":"bo"},{"field":"SourceIp","value":"10.0.0.5"},{"field":"Port","value":443}`, `{"geo":{"city":"Oslo"}}`, "")
}

// spread adds n silences, filed under values of rules and of matched fields. None of them
// mutes everyday.
func spread(tb testing.TB, set *Set, n int) {
	tb.Helper()
	for i := range n {
		var matchers []string
		switch i % 4 {
		case 0:
			matchers = []string{fmt.Sprintf("rule = rule-%05d", i), "match.User = nobody"}
		case 1:
			matchers = []string{fmt.Sprint("match.User = user-", i), "level = high"}
		case 2:
			matchers = []string{fmt.Sprintf("match.SourceIp = 10.1.%d.%d", i/250, i%250), `rule =~ rule-\d+`}
		case 3:
			matchers = []string{fmt.Sprintf("match.Field%d = x", i), "rule = rule-00007"}
		}
		set.Add(silence(tb, fmt.Sprint(i), 0, 0, matchers...))
	}
}

var sets = []struct {
	name string
	fill func(tb testing.TB, set *Set)
}{
	{"1_silence", func(tb testing.TB, set *Set) { spread(tb, set, 1) }},
	{"10000_by_equality", func(tb testing.TB, set *Set) { spread(tb, set, 10_000) }},
	{"10000_by_equality_and_a_regex_of_all", func(tb testing.TB, set *Set) {
		spread(tb, set, 10_000)
		set.Add(silence(tb, "all", 0, 0, "rule =~ .*"))
	}},
	{"10000_by_equality_and_a_regex_of_all_but_here", func(tb testing.TB, set *Set) {
		spread(tb, set, 10_000)
		set.Add(silence(tb, "all", 0, 0, "rule =~ .*", "match.User != bo"))
	}},
	{"10000_of_one_rule", func(tb testing.TB, set *Set) {
		for i := range 10_000 {
			set.Add(silence(tb, fmt.Sprint(i), 0, 0, "rule = rule-00007", fmt.Sprint("match.User = user-", i)))
		}
	}},
	{"10000_pending", func(tb testing.TB, set *Set) {
		for i := range 10_000 {
			set.Add(silence(tb, fmt.Sprint(i), 1<<40, 0, "rule = rule-00007"))
		}
	}},
	{"1000_regex", func(tb testing.TB, set *Set) {
		for i := range 1000 {
			set.Add(silence(tb, fmt.Sprint(i), 0, 0, fmt.Sprintf("match.CommandLine =~ .*tool-%d.*", i)))
		}
	}},
	{"1000_of_one_regex", func(tb testing.TB, set *Set) {
		for i := range 1000 {
			set.Add(silence(tb, fmt.Sprint(i), 0, 0, "match.CommandLine =~ .*whoami.*", fmt.Sprint("match.User !~ b.|user-", i)))
		}
	}},
	{"10000_enrichments", func(tb testing.TB, set *Set) {
		for i := range 10_000 {
			set.Add(silence(tb, fmt.Sprint(i), 0, 0, fmt.Sprintf("enrichment.e%d = x", i)))
		}
	}},
}

// The metric ratio compares with one silence.
func BenchmarkMutes(b *testing.B) {
	r := everyday(b)
	measure := func(set *Set) time.Duration {
		start := time.Now()
		for range 1000 {
			set.Mutes(r, 100)
		}
		return time.Since(start)
	}
	one := NewSet()
	sets[0].fill(b, one)
	for _, s := range sets {
		b.Run(s.name, func(b *testing.B) {
			set := NewSet()
			s.fill(b, set)
			measure(one)
			least, base := time.Hour, time.Hour
			for range 5 {
				least, base = min(least, measure(set)), min(base, measure(one))
			}
			b.ReportAllocs()
			for b.Loop() {
				set.Mutes(r, 100)
			}
			b.ReportMetric(float64(least)/float64(base), "ratio")
		})
	}
}

func BenchmarkNothingExpires(b *testing.B) {
	set := NewSet()
	for i := range 10_000 {
		set.Add(silence(b, fmt.Sprint(i), int64(i), 1<<40, "rule = r"))
	}
	b.ReportAllocs()
	for b.Loop() {
		if set.Expire(20_000) != nil {
			b.Fatal("something expired")
		}
	}
}
