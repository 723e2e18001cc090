package silence

import (
	"fmt"
	"strings"
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

// spread is the matchers of n silences, filed under values of rules and of matched fields.
// None of them mutes everyday.
func spread(n int) (all [][]string) {
	for i := range n {
		switch i % 4 {
		case 0:
			all = append(all, []string{fmt.Sprintf("rule = rule-%05d", i), "match.User = nobody"})
		case 1:
			all = append(all, []string{fmt.Sprint("match.User = user-", i), "level = high"})
		case 2:
			all = append(all, []string{fmt.Sprintf("match.SourceIp = 10.1.%d.%d", i/250, i%250), `rule =~ rule-\d+`})
		case 3:
			all = append(all, []string{fmt.Sprintf("match.Field%d = x", i), "rule = rule-00007"})
		}
	}
	return all
}

// times is the matchers of n silences, in which %d is the number of the silence.
func times(n int, matchers ...string) (all [][]string) {
	for i := range n {
		var one []string
		for _, m := range matchers {
			one = append(one, strings.ReplaceAll(m, "%d", fmt.Sprint(i)))
		}
		all = append(all, one)
	}
	return all
}

var sets = []struct {
	name     string
	starts   int64
	matchers [][]string
}{
	{"1_silence", 0, spread(1)},
	{"10000_by_equality", 0, spread(10_000)},
	{"10000_by_equality_and_a_regex_of_all", 0, append(spread(10_000), []string{"rule =~ .*"})},
	{"10000_by_equality_and_a_regex_of_all_but_here", 0, append(spread(10_000), []string{"rule =~ .*", "match.User != bo"})},
	{"10000_of_one_rule", 0, times(10_000, "rule = rule-00007", "match.User = user-%d")},
	{"10000_pending", 1 << 40, times(10_000, "rule = rule-00007")},
	{"1000_regex", 0, times(1000, "match.CommandLine =~ .*tool-%d.*")},
	{"1000_of_one_regex", 0, times(1000, "match.CommandLine =~ .*whoami.*", "match.User !~ b.|user-%d")},
	{"10000_enrichments", 0, times(10_000, "enrichment.e%d = x")},
}

func filled(tb testing.TB, starts int64, matchers [][]string) *Set {
	tb.Helper()
	set := NewSet()
	for i, m := range matchers {
		set.Add(silence(tb, fmt.Sprint(i), starts, 0, m...))
	}
	return set
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
	one := filled(b, 0, sets[0].matchers)
	for _, s := range sets {
		b.Run(s.name, func(b *testing.B) {
			set := filled(b, s.starts, s.matchers)
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
