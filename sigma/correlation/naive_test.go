package correlation_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
)

// naiveRule is one correlation by user, and naive its state: the text of the
// window rules turned into code, everything recomputed for every match.
type naiveRule struct {
	kind, window             string
	span, gap, suppress, max int64
	reset                    bool
	percentile               float64
	met                      func(v float64) bool
	members                  []string // kinds of events
}

type naive struct {
	naiveRule
	groups map[string]*naiveGroup
}

type naiveGroup struct {
	entries []naiveEntry
	high    int64
	any     bool
	late    int
	last    *int64
}

type naiveEntry struct {
	ts     int64
	member int
	text   string
	number float64
}

func (n *naive) match(user string, e naiveEntry) (float64, bool) {
	g := n.groups[user]
	if g == nil {
		g = &naiveGroup{}
		n.groups[user] = g
	}
	if g.any {
		switch n.judge(g, e.ts) {
		case "discard":
			if g.late++; g.late < 3 {
				return 0, false
			}
			g.entries, g.high = nil, e.ts
			if g.last != nil && *g.last > e.ts {
				g.last = nil
			}
		case "reset":
			g.entries = nil
		}
	}
	g.late = 0
	if !g.any || e.ts > g.high {
		g.high, g.any = e.ts, true
	}
	if n.window == "sliding" {
		g.entries = slices.DeleteFunc(g.entries, func(x naiveEntry) bool { return x.ts < g.high-n.span })
	}
	at := 0
	for at < len(g.entries) && g.entries[at].ts <= e.ts {
		at++
	}
	g.entries = slices.Insert(g.entries, at, e)
	n.trim(g)
	v, ok := n.aggregate(g.entries)
	if !ok || !n.met(v) {
		return 0, false
	}
	now := e.ts
	for _, x := range g.entries {
		now = max(now, x.ts)
	}
	if n.suppress > 0 && g.last != nil && now-*g.last < n.suppress {
		return 0, false
	}
	g.last = &now
	if n.reset {
		g.entries = nil
	}
	return v, true
}

func (n *naive) judge(g *naiveGroup, ts int64) string {
	switch n.window {
	case "sliding":
		if ts < g.high-n.span {
			return "discard"
		}
	case "tumbling":
		if ts/n.span > g.high/n.span {
			return "reset"
		}
		if ts/n.span < g.high/n.span {
			return "discard"
		}
	case "session":
		start := g.high
		if len(g.entries) > 0 {
			start = g.entries[0].ts
		}
		if ts < g.high {
			if ts >= start-n.gap && g.high-ts <= n.span {
				return "extend"
			}
			return "discard"
		}
		if ts-g.high > n.gap || ts-start > n.span {
			return "reset"
		}
	}
	return "extend"
}

func (n *naive) trim(g *naiveGroup) {
	if n.max == 0 {
		return
	}
	for m := range max(1, len(n.members)) {
		var mine []int
		for i, e := range g.entries {
			if e.member == m {
				mine = append(mine, i)
			}
		}
		if over := len(mine) - int(n.max); over > 0 {
			from := 0
			if n.window == "session" {
				from = 1
			}
			for _, i := range slices.Backward(mine[from : from+over]) {
				g.entries = slices.Delete(g.entries, i, i+1)
			}
		}
	}
}

func (n *naive) aggregate(entries []naiveEntry) (float64, bool) {
	switch n.kind {
	case "event_count":
		return float64(len(entries)), true
	case "value_count":
		texts := map[string]bool{}
		for _, e := range entries {
			texts[e.text] = true
		}
		return float64(len(texts)), true
	case "temporal", "temporal_ordered":
		return n.hitMembers(entries), true
	}
	if len(entries) == 0 {
		return 0, false
	}
	var values []float64
	sum, c := 0.0, 0.0
	for _, e := range entries {
		values = append(values, e.number)
		t := sum + e.number
		if math.Abs(sum) >= math.Abs(e.number) {
			c += sum - t + e.number
		} else {
			c += e.number - t + sum
		}
		sum = t
	}
	slices.Sort(values)
	switch n.kind {
	case "value_sum":
		return sum + c, true
	case "value_avg":
		return (sum + c) / float64(len(values)), true
	case "value_median":
		if h := len(values) / 2; len(values)%2 == 0 {
			return (values[h-1] + values[h]) / 2, true
		}
		return values[len(values)/2], true
	}
	r := n.percentile / 100 * float64(len(values)-1)
	lo, hi := values[int(math.Floor(r))], values[int(math.Ceil(r))]
	return lo + (r-math.Floor(r))*(hi-lo), true
}

// hitMembers counts members with hits; of an ordered rule by trying every chain.
func (n *naive) hitMembers(entries []naiveEntry) float64 {
	if n.kind == "temporal" {
		seen := map[int]bool{}
		for _, e := range entries {
			seen[e.member] = true
		}
		return float64(len(seen))
	}
	var chain func(m int, from int64) bool
	chain = func(m int, from int64) bool {
		if m == len(n.members) {
			return true
		}
		return slices.ContainsFunc(entries, func(e naiveEntry) bool {
			return e.member == m && e.ts >= from && chain(m+1, e.ts)
		})
	}
	if chain(0, math.MinInt64) {
		return float64(len(n.members))
	}
	return 0
}

