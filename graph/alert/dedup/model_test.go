package dedup

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert/incident"
)

// model does what a store promises in the plainest way: it looks at every alert at every
// tick.
type model struct {
	repeat, resolve int64
	most            int
	byRule          bool // the fingerprint
	alerts          []*modelled
}

type modelled struct {
	rule, ip, fingerprint string
	first, last, told     int64
	fires, emitted        int
	byRule                bool
}

func (m *model) pass(rule, ip string, now int64, silenced bool) string {
	for _, a := range m.alerts {
		if a.rule == rule && a.byRule == m.byRule && (m.byRule || a.ip == ip) {
			a.fires, a.last = a.fires+1, now
			if silenced {
				return "silenced"
			}
			return "folded"
		}
	}
	switch {
	case silenced:
		return "silenced"
	case len(m.alerts) >= m.most:
		return "passes, the store is full"
	}
	text := "rule=" + rule + "\x1fmatch.SourceIp=" + ip
	if m.byRule {
		text = "rule=" + rule + "\x1frule=" + rule
	}
	m.alerts = append(m.alerts, &modelled{
		rule: rule, ip: ip, fingerprint: fmt.Sprintf("%016x", digestOf([]byte(text))), byRule: m.byRule,
		first: now, last: now, told: now, fires: 1, emitted: 1,
	})
	return "passes"
}

func (m *model) tick(now int64, muted func(ip string) bool) (lines []string) {
	slices.SortFunc(m.alerts, func(x, y *modelled) int {
		return cmp.Or(cmp.Compare(x.first, y.first), cmp.Compare(x.fingerprint, y.fingerprint))
	})
	say := func(a *modelled, state string) {
		lines = append(lines, fmt.Sprintf("%s %s count %d, seen %d to %d", state, a.fingerprint, a.fires, a.first, a.last))
	}
	m.alerts = slices.DeleteFunc(m.alerts, func(a *modelled) bool {
		if now-a.last >= m.resolve {
			say(a, "resolved")
			return true
		}
		if m.repeat > 0 && now-a.told >= m.repeat && a.fires > a.emitted && !muted(a.ip) {
			say(a, "repeat")
			a.told, a.emitted = now, a.fires
		}
		return false
	})
	return lines
}

// A store does what the model does, whatever comes; and a store that is saved and restored
// in between goes on as if nothing had happened.
func TestAStoreDoesWhatItPromises(t *testing.T) {
	results := make(map[string]*graph.Result)
	for _, rule := range []string{"a", "b"} {
		for ip := range 12 {
			ip := fmt.Sprintf("10.0.0.%d", ip)
			results[rule+ip] = detection(t, rule, "SourceIp", `"`+ip+`"`)
		}
	}
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 1))
		configs := []Config{
			{Fingerprint: selectors(t, "match.SourceIp"), Repeat: random.Int64N(20), Resolve: random.Int64N(60), MaxActive: 1 + random.IntN(20)},
			{Fingerprint: selectors(t, "rule"), Repeat: random.Int64N(20), Resolve: random.Int64N(60), MaxActive: 1 + random.IntN(20)},
			{Fingerprint: selectors(t, "match.SourceIp"), Repeat: random.Int64N(5), Resolve: random.Int64N(20), MaxActive: 1 + random.IntN(5)},
		}
		config := configs[0]
		s, m := New(config), &model{repeat: config.Repeat, resolve: config.Resolve, most: config.MaxActive}
		var mutedIP string
		isMuted := func(ip string) bool { return mutedIP != "" && ip <= mutedIP }
		sampleMuted := func(line []byte) bool {
			v, _ := parse(t, string(line)).Field("SourceIp")
			return isMuted(string(v.Raw[1 : len(v.Raw)-1]))
		}
		now := int64(1000)
		for i := range 600 {
			switch random.IntN(100) {
			case 0:
				config = configs[random.IntN(len(configs))]
				s.Configure(config)
				m.repeat, m.resolve, m.most, m.byRule = config.Repeat, config.Resolve, config.MaxActive, config.Fingerprint[0].String() == "rule"
			case 1:
				s = restore(t, config, s.save(t))
			case 2, 3:
				mutedIP = []string{"", "10.0.0.3", "9"}[random.IntN(3)]
			case 4:
				now += random.Int64N(80) // a tick is late
			case 5:
				now -= random.Int64N(80) // the clock is set back
			}
			for range random.IntN(4) {
				rule, ip := []string{"a", "b"}[random.IntN(2)], fmt.Sprintf("10.0.0.%d", random.IntN(12))
				silenced := random.IntN(5) == 0
				got, want := s.handle(results[rule+ip], now, silenced), m.pass(rule, ip, now, silenced)
				if got != want {
					t.Fatalf("seed %d, step %d: a result of %s from %s at %d: got %s, want %s", seed, i, rule, ip, now, got, want)
				}
			}
			next, waits := s.Next()
			want := m.tick(now, isMuted)
			if len(want) > 0 && (!waits || next > now) {
				t.Fatalf("seed %d, step %d: the next record was promised at %d, %v, but comes at %d", seed, i, next, waits, now)
			}
			if len(want) == 0 && waits && next <= now && mutedIP == "" {
				t.Fatalf("seed %d, step %d: a record was promised at %d, but none comes at %d", seed, i, next, now)
			}
			got := brief(t, s.tick(now, sampleMuted))
			if !slices.Equal(got, want) || s.Len() != len(m.alerts) {
				t.Fatalf("seed %d, step %d, at %d: got %d alerts and\n%q, want %d and\n%q", seed, i, now, s.Len(), got, len(m.alerts), want)
			}
			now += random.Int64N(3)
		}
	}
}

// A run that is saved and restored at any point says the same, byte for byte.
func TestRestoredIsUninterrupted(t *testing.T) {
	config := Config{Fingerprint: selectors(t, "match.SourceIp", "enrichment.user", "level"), Repeat: 7, Resolve: 25, MaxActive: 6}
	const steps = 120
	run := func(cut int) (lines []string) {
		random := rand.New(rand.NewPCG(3, 4))
		s := New(config)
		s.digest = func(text []byte) uint64 { return digestOf(text) % 2 } // nearly all collide
		for i := range steps {
			if i == cut {
				saved := s.save(t)
				s = New(config)
				s.digest = func(text []byte) uint64 { return digestOf(text) % 2 }
				restoreInto(t, s, saved)
				if again := s.save(t); string(again) != string(saved) {
					t.Fatalf("saved again, it is\n%s, was\n%s", again, saved)
				}
			}
			for range random.IntN(3) {
				values := []string{`"a\u001f\"<&>\u2028"`, `null`, `12.50`, `"ü"`, `[1,{"a":null}]`, `""`, `"\u0000null"`, `"10.0.0.1"`}
				r := detection(t, "rule-ssh", "SourceIp", values[random.IntN(len(values))])
				if random.IntN(4) == 0 {
					r.Enrichments = []byte(`{"user":"bo","risk":{"score":1}}`)
				}
				s.handle(r, int64(i), random.IntN(6) == 0)
			}
			held := random.IntN(3) == 0
			lines = append(lines, s.tick(int64(i), func([]byte) bool { return held })...)
		}
		s.Close(func(r *Summary) { lines = append(lines, string(r.AppendNative(nil))) }, func(incident.Ref) {})
		return lines
	}
	want := run(-1)
	if len(want) < 50 {
		t.Fatalf("only %d records come", len(want))
	}
	for cut := range steps {
		if got := run(cut); !slices.Equal(got, want) {
			t.Fatalf("saved before %d, it says\n%q, want\n%q", cut, got, want)
		}
	}
}
