package correlation_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/correlation/internal/match"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
	"github.com/sluicehq/sluice/sigma/load"
)

// lane is the corpus of authentication events with the rules over them.
type lane struct {
	plan   *program.Program
	events [][]byte
	rules  [][]int // by event: the rules it meets
}

func openLane(tb testing.TB) *lane {
	tb.Helper()
	dir := sigmatest.DataDir(tb)
	text, err := os.ReadFile(filepath.Join(dir, "lanes", "correlation-rules.yml"))
	if err != nil {
		tb.Skipf("no corpus: %v", err)
	}
	c := load.FromBytes("correlation-rules.yml", text, load.Options{})
	if len(c.Rejected) > 0 {
		tb.Fatalf("rejected: %v", c.Problems())
	}
	p, err := program.Compile(c.Correlations, c.Rules, program.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	l := &lane{plan: p}
	for _, line := range sigmatest.Lane(tb, "correlation") {
		var e struct{ EventType string }
		if err := json.Unmarshal(line, &e); err != nil {
			tb.Fatal(err)
		}
		rule := map[string][]int{"authentication_failure": {0}, "authentication_success": {1}}
		l.events, l.rules = append(l.events, line), append(l.rules, rule[e.EventType])
	}
	return l
}

// run feeds the lane, ten events a second from second start on, and counts the
// firings of each correlation.
func (l *lane) run(tb testing.TB, e *correlation.Engine, start int64) map[string]int {
	tb.Helper()
	x, doc := match.NewExtractor(l.plan.Spec()), match.NewDocument(l.plan.Spec())
	fired := map[string]int{}
	var record []byte
	var results []*correlation.Result
	for i, raw := range l.events {
		ts := start + int64(i/10)
		doc.Set(raw)
		record = x.Append(record[:0], l.rules[i], ts, doc)
		if len(record) == 0 {
			continue
		}
		e.Begin()
		var err error
		if results, _, err = e.Process(record, ts, ts, results[:0]); err != nil {
			tb.Fatal(err)
		}
		e.Commit()
		for _, r := range results {
			fired[r.Rule.ID]++
		}
	}
	return fired
}

func TestTheLaneFiresAsANaiveCountDoes(t *testing.T) {
	l := openLane(t)
	want := map[string]int{}
	type entry struct {
		ts    int64
		ip    string
		bytes float64
	}
	users, hosts, done := map[string][]entry{}, map[string][]entry{}, map[string][]entry{}
	recent := func(m map[string][]entry, key string, ts int64) []entry {
		list := m[key]
		for len(list) > 0 && list[0].ts < ts-300 {
			list = list[1:]
		}
		m[key] = list
		return list
	}
	for i, raw := range l.events {
		var e struct {
			User, SourceIP, Computer string
			BytesOut                 float64
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		ts := int64(i / 10)
		if len(l.rules[i]) == 0 {
			continue
		}
		if l.rules[i][0] == 0 {
			users[e.User] = append(users[e.User], entry{ts, e.SourceIP, e.BytesOut})
			hosts[e.Computer] = append(hosts[e.Computer], entry{ts, e.SourceIP, e.BytesOut})
			if len(recent(users, e.User, ts)) >= 4 {
				want["perf-auth-failure-user-burst"]++
			}
			ips, sum := map[string]bool{}, 0.0
			for _, x := range recent(hosts, e.Computer, ts) {
				ips[x.ip] = true
				sum += x.bytes
			}
			if len(ips) >= 10 {
				want["perf-auth-source-fanout"]++
			}
			if sum > 50000 {
				want["perf-auth-egress-volume"]++
			}
		} else {
			done[e.User] = append(done[e.User], entry{ts: ts})
		}
		failures, successes := recent(users, e.User, ts), recent(done, e.User, ts)
		if len(failures) > 0 && len(successes) > 0 && failures[0].ts <= successes[len(successes)-1].ts {
			want["perf-auth-failure-then-success"]++
		}
	}
	got := l.run(t, correlation.New(l.plan, correlation.Limits{}), 1_700_000_000)
	if len(want) == 0 || len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for id, n := range want {
		if got[id] != n {
			t.Errorf("%s: got %d firings, want %d", id, got[id], n)
		}
	}
}

func BenchmarkLane(b *testing.B) {
	l := openLane(b)
	e := correlation.New(l.plan, correlation.Limits{})
	start := int64(1_700_000_000)
	b.ReportAllocs()
	for b.Loop() {
		l.run(b, e, start)
		start += 2000
	}
	b.ReportMetric(float64(b.N*len(l.events))/b.Elapsed().Seconds(), "events/s")
}
