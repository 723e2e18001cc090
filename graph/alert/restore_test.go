package alert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert/silence"
	"github.com/sluicehq/sluice/graph/native"
)

// A stream is what a pipeline goes through: results, and silences that somebody makes and
// deletes, second by second. There is a tick behind each second.
type stream [][]happening

type happening struct {
	result   *graph.Result
	silence  *silence.Silence
	deletion string // id of a silence
}

// randomStream makes a stream of so many seconds. Few values make many results meet.
func randomStream(t *testing.T, seed uint64, seconds int) stream {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	var all stream
	for now := range seconds {
		var second []happening
		busy := now/50%2 == 0 // quiet times let alerts and incidents end
		for range random.IntN(3) {
			if !busy && random.IntN(25) > 0 {
				continue
			}
			text := pick("ssh", "b", "web") + " " + pick("low", "high", "critical")
			for _, field := range []string{"ip", "user"} {
				if random.IntN(5) > 0 {
					text += " " + field + "=" + pick("v1", "v2", "v3", "v4", "v5")
				}
			}
			r := result(t, text)
			second = append(second, happening{result: &r})
		}
		if random.IntN(60) == 0 {
			second = append(second, happening{silence: randomSilence(t, random, now)})
		}
		if random.IntN(150) == 0 {
			second = append(second, happening{deletion: fmt.Sprintf("s%d", random.IntN(now+1))})
		}
		all = append(all, second)
	}
	return all
}

func randomSilence(t *testing.T, random *rand.Rand, now int) *silence.Silence {
	t.Helper()
	at := func(second int) string { return time.Unix(int64(second), 0).UTC().Format(time.RFC3339) }
	start := now + random.IntN(20)
	body := fmt.Sprintf(`{"matchers":[{"selector":"match.SourceIp","op":"=~","value":"v[%d-3]"}],"starts_at":%q,"ends_at":%q}`,
		1+random.IntN(3), at(start), at(start+1+random.IntN(100)))
	spec, err := silence.Parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	spec.ID = fmt.Sprintf("s%d", now)
	s, err := silence.Compile(spec, silence.API, int64(now))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// run brings the seconds of a stream from from on to a pipeline, and returns a line for
// each result that goes on and for each record.
func (s stream) run(p *Pipeline, from, to int) (out []string) {
	for now := from; now < to; now++ {
		for _, h := range s[now] {
			switch {
			case h.silence != nil:
				p.Silences().Add(h.silence)
			case h.deletion != "":
				p.Silences().Remove(h.deletion)
			default:
				set := graph.ResultSet{Results: []graph.Result{*h.result}}
				p.Process(&set, int64(now))
				for i := range set.Results {
					out = append(out, fmt.Sprintf("%d result %s", now, set.Results[i].AppendNative(nil)))
				}
			}
		}
		p.Tick(int64(now), func(r graph.Record) {
			out = append(out, fmt.Sprintf("%d %s %s", now, r.Kind(), r.AppendNative(nil)))
		})
	}
	return out
}

// counted makes ids I1, I2, ... behind those that were made before.
func counted(ids *int) Options {
	return Options{NewID: func() string {
		*ids++
		return fmt.Sprintf("I%d", *ids)
	}}
}

// streamed are the files that streams go through.
var streamed = []struct{ name, file string }{
	{"alerts alone", `
dedup: {fingerprint: [match.SourceIp], repeat_interval: 20s, resolve_timeout: 40s}
`},
	{"incidents of equal values", `
inhibit_rules:
  - {name: crit, source_match: [{selector: level, value: critical}], target_match: [{selector: level, value: low}], equal: [match.SourceIp], duration: 15s}
silences: [{matchers: [{selector: match.User, value: v5}], starts_at: "1970-01-01T00:03:00Z", ends_at: "1970-01-01T00:05:00Z"}]
dedup: {fingerprint: [match.SourceIp], repeat_interval: 25s, resolve_timeout: 30s}
group: {by: [match.User], group_wait: 10s, group_interval: 20s, repeat_interval: 45s, resolve_timeout: 35s}
`},
	{"incidents of an entity graph", `
inhibit_rules:
  - {source_match: [{selector: level, value: critical}], target_match: [{selector: rule, op: "=~", value: "rule-.*"}], equal: [match.User], duration: 5s}
dedup: {fingerprint: [match.SourceIp, match.User], repeat_interval: 25s, resolve_timeout: 12s}
group: {mode: entity_graph, entities: [match.SourceIp, match.User], group_wait: 10s, group_interval: 20s, repeat_interval: 45s, resolve_timeout: 15s, include: results, caps: {max_results_per_incident: 5, max_entities_per_incident: 2}}
`},
	{"a few incidents and alerts at a time", `
dedup: {fingerprint: [match.SourceIp, rule], resolve_timeout: 30s, max_active_alerts: 4}
group: {by: [match.User, rule], group_wait: 0, group_interval: 5s, resolve_timeout: 10s, caps: {max_open_incidents: 3, max_results_per_incident: 2}}
`},
}

// A pipeline that is saved and restored at any moment goes on as if nothing had happened.
func TestRestoredIsUninterrupted(t *testing.T) {
	for _, tc := range streamed {
		t.Run(tc.name, func(t *testing.T) {
			all := randomStream(t, 7, 400)
			file := parsed(t, tc.file)
			ids := 0
			whole := all.run(New(file, counted(&ids)), 0, len(all))
			if len(whole) < 100 {
				t.Fatalf("only %d lines", len(whole))
			}
			// The pipeline goes on after each save, as a daemon does.
			ids = 0
			saving, before := New(file, counted(&ids)), 0
			for cut := range all {
				after := ids
				got := all.run(restored(t, saving, New(file, counted(&after)), int64(cut)), cut, len(all))
				if !slices.Equal(got, whole[before:]) {
					t.Fatalf("restored at %d: %s", cut, firstDifference(got, whole[before:]))
				}
				before += len(all.run(saving, cut, cut+1))
			}
		})
	}
}

// restored gives the state of a pipeline to another one, as a restart does: from the
// snapshot, and the silences one by one.
func restored(t *testing.T, from, to *Pipeline, now int64) *Pipeline {
	t.Helper()
	var saved bytes.Buffer
	if err := from.Export().Encode(&saved, now); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(saved.Bytes()) {
		t.Fatalf("at %d the state is no JSON: %s", now, saved.Bytes())
	}
	for _, s := range from.Silences().List() {
		if s.Origin != silence.API {
			continue
		}
		back, err := silence.FromRow(s.Row())
		if err != nil {
			t.Fatal(err)
		}
		to.Silences().Add(back)
	}
	back, err := to.Restore(bytes.NewReader(saved.Bytes()), now)
	if err != nil {
		t.Fatalf("at %d: %v", now, err)
	}
	if back.DroppedAlerts > 0 || back.DroppedIncidents > 0 {
		t.Fatalf("at %d: %+v", now, back)
	}
	var again bytes.Buffer
	if err := to.Export().Encode(&again, now); err != nil {
		t.Fatal(err)
	}
	if back.DroppedSources == 0 && !bytes.Equal(again.Bytes(), saved.Bytes()) {
		t.Fatalf("at %d what was restored is saved otherwise:\n%s\nwas\n%s", now, again.Bytes(), saved.Bytes())
	}
	return to
}

func firstDifference(got, want []string) string {
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			return fmt.Sprintf("line %d is\n%s\nwant\n%s", i, strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""), want[i])
		}
	}
	return "there are more lines: " + got[len(want)]
}

