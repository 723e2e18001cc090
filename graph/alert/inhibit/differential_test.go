package inhibit

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/sluicehq/sluice/graph"
)

// plainly is what an index does, as it is told.
type plainly struct {
	rules []Rule
	seen  map[[2]string]int64
}

func (p *plainly) inhibits(r *graph.Result, now int64) string {
	for i := range p.rules {
		rule := &p.rules[i]
		target, _ := rule.Target.Match(r, nil)
		source, _ := rule.Source.Match(r, nil)
		last, ok := p.seen[[2]string{rule.Name, string(rule.appendKey(nil, r))}]
		if target && !source && ok && now-last < rule.Duration {
			return rule.Name
		}
	}
	return ""
}

func (p *plainly) observe(r *graph.Result, now int64) {
	for i := range p.rules {
		rule := &p.rules[i]
		if source, _ := rule.Source.Match(r, nil); source {
			p.seen[[2]string{rule.Name, string(rule.appendKey(nil, r))}] = now
		}
	}
}

func (p *plainly) expire(now int64) {
	maps.DeleteFunc(p.seen, func(key [2]string, last int64) bool {
		for i := range p.rules {
			if p.rules[i].Name == key[0] {
				return now-last >= p.rules[i].Duration
			}
		}
		return true
	})
}

func behaveAlike(t *testing.T, results []*graph.Result, rules []Rule, data []byte) {
	t.Helper()
	x, plain, now := New(), &plainly{seen: make(map[[2]string]int64)}, int64(1000)
	for step := 0; len(data) > 1; step++ {
		op, arg := data[0], int(data[1])
		data = data[2:]
		switch {
		case op < 12:
			plain.rules = nil
			for i, r := range rules {
				if arg>>i&1 == 1 {
					r.Duration += int64(op) * 3
					plain.rules = append(plain.rules, r)
				}
			}
			x.Configure(plain.rules)
		case op < 60:
			now += int64(arg % 20)
		case op < 66:
			now -= int64(arg)
		case op < 90:
			x.Expire(now)
			plain.expire(now)
			if x.Len() != len(plain.seen) {
				t.Fatalf("step %d at %d: %d sources, want %d", step, now, x.Len(), len(plain.seen))
			}
			for _, s := range x.Sources() {
				if last, ok := plain.seen[[2]string{s.Rule, s.EqualKey}]; !ok || last != s.LastSeen {
					t.Fatalf("step %d at %d: %v, want %d, %v", step, now, s, last, ok)
				}
			}
		case op < 94: // saved, and restored by another
			again := New()
			again.Configure(plain.rules)
			x.Expire(now)
			plain.expire(now)
			if dropped := again.Restore(x.Sources(), now); dropped != 0 {
				t.Fatalf("step %d at %d: %d are dropped", step, now, dropped)
			}
			x = again
		default:
			r := results[arg%len(results)]
			got, _ := x.Inhibits(r, now)
			if want := plain.inhibits(r, now); got != want {
				t.Fatalf("step %d at %d: result %d is inhibited by %q, want %q", step, now, arg%len(results), got, want)
			} else if want == "" {
				x.Observe(r, now)
				plain.observe(r, now)
			}
		}
	}
}

func differential(tb testing.TB) (results []*graph.Result, rules []Rule) {
	tb.Helper()
	for i := range 12 {
		results = append(results, result(tb, []string{"low", "high", "critical"}[i%3], fmt.Sprint("A=", i%2), fmt.Sprint("B=", i%4)))
	}
	return results, []Rule{
		rule(tb, "r0", "level = critical", "level = high", "match.A", 30), rule(tb, "r1", "level =~ high|critical", "level = low", "match.A match.B", 10),
		rule(tb, "r2", "level = high", "level != low", "", 5), rule(tb, "r3", "match.B = 3", "match.A = 1", "level", 60),
	}
}

func TestTheIndexDoesWhatIsTold(t *testing.T) {
	results, rules := differential(t)
	random := rand.NewChaCha8([32]byte{3})
	for range 50 {
		data := make([]byte, 2000)
		random.Read(data)
		data[0], data[1] = 3, 15 // all rules
		behaveAlike(t, results, rules, data)
	}
}

func FuzzTheIndexDoesWhatIsTold(f *testing.F) {
	random := rand.NewChaCha8([32]byte{4})
	for range 8 {
		data := make([]byte, 400)
		random.Read(data)
		data[0], data[1] = 3, 15
		f.Add(data)
	}
	results, rules := differential(f)
	f.Fuzz(func(t *testing.T, data []byte) { behaveAlike(t, results, rules, data) })
}
