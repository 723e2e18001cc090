package correlation

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sluicehq/sluice/sigma/correlation/internal/match"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
	"github.com/sluicehq/sluice/sigma/load"
)

// check looks at everything that is kept in two places.
func (e *Engine) check(t *testing.T) {
	t.Helper()
	total, used, bytes, buried := 0, 0, 0, 0
	for _, st := range e.states {
		live := 0
		for slot, g := range st.groups {
			if g == nil {
				continue
			}
			used++
			if want := g.weight(); g.bytes != want {
				t.Fatalf("%s: group %q of %d entries is said to take %d bytes, takes %d", st.c.Stable, g.key, g.window.Len(), g.bytes, want)
			}
			bytes += g.bytes
			if found, is := st.find(match.HashString(g.key), []byte(g.key)); is != g || found != uint32(slot) {
				t.Fatalf("%s: group %q is not found under its key", st.c.Stable, g.key)
			}
			if g.tombstone {
				if g.window.Len() > 0 || !g.hasLast {
					t.Fatalf("%s: tombstone %q has more than a suppression time, or not even that", st.c.Stable, g.key)
				}
				buried += g.bytes
				continue
			}
			live++
			if first, ok := st.ages.First(st.second); !ok || first > g.age() {
				t.Fatalf("%s: group %q of second %d comes before the first of all, %d", st.c.Stable, g.key, g.age(), first)
			}
			if g.window.Len() > 0 && g.window.First() < g.low {
				t.Fatalf("%s: group %q has an entry at %d, below %d", st.c.Stable, g.key, g.window.First(), g.low)
			}
		}
		if live != st.live {
			t.Fatalf("%s: got %d live groups, counted %d", st.c.Stable, st.live, live)
		}
		total += st.live
	}
	if total != e.live {
		t.Fatalf("got %d live groups, counted %d", e.live, total)
	}
	if e.bytes != bytes || e.buried != buried {
		t.Fatalf("got %d bytes, %d of tombstones, counted %d and %d", e.bytes, e.buried, bytes, buried)
	}
	timers := 0
	e.timers.Prune(func(t timer) bool { // drops only what does not count
		if t.valid() {
			timers++
		}
		return t.valid()
	})
	if timers != used {
		t.Fatalf("got %d timers for %d groups and tombstones", timers, used)
	}
}

func randomPlan(t *testing.T, r *rand.Rand) *program.Program {
	t.Helper()
	text := "title: login\nid: d\ndetection: {s: {kind: login}, condition: s}\n"
	for i := range 5 {
		if r.IntN(4) == 0 && i < 4 {
			continue
		}
		kind := []string{"event_count", "value_count", "value_sum", "temporal", "value_median"}[i]
		condition := "gte: 1"
		if kind != "event_count" && kind != "temporal" {
			condition += ", field: n"
		}
		text += fmt.Sprintf("---\ntitle: c%d\ncorrelation: {type: %s, rules: [d], group-by: [user], timespan: %ds, condition: {%s}}\n", i, kind, 5+r.IntN(60), condition)
		text += []string{"", "sluice.suppress: 30s\n", "sluice.action: reset\n", "sluice.suppress: 200s\n"}[r.IntN(4)]
	}
	c := load.FromBytes("r.yml", []byte(text), load.Options{})
	p, err := program.Compile(c.Correlations, c.Rules, program.Options{})
	if err != nil || len(c.Rejected) > 0 {
		t.Fatalf("compile: %v, %v", err, c.Problems())
	}
	return p
}

func TestNothingIsKeptInTwoPlacesDifferently(t *testing.T) {
	for seed := range uint64(40) {
		limits := Limits{Groups: 40}
		if seed%2 == 1 {
			limits = Limits{Bytes: 12_000}
		}
		r := rand.New(rand.NewPCG(seed, 11))
		p := randomPlan(t, r)
		e := New(p, limits)
		x, doc := match.NewExtractor(p.Spec()), match.NewDocument(p.Spec())
		now := int64(5000)
		for range 400 {
			now += r.Int64N(4)
			switch r.IntN(30) {
			case 0:
				now += r.Int64N(300)
			case 1:
				p = randomPlan(t, r)
				e.Swap(p, now)
				x, doc = match.NewExtractor(p.Spec()), match.NewDocument(p.Spec())
			case 2:
				var b bytes.Buffer
				if err := e.Export().Encode(&b, now); err != nil {
					t.Fatal(err)
				}
				e = New(p, limits)
				if _, err := e.Restore(&b, now); err != nil {
					t.Fatal(err)
				}
			case 3, 4:
				e.Export()
			case 5, 6, 7:
				e.AdvanceSome(now, r.IntN(20))
			}
			doc.Set(fmt.Appendf(nil, `{"user":%d,"n":%d}`, r.IntN(30), r.IntN(5)))
			e.Begin()
			record := x.Append(nil, []int{0}, max(0, now-r.Int64N(20)), doc)
			if _, _, err := e.Process(record, now, now, nil); err != nil {
				t.Fatal(err)
			}
			if r.IntN(3) == 0 {
				e.Rollback()
			}
			e.Commit()
			e.check(t)
		}
	}
}