// The same results in the same seconds have the same outcome, byte for byte.
func TestAPipelineIsDeterministic(t *testing.T) {
	for _, tc := range streamed {
		t.Run(tc.name, func(t *testing.T) {
			for seed := range uint64(10) {
				all := randomStream(t, seed, 400)
				var once []string
				for i := range 3 {
					ids := 0
					got := all.run(New(parsed(t, tc.file), counted(&ids)), 0, len(all))
					if i == 0 {
						once = got
					} else if !slices.Equal(got, once) {
						t.Fatalf("seed %d: %s", seed, firstDifference(got, once))
					}
				}
			}
		})
	}
}

// Ticks in which nothing can come out may be left out.
func TestNextNamesEveryTickThatMatters(t *testing.T) {
	for _, tc := range streamed {
		t.Run(tc.name, func(t *testing.T) {
			for seed := range uint64(5) {
				all := randomStream(t, seed, 700)
				ids := 0
				p := New(parsed(t, tc.file), counted(&ids))
				skipped := 0
				for now := range all {
					next, due := p.Next()
					if len(all[now]) > 0 {
						all.run(p, now, now+1)
						continue
					}
					got := all.run(p, now, now+1)
					if due && next <= int64(now) {
						continue
					}
					if skipped++; len(got) > 0 {
						t.Fatalf("seed %d: the tick at %d tells %q, the next one that matters is %d, %t", seed, now, got, next, due)
					}
				}
				if skipped < 100 {
					t.Errorf("seed %d: only %d ticks may be left out", seed, skipped)
				}
			}
		})
	}
}

const day = 24 * 60 * 60

