package dedup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert/incident"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/result"
)

// numbered makes results of one rule that differ in the text of a number.
func numbered() func(n int) *graph.Result {
	rule := result.NewRule(0, &ast.Rule{Meta: ast.Meta{Title: "Repeated login failure", ID: "rule-ssh", Level: ast.LevelHigh, Tags: []string{"attack.t1110"}}})
	selections := result.NewSelections(rule, []string{"sel"})
	return func(n int) *graph.Result {
		return &graph.Result{Detection: &result.Detection{Rule: rule, Selections: selections, Fields: []result.Field{
			{Name: "SourceIp", Value: fmt.Appendf(nil, `"10.%d.%d.%d"`, n>>16, n>>8&255, n&255)}, {Name: "User", Value: []byte(`"root"`)},
		}}}
	}
}

func TestAReloadKeepsAlerts(t *testing.T) {
	one, two := "10.0.0.1", "10.0.0.2"
	config := func(fingerprint string, repeat, resolve int64, most int) Config {
		return Config{Fingerprint: selectors(t, fingerprint), Repeat: repeat, Resolve: resolve, MaxActive: most}
	}
	open := func(s *Store, now int64, ips ...string) {
		for _, ip := range ips {
			s.pass(fromIP(t, ip), now, incident.Ref{})
		}
	}
	const fp1, fp2 = "adf6c336a92545c4", "adf6c636a9254add"
	for _, tc := range []struct {
		name   string
		before Config
		after  Config
		ticks  []int64
		next   string // what becomes of a result of one at 10
		want   []string
	}{
		{
			"a shorter resolve_timeout", config("match.SourceIp", 0, 3600, 10), config("match.SourceIp", 0, 30, 10),
			[]int64{11, 29, 30, 39, 40},
			"folded",
			[]string{"30 resolved " + fp2 + " count 1, seen 0 to 0", "40 resolved " + fp1 + " count 3, seen 0 to 10"},
		},
		{
			"a longer resolve_timeout", config("match.SourceIp", 0, 12, 10), config("match.SourceIp", 0, 100, 10),
			[]int64{12, 50, 100},
			"folded",
			[]string{"100 resolved " + fp2 + " count 1, seen 0 to 0"},
		},
		{
			"a repeat_interval where there was none", config("match.SourceIp", 0, 3600, 10), config("match.SourceIp", 5, 3600, 10),
			[]int64{10, 11},
			"folded",
			[]string{"10 repeat " + fp1 + " count 3, seen 0 to 10"},
		},
		{
			"a shorter repeat_interval", config("match.SourceIp", 600, 3600, 10), config("match.SourceIp", 20, 3600, 10),
			[]int64{19, 20},
			"folded",
			[]string{"20 repeat " + fp1 + " count 3, seen 0 to 10"},
		},
		{
			"no repeat_interval any more", config("match.SourceIp", 20, 3600, 10), config("match.SourceIp", 0, 3600, 10),
			[]int64{20, 100},
			"folded", nil,
		},
		{
			"other selectors: what goes on passes once more, and the old alerts end by time", config("match.SourceIp", 20, 60, 10), config("rule", 20, 60, 10),
			[]int64{20, 60, 69, 70},
			"passes",
			[]string{
				"20 repeat " + fp1 + " count 2, seen 0 to 0", "60 resolved " + fp1 + " count 2, seen 0 to 0",
				"60 resolved " + fp2 + " count 1, seen 0 to 0", "70 resolved 8f190c2d739ada70 count 1, seen 10 to 10",
			},
		},
		{
			"a lower cap evicts nothing", config("match.SourceIp", 0, 60, 10), config("match.SourceIp", 0, 60, 1),
			[]int64{59, 60, 70},
			"folded",
			[]string{"60 resolved " + fp2 + " count 1, seen 0 to 0", "70 resolved " + fp1 + " count 3, seen 0 to 10"},
		},
		{
			"a lower cap and other selectors: nothing opens before there is room", config("match.SourceIp", 0, 60, 10), config("rule", 0, 60, 1),
			[]int64{60},
			"passes, the store is full",
			[]string{"60 resolved " + fp1 + " count 2, seen 0 to 0", "60 resolved " + fp2 + " count 1, seen 0 to 0"},
		},
	} {
		s := New(tc.before)
		open(s, 0, one, two, one)
		s.Configure(tc.after)
		if got := s.pass(fromIP(t, one), 10, incident.Ref{}); got != tc.next {
			t.Errorf("%s: the next result %s, want %s", tc.name, got, tc.next)
		}
		var got []string
		for _, now := range tc.ticks {
			for _, line := range brief(t, s.tick(now, never)) {
				got = append(got, fmt.Sprint(now, " ", line))
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", tc.name, strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
		}
	}
}

func TestCloseEndsAllAlerts(t *testing.T) {
	s := New(Config{Fingerprint: selectors(t, "match.SourceIp"), Repeat: 5, Resolve: 3600, MaxActive: 10})
	for at, ip := range []string{"10.0.0.9", "10.0.0.1", "10.0.0.9", "10.0.0.5"} {
		s.pass(fromIP(t, ip), int64(at/2), incident.Ref{})
	}
	var lines []string
	s.Close(func(r *Summary) { lines = append(lines, string(r.AppendNative(nil))) }, func(incident.Ref) { t.Error("no alert names an incident") })
	want := []string{
		"resolved adf6bb36a925382c count 2, seen 0 to 1",
		"resolved adf6c336a92545c4 count 1, seen 0 to 0",
		"resolved adf6bf36a9253ef8 count 1, seen 1 to 1",
	}
	if got := brief(t, lines); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if _, waits := s.Next(); s.Len() != 0 || waits || len(s.tick(10_000, never)) > 0 {
		t.Errorf("%d alerts are left; more is due: %v", s.Len(), waits)
	}
	if got := s.pass(fromIP(t, "10.0.0.9"), 20_000, incident.Ref{}); got != "passes" {
		t.Errorf("the next result %s, want it to pass", got)
	}
}

// The clock is set back by a day: what is due waits until the clock is there again, and what
// comes meanwhile has the time that the clock says.
func TestTheClockIsSetBack(t *testing.T) {
	const day = 86400
	s := New(Config{Fingerprint: selectors(t, "match.SourceIp"), Repeat: 60, Resolve: 120, MaxActive: 10})
	s.pass(fromIP(t, "10.0.0.1"), 2*day, incident.Ref{})
	s.pass(fromIP(t, "10.0.0.2"), 2*day, incident.Ref{})
	s.pass(fromIP(t, "10.0.0.1"), day, incident.Ref{})
	s.pass(fromIP(t, "10.0.0.3"), day, incident.Ref{})
	if got := s.tick(day+119, never); len(got) > 0 {
		t.Errorf("too early: %q", got)
	}
	want := []string{"resolved adf6c536a925492a count 1, seen 86400 to 86400", "resolved adf6c336a92545c4 count 2, seen 172800 to 86400"}
	if got := brief(t, s.tick(day+120, never)); !slices.Equal(got, want) {
		t.Errorf("a day back got %q, want %q", got, want)
	}
	if got := s.tick(2*day+119, never); len(got) > 0 {
		t.Errorf("too early: %q", got)
	}
	want = []string{"resolved adf6c636a9254add count 1, seen 172800 to 172800"}
	if got := brief(t, s.tick(2*day+120, never)); !slices.Equal(got, want) {
		t.Errorf("behind a day got %q, want %q", got, want)
	}
}

func TestAStormOfEqualResultsIsOneAlert(t *testing.T) {
	s := New(Config{Fingerprint: selectors(t, "match.SourceIp"), Repeat: 60, Resolve: 120, MaxActive: 10})
	const results = 1_000_000
	r := fromIP(t, "10.0.0.1")
	var got []string
	for n := range results {
		now := int64(n / 10_000)
		s.pass(r, now, incident.Ref{})
		if n%10_000 == 9999 {
			got = append(got, brief(t, s.tick(now, never))...)
		}
	}
	got = append(got, brief(t, s.tick(219, never))...)
	want := []string{
		"repeat adf6c336a92545c4 count 610000, seen 0 to 60",
		"resolved adf6c336a92545c4 count 1000000, seen 0 to 99",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAStormOfDistinctResultsStaysWithinTheCap(t *testing.T) {
	const most = 1000
	s := New(Config{Fingerprint: selectors(t, "match.SourceIp"), Repeat: 2, Resolve: 10, MaxActive: most})
	of := numbered()
	for n := range 120_000 {
		now := int64(n / 2000)
		s.pass(of(n), now, incident.Ref{})
		if n%7 == 0 { // some of the first ones go on, at seconds of their own
			s.pass(of(n%most), now, incident.Ref{})
		}
		if n%2000 == 1999 {
			s.Tick(now, never, func(*Summary) {}, func(incident.Ref) {})
		}
		if s.Len() > most {
			t.Fatalf("%d alerts, want at most %d", s.Len(), most)
		}
	}
	sizes := map[string]int{
		"alerts": len(s.alerts), "digests": len(s.digests), "slots": perBlock * len(s.slots.blocks), "free slots": cap(s.slots.free),
		"places": cap(s.seen.links), "seconds of results": s.seen.seconds.Len(), "seconds of records": s.untold.seconds.Len(), "due": cap(s.due),
	}
	for name, n := range sizes {
		if n > 4*most {
			t.Errorf("%d %s, for %d alerts at most", n, name, most)
		}
	}
	if cap(s.key) > maxKept || cap(s.buffer) > maxKept {
		t.Errorf("%d and %d bytes are kept", cap(s.key), cap(s.buffer))
	}
}

func TestALongTimeLeavesNoSecondsBehind(t *testing.T) {
	s := New(Config{Fingerprint: selectors(t, "match.SourceIp"), Repeat: 1, Resolve: 1 << 40, MaxActive: 10})
	for now := range int64(100_000) {
		s.pass(fromOne, now, incident.Ref{})
		s.Tick(now, never, func(*Summary) {}, func(incident.Ref) {})
	}
	if n := s.seen.seconds.Len() + s.untold.seconds.Len(); n > 200 {
		t.Errorf("%d seconds are kept for one alert", n)
	}
}

var fromOne = numbered()(1)

func TestLongValuesAreNotKept(t *testing.T) {
	s := New(Config{Fingerprint: selectors(t, "match.SourceIp"), Resolve: 10, MaxActive: 1})
	s.pass(fromIP(t, "10.0.0.1"), 0, incident.Ref{})
	for range 2 {
		s.pass(fromIP(t, strings.Repeat("x", 1<<20)), 0, incident.Ref{}) // finds it full
	}
	s.tick(10, never)
	s.pass(fromIP(t, strings.Repeat("x", 1<<20)), 11, incident.Ref{})
	s.tick(21, never)
	s.pass(fromIP(t, "10.0.0.1"), 22, incident.Ref{})
	if cap(s.key) > maxKept || cap(s.buffer) > maxKept {
		t.Errorf("%d and %d bytes are kept", cap(s.key), cap(s.buffer))
	}
}

func TestMemoryIsGivenBackWhenNoAlertIsLeft(t *testing.T) {
	s := New(Config{Fingerprint: selectors(t, "match.SourceIp"), Resolve: 10, MaxActive: 10_000})
	of := numbered()
	for n := range 10_000 {
		s.pass(of(n), 0, incident.Ref{})
	}
	n := 0
	s.Tick(10, never, func(*Summary) { n++ }, func(incident.Ref) {})
	if n != 10_000 || s.Len() != 0 || len(s.slots.blocks) != 0 || s.seen.links != nil {
		t.Errorf("%d ended, %d are left in %d blocks", n, s.Len(), len(s.slots.blocks))
	}
	if got := s.pass(of(1), 11, incident.Ref{}); got != "passes" || s.pass(of(1), 11, incident.Ref{}) != "folded" {
		t.Errorf("the next result %s", got)
	}
}

// What is exported does not change while the store goes on.
func TestAViewNeverChanges(t *testing.T) {
	s := New(Config{Fingerprint: selectors(t, "match.SourceIp"), Repeat: 2, Resolve: 4, MaxActive: 3000})
	of := numbered()
	for n := range 2000 {
		s.pass(of(n), 0, incident.Ref{})
	}
	want := s.save(t)
	v := s.Export(func(incident.Ref) string { return "" })
	if v.Len() != 2000 {
		t.Fatalf("the view has %d alerts", v.Len())
	}
	var writers sync.WaitGroup
	for range 2 {
		writers.Go(func() {
			for range 5 {
				var got bytes.Buffer
				if err := v.Encode(&got); err != nil || !bytes.Equal(got.Bytes(), want) {
					t.Errorf("the view has changed, %v", err)
				}
			}
		})
	}
	var records int
	for now := range int64(20) {
		for n := range 3000 {
			s.pass(of(n%(1000+100*int(now))), now, incident.Ref{})
		}
		s.Tick(now, never, func(r *Summary) { records += len(r.AppendNative(nil)) }, func(incident.Ref) {})
	}
	writers.Wait()
	if records == 0 || bytes.Equal(s.save(t), want) {
		t.Error("nothing has happened")
	}
}

func TestStoredAlertsThatCannotBeRead(t *testing.T) {
	const good = `["adf6c336a92545c4",{"key":["rule-ssh","match.SourceIp","10.0.0.1"],"first_seen":0,"last_seen":5,"last_emitted":0,"fire_count":2,"emitted_count":1,"incident_id":"x","fields":{"match.SourceIp":"10.0.0.1"},"sample":{"rule_title":"A","rule_id":"rule-ssh","level":null,"tags":[],"matched_selections":[],"matched_fields":[{"field":"SourceIp","value":"10.0.0.1"}]}}]`
	config := Config{Fingerprint: selectors(t, "match.SourceIp"), Resolve: 60, MaxActive: 10}
	try := func(text string) (*Store, error) {
		s := New(config)
		_, err := s.Restore(json.NewDecoder(strings.NewReader(text)), func(string) incident.Ref { return incident.Ref{} })
		return s, err
	}
	s, err := try(" [ " + strings.ReplaceAll(good, ",", ",\n ") + " ] ")
	if err != nil || s.pass(fromIP(t, "10.0.0.1"), 6, incident.Ref{}) != "folded" {
		t.Fatalf("a good one cannot be read: %v", err)
	}
	if lines := s.tick(100, never); len(lines) != 1 || strings.ContainsAny(lines[0], "\n ") {
		t.Errorf("got %q, want one line without blanks", lines)
	}
	if s, err := try("[]"); err != nil || s.Len() != 0 {
		t.Errorf("no alerts: %d, %v", s.Len(), err)
	}
	for _, tc := range []struct{ name, old, text, want string }{
		{"no pair", good, `{}`, "stored alerts: json: cannot unmarshal object"},
		{"no array of alerts", "[" + good + "]", `{"a":1}`, "stored alerts: they are no array"},
		{"no text at all", "[" + good + "]", ``, "stored alerts: they end too early"},
		{"the end is missing", "[" + good + "]", "[" + good, "stored alerts: they end too early"},
		{"one twice", good, good + "," + good, "stored alert 1: there is another one of the same key"},
		{"a fingerprint that is no text", `"adf6c336a92545c4"`, `7`, "stored alert 0: fingerprint: "},
		{"a fingerprint with markup", `"adf6c336a92545c4"`, `"\"<"`, `stored alert 0: fingerprint '"<' has other characters than hexadecimal digits`},
		{"no fingerprint", `"adf6c336a92545c4"`, `""`, "stored alert 0: fingerprint ''"},
		{"no alert behind the fingerprint", good, `["a"]`, "stored alert 0: "},
		{"no key", `["rule-ssh","match.SourceIp","10.0.0.1"]`, `[]`, "stored alert 0: key has 0 parts"},
		{"a key without its last value", `"match.SourceIp","10.0.0.1"]`, `"match.SourceIp"]`, "stored alert 0: key has 2 parts: want that of the rule, and pairs of a selector and a value"},
		{"a key without a selector", `"match.SourceIp","10.0.0.1"]`, `null,"10.0.0.1"]`, "stored alert 0: key: part 1 is null"},
		{"a time that is none", `"last_seen":5`, `"last_seen":"5"`, "stored alert 0: json: cannot unmarshal string"},
		{"no results", `"fire_count":2,"emitted_count":1`, `"fire_count":0,"emitted_count":0`, "stored alert 0: fire_count 0 and emitted_count 0 contradict each other"},
		{"more told than came", `"emitted_count":1`, `"emitted_count":3`, "stored alert 0: fire_count 2 and emitted_count 3 contradict each other"},
		{"fields that are no object", `"fields":{"match.SourceIp":"10.0.0.1"}`, `"fields":[]`, "stored alert 0: fields is no object"},
		{"no sample", `"sample":{`, `"samples":{`, "stored alert 0: sample is no object"},
	} {
		s, err := try(strings.Replace("["+good+"]", tc.old, tc.text, 1))
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) || s.Len() != 0 {
			t.Errorf("%s: got %v and %d alerts, want %s", tc.name, err, s.Len(), tc.want)
		}
	}
}

type fullDisk struct{ left int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.left -= len(p); d.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestEncodeTellsWhenWritingEnds(t *testing.T) {
	s := New(Config{Fingerprint: selectors(t, "match.SourceIp"), Resolve: 60, MaxActive: 1000})
	of := numbered()
	for n := range 1000 {
		s.pass(of(n), 0, incident.Ref{})
	}
	v := s.Export(func(incident.Ref) string { return "" })
	for _, free := range []int{0, 100_000, len(s.save(t)) - 1} {
		if err := v.Encode(&fullDisk{free}); err == nil {
			t.Errorf("with room for %d bytes there is no error", free)
		}
	}
}

func FuzzStoredAlerts(f *testing.F) {
	s := New(Config{Fingerprint: selectors(f, "match.SourceIp"), Repeat: 1, Resolve: 60, MaxActive: 10})
	s.pass(fromIP(f, "10.0.0.1"), 0, incident.Ref{})
	s.pass(fromIP(f, `\u0000`), 0, incident.Ref{})
	f.Add(s.save(f))
	f.Add([]byte(`[["a",{"key":["r","level",null],"fire_count":3,"emitted_count":1,"fields":{},"sample":{}}]]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := New(Config{Repeat: 1, Resolve: 60, MaxActive: 10})
		if _, err := s.Restore(json.NewDecoder(bytes.NewReader(data)), func(string) incident.Ref { return incident.Ref{} }); err != nil {
			return
		}
		for _, line := range s.tick(1<<62, never) {
			if !json.Valid([]byte(line)) || strings.Contains(line, "\n") {
				t.Errorf("%q is no line of JSON", line)
			}
		}
	})
}
