package silence

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sluicehq/sluice/graph"
)

// choices makes decisions out of bytes, until they are used up.
type choices struct{ data []byte }

func (c *choices) of(n int) int {
	if len(c.data) == 0 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b) % n
}

// poolOfResults are results that share values with the silences of randomSilence.
func poolOfResults(tb testing.TB) []*graph.Result {
	tb.Helper()
	var all []*graph.Result
	for i := range 24 {
		rule, value := fmt.Sprint("r", i%3), fmt.Sprint("v", i%4)
		fields, key := "", ""
		for f := range i % 5 {
			if f > 0 {
				fields, key = fields+",", key+","
			}
			fields += fmt.Sprintf(`{"field":"f%d","value":"%s"}`, (f+i)%6, value)
			key += fmt.Sprintf(`["f%d","%s"]`, (f+i)%6, value)
		}
		enrichments := []string{`{}`, `{"f1":"v1","f2":{"f3":"v2"}}`, `{"f1":null,"f2.f3":2}`, `{"f8":{"f1":"v0"},"f4":{"f3":"v1"},"\u0066\u0037":"v1","f4.f3":null,"f2.f3":{}}`}[i%4]
		if i%5 == 3 {
			all = append(all, firing(tb, rule, key, enrichments))
			continue
		}
		level := []string{"null", "low", "high"}[i%3]
		all = append(all, detection(tb, rule, level, fields, enrichments, []string{"", `{"f1":"v1"}`, `{"f1":"v2","f2":{"f3":"v1"}}`}[(i/3)%3]))
	}
	return all
}

func randomSilence(tb testing.TB, c *choices, n int) *Silence {
	tb.Helper()
	selectors := []string{
		"rule", "level", "match.f0", "match.f1", "match.f2", "match.f3", "match.f4", "match.f5", "event.f1", "event.f2.f3",
		"enrichment.f1", "enrichment.f2.f3", "enrichment.f2", "enrichment.f4.f3", "enrichment.f5", "enrichment.f6", "enrichment.f1.f3", "enrichment.f7", "enrichment.f8.f1", "correlation.group_key.f1", "correlation.group_key.f2", "correlation.group_key.f3",
	}
	var matchers []string
	for range 1 + c.of(3) {
		values := []string{"r0", "r1", "v0", "v1", "v2", "", "low", "high"}
		expressions := []string{".*", "v.*", "r[01]", "", "v1|v2", ".+"}
		switch s := selectors[c.of(len(selectors))]; c.of(6) {
		case 0:
			matchers = append(matchers, s+" != "+values[c.of(len(values))])
		case 1:
			matchers = append(matchers, s+" =~ "+expressions[c.of(len(expressions))])
		case 2:
			matchers = append(matchers, s+" !~ "+expressions[c.of(len(expressions))])
		default:
			matchers = append(matchers, s+" = "+values[c.of(len(values))])
		}
	}
	var starts, ends int64
	if c.of(3) == 0 {
		starts = int64(1 + c.of(100))
	}
	if c.of(3) == 0 {
		ends = starts + int64(1+c.of(100))
	}
	return silence(tb, fmt.Sprint("s", n), starts, ends, matchers...)
}

// plainly is what a set does, without an index.
type plainly struct{ static, api []*Silence }

func (p *plainly) all() []*Silence { return slices.Concat(p.static, p.api) }

func (p *plainly) mutes(r *graph.Result, now int64, withEvents bool) bool {
	for _, x := range p.all() {
		if is, _ := x.compiled.Match(r, nil); is && x.State(now) == Active && (withEvents || !x.compiled.ReadsEvent()) {
			return true
		}
	}
	return false
}

// behaveAlike lets a set and the plain loop do the same.
func behaveAlike(t *testing.T, results []*graph.Result, data []byte) {
	t.Helper()
	c := &choices{data}
	set, plain := NewSet(), &plainly{}
	now := int64(50)
	for step := 0; len(c.data) > 0; step++ {
		switch c.of(8) {
		case 0, 1, 2:
			x := randomSilence(t, c, step)
			set.Add(x)
			plain.api = append(plain.api, x)
		case 3:
			all := plain.all()
			id := fmt.Sprint("s", c.of(step+1))
			isIt := func(x *Silence) bool { return x.ID == id }
			if set.Remove(id) != slices.ContainsFunc(all, isIt) {
				t.Fatalf("step %d: %s is removed without being there, or stays", step, id)
			}
			plain.static, plain.api = slices.DeleteFunc(plain.static, isIt), slices.DeleteFunc(plain.api, isIt)
		case 4:
			static := make([]*Silence, c.of(6))
			for i := range static {
				static[i] = randomSilence(t, c, 100_000*(step+1)+i)
				static[i].Origin = Static
			}
			set.Replace(static)
			plain.static = slices.Clone(static)
		case 5:
			now += int64(c.of(30))
		case 6:
			now -= int64(c.of(60))
		case 7:
			expired := func(x *Silence) bool { return x.State(now) == Expired }
			want := slices.DeleteFunc(plain.all(), func(x *Silence) bool { return !expired(x) })
			plain.static, plain.api = slices.DeleteFunc(plain.static, expired), slices.DeleteFunc(plain.api, expired)
			if got := set.Expire(now); !slices.Equal(got, want) {
				t.Fatalf("step %d at %d: %s expire, want %s", step, now, ids(got), ids(want))
			}
		}
		if !slices.Equal(set.List(), plain.all()) || set.Stored() != len(plain.api) {
			t.Fatalf("step %d: holds %s, want %s", step, ids(set.List()), ids(plain.all()))
		}
		for range 4 {
			i := c.of(len(results))
			if got, want := set.Mutes(results[i], now), plain.mutes(results[i], now, true); got != want {
				t.Fatalf("step %d at %d: result %d is muted: %v, want %v", step, now, i, got, want)
			}
			if got, want := set.MutesSample(results[i], now) != nil, plain.mutes(results[i], now, false); got != want {
				t.Fatalf("step %d at %d: sample %d is muted: %v, want %v", step, now, i, got, want)
			}
		}
	}
}

func TestTheIndexFindsWhatALoopFinds(t *testing.T) {
	results := poolOfResults(t)
	random := rand.NewChaCha8([32]byte{7})
	for range 40 {
		data := make([]byte, 2000)
		random.Read(data)
		behaveAlike(t, results, data)
	}
}

func FuzzTheIndexFindsWhatALoopFinds(f *testing.F) {
	random := rand.NewChaCha8([32]byte{8})
	for range 8 {
		data := make([]byte, 300)
		random.Read(data)
		f.Add(data)
	}
	results := poolOfResults(f)
	f.Fuzz(func(t *testing.T, data []byte) { behaveAlike(t, results, data) })
}