// rules spells every type, window and setting, with its naive twin.
func naiveRules() map[string]naiveRule {
	rules := map[string]naiveRule{}
	i := 0
	for _, kind := range []string{
		"event_count", "value_count", "value_sum", "value_avg", "value_percentile", "value_median", "temporal", "temporal_ordered",
	} {
		for _, w := range []string{"sliding", "tumbling", "session"} {
			for _, setting := range []string{"", "suppress", "reset", "both", "capped"} {
				r := naiveRule{kind: kind, window: w, span: 20, met: func(v float64) bool { return v >= 2 }}
				text := "type: " + kind + "\ntimespan: 20s\nwindow: " + w
				condition := "gte: 2"
				switch kind {
				case "value_count":
					condition += ", field: v"
				case "value_percentile":
					condition, r.percentile = condition+", field: n, percentile: 37.5", 37.5
				case "value_sum", "value_avg", "value_median":
					condition += ", field: n"
				case "temporal", "temporal_ordered":
					text += "\nrules: [d-login, d-recon]"
					r.members = []string{"login", "recon"}
				}
				text += "\ncondition: {" + condition + "}"
				if w == "session" {
					text += "\ngap: 6s"
					r.gap = 6
				}
				if setting == "suppress" || setting == "both" {
					text += "\nsluice.suppress: 5s"
					r.suppress = 5
				}
				if setting == "reset" || setting == "both" {
					text += "\nsluice.action: reset"
					r.reset = true
				}
				if setting == "capped" {
					text += "\nsluice.max_group_entries: 3"
					r.max = 3
				}
				rules[named(fmt.Sprint("c", i), text)] = r
				i++
			}
		}
	}
	return rules
}

// entry is what an event of traffic contributes to a rule.
func (r *naiveRule) entry(i input) (user string, e naiveEntry, ok bool) {
	get := func(name string) string {
		_, rest, found := strings.Cut(i.fields, `"`+name+`":`)
		if !found {
			return ""
		}
		value, _, _ := strings.Cut(rest, ",")
		return strings.Trim(value, `"`)
	}
	e = naiveEntry{ts: i.ts, text: get("v")}
	switch kind := get("kind"); {
	case r.members != nil:
		e.member = slices.Index(r.members, kind)
	case kind != "login":
		e.member = -1
	}
	if strings.HasPrefix(r.kind, "value_") && r.kind != "value_count" {
		var err error
		e.number, err = strconv.ParseFloat(get("n"), 64)
		if err != nil {
			return "", e, false
		}
	}
	return get("user"), e, e.member >= 0
}

func TestEveryAggregateEqualsTheNaiveOne(t *testing.T) {
	for text, rule := range naiveRules() {
		p := compile(t, text, program.Options{})
		for seed := range uint64(4) {
			compareNaive(t, rule, newDriver(t, p, 0), traffic(seed, 250))
		}
	}
}

func compareNaive(t *testing.T, rule naiveRule, d *driver, events []input) {
	t.Helper()
	n := naive{rule, map[string]*naiveGroup{}}
	for i, in := range events {
		results := d.feed(in)
		var want float64
		fired := false
		if user, e, ok := rule.entry(in); ok {
			want, fired = n.match(user, e)
		}
		if fired != (len(results) == 1) {
			t.Fatalf("%s %s: event %d %v: got %v, want fired %v (%v)", rule.kind, rule.window, i, in, fires(results), fired, want)
		}
		if fired && math.Abs(results[0].Value-want) > 1e-12*math.Abs(want) {
			t.Fatalf("%s %s: event %d %v: got %v, want %v", rule.kind, rule.window, i, in, results[0].Value, want)
		}
	}
}

func FuzzEveryAggregateEqualsTheNaiveOne(f *testing.F) {
	type pair struct {
		plan *program.Program
		rule naiveRule
	}
	var pairs []pair
	for text, rule := range naiveRules() {
		pairs = append(pairs, pair{compile(f, text, program.Options{}), rule})
	}
	f.Add(uint64(1), []byte{1, 2, 3, 200, 2, 1, 90, 17})
	f.Fuzz(func(t *testing.T, which uint64, raw []byte) {
		var events []input
		ts := int64(100)
		for i, b := range raw[:min(len(raw), 100)] {
			ts += int64(b & 3)
			at := max(0, ts-int64(b>>5)*int64(i%9))
			kind := []string{"login", "recon"}[b>>2&1]
			events = append(events, with(at, fmt.Sprintf(`"kind":%q,"user":"u","v":%d,"n":%d.%d`, kind, b>>3&3, b>>1&7, b&7)))
		}
		p := pairs[which%uint64(len(pairs))]
		compareNaive(t, p.rule, newDriver(t, p.plan, 0), events)
	})
}
