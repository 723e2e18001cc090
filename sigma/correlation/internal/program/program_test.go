package program

import (
	"slices"
	"testing"

	"github.com/sluicehq/sluice/sigma/load"
)

const rules = `
title: login
id: d-login
name: login_seen
detection: {s: {kind: login}, condition: s}
---
title: recon
id: d-recon
name: recon_seen
detection: {s: {kind: recon}, condition: s}
---
`

func compileText(t *testing.T, text string, o Options) *Program {
	t.Helper()
	c := load.FromBytes("rules.yml", []byte(rules+text), load.Options{})
	if len(c.Rejected) > 0 {
		t.Fatalf("rejected: %v", c.Problems())
	}
	p, err := Compile(c.Correlations, c.Rules, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSettingsOfTheRuleBeatTheConfigured(t *testing.T) {
	const plain = "title: c\ncorrelation: {type: event_count, rules: [d-login], timespan: 1m, condition: {gte: 1}}\n"
	const own = plain + "sluice.suppress: 7s\nsluice.action: alert\nsluice.correlation_event_mode: none\nsluice.max_correlation_events: 3\nsluice.max_group_entries: '9'\n"
	configured := Options{Suppress: 5, Action: Reset, EventMode: EventsFull, MaxEvents: 20, MaxGroupEntries: 50}
	for _, tc := range []struct {
		name, rule string
		o          Options
		want       Correlation
	}{
		{"nothing configured", plain, Options{}, Correlation{Events: EventsNone, MaxEvents: 10}},
		{"configured", plain, configured, Correlation{Suppress: 5, Resets: true, Events: EventsFull, MaxEvents: 20, MaxEntries: 50}},
		{"stated by the rule", own, configured, Correlation{Suppress: 7, Events: EventsNone, MaxEvents: 3, MaxEntries: 9}},
		{"switched off by the rule", plain + "sluice.suppress: 0s\n", configured, Correlation{Resets: true, Events: EventsFull, MaxEvents: 20, MaxEntries: 50}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := compileText(t, tc.rule, tc.o).At(0)
			got := Correlation{Suppress: c.Suppress, Resets: c.Resets, Events: c.Events, MaxEvents: c.MaxEvents, MaxEntries: c.MaxEntries}
			if got.Suppress != tc.want.Suppress || got.Resets != tc.want.Resets || got.Events != tc.want.Events ||
				got.MaxEvents != tc.want.MaxEvents || got.MaxEntries != tc.want.MaxEntries {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestShapes(t *testing.T) {
	const body = "title: c\ncorrelation: {type: value_count, rules: [d-login], group-by: [u, ip], aliases: {ip: {d-login: src}}, timespan: 1m, condition: {field: [a, b], gte: 1}}\n"
	for _, tc := range []struct {
		name, other string
		same        bool
	}{
		{"threshold and timespan are no part of it", "title: c\ncorrelation: {type: value_count, rules: [d-login, d-recon], group-by: [u, ip], aliases: {ip: {d-login: src}}, timespan: 2m, window: tumbling, condition: {field: [a, b], gte: 3}}\n", true},
		{"order of group-by is", "title: c\ncorrelation: {type: value_count, rules: [d-login], group-by: [ip, u], aliases: {ip: {d-login: src}}, timespan: 1m, condition: {field: [a, b], gte: 1}}\n", false},
		{"aliases are", "title: c\ncorrelation: {type: value_count, rules: [d-login], group-by: [u, ip], aliases: {ip: {d-login: dst}}, timespan: 1m, condition: {field: [a, b], gte: 1}}\n", false},
		{"fields are", "title: c\ncorrelation: {type: value_count, rules: [d-login], group-by: [u, ip], aliases: {ip: {d-login: src}}, timespan: 1m, condition: {field: [a], gte: 1}}\n", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, b := compileText(t, body, Options{}).At(0).Shape, compileText(t, tc.other, Options{}).At(0).Shape
			if (a == b) != tc.same {
				t.Errorf("got %s and %s, want same %v", a, b, tc.same)
			}
		})
	}
}

func TestWhatIsExtracted(t *testing.T) {
	p := compileText(t, `title: lower
id: lower
correlation: {type: value_sum, rules: [d-login, login_seen, d-recon], group-by: [ip], aliases: {ip: {login_seen: src, d-recon: dst}}, timespan: 1m, condition: {field: n, gt: 1}}
---
title: upper
correlation: {type: event_count, rules: [lower], group-by: [host, ip], timespan: 1m, condition: {gte: 1}}
---
title: refs
correlation: {type: event_count, rules: [d-recon], timespan: 1m, condition: {gte: 1}}
sluice.correlation_event_mode: refs
`, Options{})
	s := p.Spec()
	names := func(fields []int) (list []string) {
		for _, f := range fields {
			list = append(list, s.Fields[f])
		}
		return list
	}
	login, recon := s.Rules[0], s.Rules[1]
	if login.To-login.From != 1 || recon.To-recon.From != 2 {
		t.Fatalf("got %d and %d feeds, want 1 and 2: a rule feeds a correlation once", login.To-login.From, recon.To-recon.From)
	}
	for _, tc := range []struct {
		name      string
		got, want []string
	}{
		{"the alias of the rule's name", names(s.Keys[s.Feeds[login.From].Key]), []string{"src"}},
		{"the alias of the rule's id", names(s.Keys[s.Feeds[recon.From].Key]), []string{"dst"}},
		{"the condition's field", names(s.Feeds[login.From].Values), []string{"n"}},
		{"what the upper one cannot take from the lower", names(login.Chain), []string{"host"}},
		{"references", names(s.IDs), []string{"id", "_id", "event_id", "EventRecordID", "event.id"}},
	} {
		if !slices.Equal(tc.got, tc.want) {
			t.Errorf("%s: got %q, want %q", tc.name, tc.got, tc.want)
		}
	}
	if login.WantID || !recon.WantID || recon.Copy {
		t.Error("only events that meet recon need a reference, and none a copy")
	}
	if p.Depth() != 1 {
		t.Errorf("got depth %d, want 1", p.Depth())
	}
}

func TestCorrelationsOfAnotherLoadAreRefused(t *testing.T) {
	c := load.FromBytes("rules.yml", []byte(rules+"title: c\ncorrelation: {type: event_count, rules: [d-recon], timespan: 1m, condition: {gte: 1}}\n"), load.Options{})
	if _, err := Compile(c.Correlations, c.Rules[:1], Options{}); err == nil {
		t.Error("a reference beyond the rules was accepted")
	}
}

func TestSharedIDs(t *testing.T) {
	const doc = "title: same\ncorrelation: {type: event_count, rules: [d-login], timespan: 1m, condition: {gte: 1}}\n"
	p := compileText(t, doc+"---\n"+doc, Options{})
	if got := p.SharedIDs(); !slices.Equal(got, []string{"same"}) || p.Owners()["same"] != 0 {
		t.Errorf("got %q, want same, owned by the first", got)
	}
}

func TestEventModes(t *testing.T) {
	for text, want := range map[string]EventMode{"OFF": EventsNone, "None": EventsNone, "true": EventsFull, "References": EventsRefs, "refs": EventsRefs} {
		if got, err := ParseEventMode(text); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
	if _, err := ParseEventMode("some"); err == nil {
		t.Error("some was accepted")
	}
}
