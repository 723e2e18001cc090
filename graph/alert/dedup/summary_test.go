package dedup

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert/incident"
)

var update = flag.Bool("update", false, "rewrite golden files")

const failure = `{"rule_title":"Repeated login failure","rule_id":"rule-ssh","level":"high","tags":["attack.t1110"]`

func TestSummariesAreAsTheyWere(t *testing.T) {
	const matched = `,"matched_selections":["sel"],"matched_fields":[{"field":"SourceIp","value":"10.0.0.1"}]`
	var text strings.Builder
	for _, tc := range []struct{ name, line string }{
		{"a detection", failure + matched + `}`},
		{"its event is left out", failure + matched + `,"event":{"matched_selections":1,"SourceIp":"10.0.0.1"}}`},
		{"enrichments of the first result stay", failure + `,"enrichments":{"user":{"name":"bo"},"incident_id":"383cec03aede7b76"}` + matched + `}`},
		{"empty enrichments", failure + `,"enrichments":{}` + matched + `}`},
		{"enrichments that have our names", failure + `,"enrichments":{"dedup_state":"x","dedup_other":1,"dedup_fire_coun\u0074":"y"}` + matched + `}`},
		{"a time and attributes", failure + `,"timestamp":"2026-03-02T08:15:30Z","custom_attributes":{"enrichments":1,"matched_selections":2}` + matched + `}`},
		{"a time, attributes and enrichments", failure + `,"timestamp":"2026-03-02T08:15:30Z","custom_attributes":{"enrichments":1},"enrichments":{"a":1}` + matched + `}`},
		{"nothing but a title", `{"rule_title":"A \"b\"","rule_id":null,"level":null,"tags":[],"matched_selections":[],"matched_fields":[]}`},
		{"a value that is no text", failure + `,"matched_selections":["sel"],"matched_fields":[{"field":"SourceIp","value":[1,{"a":"\u00e9"}],"selection":"sel","matcher":"exact","pattern":"1","case_sensitive":false}]}`},
		{"a correlation", firing + `}`},
		{"a correlation without its events", firing + `,"events":[{"a":1}]}`},
		{"a correlation without its references", firing + `,"event_refs":[{"timestamp":5,"id":"x"}]}`},
		{"a correlation with enrichments", strings.Replace(firing, `,"correlation_type"`, `,"enrichments":{"owner":"it"},"correlation_type"`, 1) + `}`},
	} {
		s := New(Config{Fingerprint: selectors(t, "match.SourceIp"), Repeat: 60, Resolve: 120, MaxActive: 10})
		for _, at := range []int64{0, 5, 70, 100} {
			s.pass(parse(t, tc.line), at, incident.Ref{})
		}
		text.WriteString("# " + tc.name + "\n")
		for _, line := range append(s.tick(120, never), s.tick(220, never)...) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: %s is no JSON", tc.name, line)
			}
			text.WriteString(line + "\n")
		}
	}
	const name = "testdata/summaries.golden"
	if *update {
		if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(want), "\n")
	for i, got := range strings.Split(text.String(), "\n") {
		if i >= len(lines) || got != lines[i] {
			t.Fatalf("line %d of %s differs (-update rewrites it): got\n%s", i+1, name, got)
		}
	}
}

// The record of the documentation.
func TestASummaryIsTheSampleOfTheFirstResult(t *testing.T) {
	s := New(Config{Fingerprint: selectors(t, "match.SourceIp"), Repeat: 60, Resolve: 120, MaxActive: 10})
	for _, at := range []int64{0, 5, 70, 100} {
		s.pass(fromIP(t, "10.0.0.1"), at, incident.Ref{})
	}
	want := failure + `,"enrichments":{"dedup_fields":{"match.SourceIp":"10.0.0.1"},"dedup_fingerprint":"adf6c336a92545c4","dedup_fire_count":4,` +
		`"dedup_first_seen":0,"dedup_last_seen":100,"dedup_state":"repeat"},"matched_selections":["sel"],"matched_fields":[{"field":"SourceIp","value":"10.0.0.1"}]}`
	lines := s.tick(120, never)
	if len(lines) != 1 || lines[0] != want {
		t.Errorf("got\n%s, want\n%s", strings.Join(lines, "\n"), want)
	}
}

func TestSummariesNeverChange(t *testing.T) {
	s := New(Config{Fingerprint: selectors(t, "match.SourceIp"), Repeat: 10, Resolve: 120, MaxActive: 10})
	var records []*Summary
	var lines []string
	emit := func(r *Summary) {
		records, lines = append(records, r), append(lines, string(r.AppendNative(nil)))
	}
	for now := int64(0); now < 300; now++ {
		if now < 100 {
			s.pass(fromIP(t, "10.0.0.1"), now, incident.Ref{})
		}
		s.Tick(now, never, emit, func(incident.Ref) {})
	}
	states := make(map[State]int)
	for i, r := range records {
		if got := string(r.AppendNative([]byte("<"))[1:]); got != lines[i] {
			t.Errorf("record %d is now\n%s, was\n%s", i, got, lines[i])
		}
		var _ graph.Record = r
		if r.Kind() != "alert_summary" {
			t.Errorf("record %d is a %s", i, r.Kind())
		}
		states[r.State()]++
	}
	if states[Repeat] != 10 || states[Resolved] != 1 {
		t.Errorf("got %v, want 10 repeats and one resolution", states)
	}
}

// What decides whether a repeat is held has no event, and is what the records show.
func TestRepeatsAreHeldByTheirSample(t *testing.T) {
	s := New(Config{Fingerprint: selectors(t, "match.SourceIp"), Repeat: 10, Resolve: 120, MaxActive: 10})
	r := parse(t, failure+`,"enrichments":{"incident_id":"i"},"matched_selections":[],"matched_fields":[{"field":"SourceIp","value":"10.0.0.1"}],"event":{"k":1}}`)
	s.pass(r, 0, incident.Ref{})
	s.pass(r, 1, incident.Ref{})
	var asked []string
	muted := func(sample []byte) bool {
		asked = append(asked, string(sample))
		return len(asked) < 3
	}
	for now := int64(9); now < 12; now++ {
		if got := s.tick(now, muted); len(got) > 0 {
			t.Errorf("at %d got %v", now, got)
		}
	}
	if got := s.tick(12, muted); len(got) != 1 {
		t.Errorf("got %v, want the record that was held", got)
	}
	const want = failure + `,"enrichments":{"incident_id":"i"},"matched_selections":[],"matched_fields":[{"field":"SourceIp","value":"10.0.0.1"}]}`
	if len(asked) != 3 || asked[0] != want || asked[2] != want {
		t.Errorf("asked for %q, want three times %s", asked, want)
	}
	if got := s.tick(121, never); len(got) != 1 { // nobody is asked about the end
		t.Errorf("got %v, want the end of the alert", got)
	}
}