// A clock that is set back holds up what is due, and nothing comes twice. One that is set
// forward ends what is open, once.
func TestTheClockIsSet(t *testing.T) {
	const file = `{dedup: {fingerprint: [match.SourceIp], repeat_interval: 60s, resolve_timeout: 1h}, group: {by: [match.SourceIp], group_wait: 30s, group_interval: 5m, resolve_timeout: 2h}, inhibit_rules: [{name: crit, source_match: [{selector: level, value: critical}], target_match: [{selector: level, value: low}]}]}`
	const start = 10 * day
	for _, tc := range []struct {
		name  string
		moves []move
		want  []string
	}{
		{"back by a day, while an incident waits", []move{
			{0, "ssh ip=a"}, {10, ""}, {-day, ""}, {-day + 20, "ssh ip=a"}, {-day + 100, ""}, {29, ""}, {30, ""}, {5000, ""}, {7300, ""},
		}, []string{"0 passes", "-86380 folded", "29 resolved count=2", "30 group_wait results=2", "5000 resolved results=2"}},
		{"back by a day, and what comes then has its own time", []move{
			{0, "ssh ip=a"}, {30, ""}, {-day, "ssh ip=b"}, {-day + 30, ""}, {-day + 3599, ""}, {-day + 3600, ""}, {-day + 7200, ""}, {3599, ""}, {3600, ""}, {7200, ""}, {9000, ""},
		}, []string{
			"0 passes", "30 group_wait results=1", "-86400 passes", "-86370 group_wait results=1", "-82800 resolved count=1", "-79200 resolved results=1",
			"3600 resolved count=1", "7200 resolved results=1",
		}},
		{"forward by a day", []move{
			{0, "ssh ip=a"}, {30, ""}, {day, "ssh ip=b"}, {day + 1, ""}, {day + 30, ""},
		}, []string{"0 passes", "30 group_wait results=1", "86400 passes", "86400 resolved count=1", "86400 resolved results=1", "86430 group_wait results=1"}},
		{"forward by a day, while an incident waits", []move{
			{0, "ssh ip=a"}, {day, ""}, {day + 1, ""}, {day + 2, ""},
		}, []string{"0 passes", "86400 resolved count=1", "86400 group_wait results=1", "86401 resolved results=1"}},
		{"forward by a day, and back", []move{
			{0, "ssh ip=a"}, {30, ""}, {day, ""}, {31, "ssh ip=a"}, {61, ""}, {3631, ""}, {7231, ""}, {day, ""},
		}, []string{
			"0 passes", "30 group_wait results=1", "86400 resolved count=1", "86400 resolved results=1",
			"31 passes", "61 group_wait results=1", "3631 resolved count=1", "7231 resolved results=1",
		}},
		{"forward by a day, with a source of inhibitions", []move{{0, "ssh critical"}, {1, "ssh low ip=c"}, {day, "ssh low ip=c"}}, []string{
			"0 passes", "1 inhibited", "86400 passes", "86400 resolved count=1", "86400 group_wait results=1",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := newTimeline(t, file)
			var got []string
			for _, m := range tc.moves {
				l.now = start + m.at
				if m.result != "" {
					words := strings.Fields(l.process(result(t, m.result)))
					got = append(got, fmt.Sprintf("%d %s", m.at, words[0]))
				}
				l.records = nil
				l.tick(l.now)
				for _, r := range l.records {
					words := strings.Fields(r)
					got = append(got, fmt.Sprintf("%d %s %s", m.at, words[1], words[3]))
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
			}
		})
	}
}

type move struct {
	at     int64 // of the clock
	result string
}

// What stands in results goes out as it came, whatever it would mean elsewhere.
func TestMarkupIsText(t *testing.T) {
	titles := []string{"<script>alert(1)</script>", "*bold* _x_ [a](http://b) `c`", "a\nb\t\u2028c", `quote " and \ slash`, "a\u0000b", "a\u001fb=c"}
	ids := 0
	p := New(parsed(t, "{dedup: {fingerprint: [rule], repeat_interval: 1s, resolve_timeout: 10s}, group: {by: [rule], group_wait: 0, resolve_timeout: 20s, include: results}}"), counted(&ids))
	var lines [][]byte
	for again := range 2 {
		for _, title := range titles {
			quoted, err := json.Marshal(title)
			if err != nil {
				t.Fatal(err)
			}
			r, err := native.Parse(fmt.Appendf(nil, `{"rule_title":%s,"rule_id":null,"level":"high","tags":[],"matched_selections":["sel"],"matched_fields":[]}`, quoted))
			if err != nil {
				t.Fatal(err)
			}
			set := graph.ResultSet{Results: []graph.Result{*r}}
			p.Process(&set, int64(again))
		}
	}
	for now := range int64(40) {
		p.Tick(now, func(r graph.Record) { lines = append(lines, r.AppendNative(nil)) })
	}
	incidents, alerts := make(map[string]int), make(map[string]int)
	for _, line := range lines {
		var in struct {
			Title  string            `json:"rule_title"`
			Rules  map[string]int    `json:"rule_counts"`
			Values map[string]string `json:"group_by"`
		}
		if err := json.Unmarshal(line, &in); err != nil || bytes.ContainsAny(line, "\n\x00") {
			t.Fatalf("%q: %v", line, err)
		}
		for title, n := range in.Rules {
			if incidents[title]++; n != 2 || in.Values["rule"] != title {
				t.Errorf("%s: of rule %q", line, title)
			}
		}
		if in.Rules == nil {
			alerts[in.Title]++
		}
	}
	for _, title := range titles {
		if incidents[title] == 0 || alerts[title] != 2 {
			t.Errorf("%q has %d records of incidents and %d of alerts, want some and 2", title, incidents[title], alerts[title])
		}
	}
}
