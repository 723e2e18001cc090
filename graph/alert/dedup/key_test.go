package dedup

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert/incident"
)

// firing is the line of a correlation without its last bracket.
const firing = `{"rule_title":"Many failures","rule_id":"rule-ssh","level":"high","tags":[],"correlation_type":"event_count","group_key":[["User","bo"]],"aggregated_value":3,"timespan_secs":60`

// resolved is what the record says that ends the only alert of a store.
func resolved(t *testing.T, s *Store) (fingerprint, fields string) {
	t.Helper()
	var lines []string
	s.Close(func(r *Summary) { lines = append(lines, string(r.AppendNative(nil))) }, func(incident.Ref) {})
	if len(lines) != 1 {
		t.Fatalf("%d records, want that of one alert", len(lines))
	}
	var got told
	if err := json.Unmarshal([]byte(lines[0]), &got); err != nil {
		t.Fatal(err)
	}
	return got.Enrichments.Fingerprint, string(got.Enrichments.Fields)
}

func TestFingerprints(t *testing.T) {
	for _, tc := range []struct {
		name        string
		selectors   []string
		r           *graph.Result
		fingerprint string
		fields      string
	}{
		{"the rule is listed, too", []string{"rule", "match.CommandLine"}, detection(t, "rule-1", "CommandLine", `"malware.exe"`), "13bf5ab591909123", `{"rule":"rule-1","match.CommandLine":"malware.exe"}`},
		{"one value", []string{"match.SourceIp"}, fromIP(t, "10.0.0.1"), "adf6c336a92545c4", `{"match.SourceIp":"10.0.0.1"}`},
		{"another value", []string{"match.SourceIp"}, fromIP(t, "10.0.0.2"), "adf6c636a9254add", `{"match.SourceIp":"10.0.0.2"}`},
		{"blanks around a selector do not count", []string{" match.SourceIp "}, fromIP(t, "10.0.0.1"), "adf6c336a92545c4", `{"match.SourceIp":"10.0.0.1"}`},
		{"a number", []string{"match.Port"}, detection(t, "rule-ssh", "Port", "443"), "de26c305acc52742", `{"match.Port":443}`},
		{"the same number as text", []string{"match.Port"}, detection(t, "rule-ssh", "Port", `"443"`), "de26c305acc52742", `{"match.Port":"443"}`},
		{"a value that is absent", []string{"match.SourceIp"}, parse(t, firing+"}"), "8ddccdc36dcd71d5", `{"match.SourceIp":null}`},
		{"an enrichment", []string{"enrichment.user.name"}, parse(t, failure+`,"enrichments":{"user":{"name":"bo"}},"matched_selections":[],"matched_fields":[]}`), "195eaf54260f6de9", `{"enrichment.user.name":"bo"}`},
		{"null is absent", []string{"match.SourceIp"}, detection(t, "rule-ssh", "SourceIp", "null"), "8ddccdc36dcd71d5", `{"match.SourceIp":null}`},
		{"a selector that is listed twice has one field", []string{"match.SourceIp", "rule", "match.SourceIp"}, fromIP(t, "10.0.0.1"), "9f06a4ce04ee5b00", `{"match.SourceIp":"10.0.0.1","rule":"rule-ssh"}`},
		{"a rule without an id is known by its title", []string{"rule"}, parse(t, `{"rule_title":"A title","rule_id":null,"level":null,"tags":[],"matched_selections":[],"matched_fields":[]}`), "7a5848e5f98f1212", `{"rule":"A title"}`},
	} {
		s := New(Config{Fingerprint: selectors(t, tc.selectors...), Resolve: 60, MaxActive: 10})
		s.pass(tc.r, 0, incident.Ref{})
		if fingerprint, fields := resolved(t, s); fingerprint != tc.fingerprint || fields != tc.fields {
			t.Errorf("%s: got %s with %s, want %s with %s", tc.name, fingerprint, fields, tc.fingerprint, tc.fields)
		}
	}
}

func TestWhichResultsRepeatAnAlert(t *testing.T) {
	two := func(a, b string) *graph.Result { return detection(t, "rule-ssh", "A", a, "B", b) }
	for _, tc := range []struct {
		name        string
		first, next *graph.Result
		folds       bool
	}{
		{"the same values", two(`"x"`, `"y"`), two(`"x"`, `"y"`), true},
		{"a number and its text", two("443", `"y"`), two(`"443"`, `"y"`), true},
		{"escapes and what they stand for", two(`"\u0041"`, `"y"`), two(`"A"`, `"y"`), true},
		{"two that are absent", detection(t, "rule-ssh"), detection(t, "rule-ssh"), true},
		{"a correlation with the same values", detection(t, "rule-ssh"), parse(t, firing+"}"), true},
		{"another rule", two(`"x"`, `"y"`), detection(t, "rule-b", "A", `"x"`, "B", `"y"`), false},
		{"another value", two(`"x"`, `"y"`), two(`"x"`, `"z"`), false},
		{"a text that begins in another part", two(`"x"`, `"y"`), two(`"xy"`, `""`), false},
		{"a value that contains the separator", two(`"x\u001fmatch.B=y"`, `""`), two(`"x"`, `"y\u001fmatch.B="`), false},
		{"an empty value and one that is absent", two(`""`, `"y"`), detection(t, "rule-ssh", "B", `"y"`), false},
		{"the word null and a value that is absent", two(`"null"`, `"y"`), two("null", `"y"`), false},
		{"the mark of an absent value and a value that is absent", two(`"\u0000null"`, `"y"`), two("null", `"y"`), false},
		{"upper and lower case", two(`"x"`, `"y"`), two(`"X"`, `"y"`), false},
	} {
		s := New(Config{Fingerprint: selectors(t, "match.A", "match.B"), Resolve: 60, MaxActive: 10})
		s.pass(tc.first, 0, incident.Ref{})
		if got := s.pass(tc.next, 1, incident.Ref{}) == "folded"; got != tc.folds {
			t.Errorf("%s: folded %v, want %v", tc.name, got, tc.folds)
		}
	}
}

// The field shows what the fingerprint was made of, not what the pipeline wrote since.
func TestTheIncidentIsNoPartOfTheFingerprint(t *testing.T) {
	s := New(Config{Fingerprint: selectors(t, "enrichment.incident_id"), Resolve: 60, MaxActive: 10})
	for range 2 {
		r := fromIP(t, "10.0.0.1")
		if a := s.Find(r); a != nil {
			s.Fold(a, 0)
			continue
		}
		r.Enrichments = []byte(`{"incident_id":"383cec03aede7b76"}`)
		s.Open(r, 0, incident.Ref{})
	}
	if s.Len() != 1 {
		t.Fatalf("%d alerts, want one", s.Len())
	}
	lines := s.tick(60, never)
	if want := `"enrichments":{"incident_id":"383cec03aede7b76","dedup_fields":{"enrichment.incident_id":null},`; len(lines) != 1 || !strings.Contains(lines[0], want) {
		t.Errorf("got %s, want %s", lines, want)
	}
}

func TestAlertsWhoseDigestsCollide(t *testing.T) {
	config := Config{Fingerprint: selectors(t, "match.SourceIp"), Repeat: 10, Resolve: 60, MaxActive: 10}
	s := New(config)
	s.digest = func(text []byte) uint64 { return uint64(len(text)) } // "rule=rule-ssh", "match.SourceIp=", and the address
	one, two, three := "10.0.0.1", "10.0.0.2", "10.0.0.3"
	for _, ip := range []string{one, two, one} {
		s.pass(fromIP(t, ip), 0, incident.Ref{})
	}
	if s.Len() != 2 {
		t.Fatalf("%d alerts, want one for each address", s.Len())
	}
	for range 2 {
		s.pass(fromIP(t, two), 20, incident.Ref{})
	}
	const plain, second, third = "0000000000000025", "0000000000000025-a500a541", "0000000000000025-39fd3ee4"
	want := []string{
		"repeat " + plain + " count 2, seen 0 to 0",
		"repeat " + second + " count 3, seen 0 to 20",
	}
	if got := brief(t, s.tick(20, never)); !slices.Equal(got, want) {
		t.Errorf("got\n%s, want\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	// The later one keeps its digits when the earlier one is gone, in another process, too.
	want = []string{"resolved " + plain + " count 2, seen 0 to 0"}
	if got := brief(t, s.tick(60, never)); !slices.Equal(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	saved := s.save(t)
	s = New(config)
	s.digest = func(text []byte) uint64 { return uint64(len(text)) }
	restoreInto(t, s, saved)
	s.pass(fromIP(t, three), 61, incident.Ref{})
	want = []string{"resolved " + second + " count 3, seen 0 to 20"}
	if got := brief(t, s.tick(80, never)); !slices.Equal(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	want = []string{"resolved " + third + " count 1, seen 61 to 61"}
	if got := brief(t, s.tick(121, never)); !slices.Equal(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}

	// With nothing to collide with, it is shown plainly.
	s.pass(fromIP(t, three), 130, incident.Ref{})
	want = []string{"resolved " + plain + " count 1, seen 130 to 130"}
	if got := brief(t, s.tick(200, never)); !slices.Equal(got, want) || len(s.digests) != 0 {
		t.Errorf("got %s, want %s; %d digests are left", got, want, len(s.digests))
	}
}

func TestKeysAreReadBackFromJSON(t *testing.T) {
	for _, r := range []*graph.Result{
		fromIP(t, "10.0.0.1"), detection(t, "rule-ssh"), detection(t, "rule-ssh", "SourceIp", `""`),
		detection(t, "rule-ssh", "SourceIp", `"\u0000null\u001f\ud800 \u2028<&>\\\""`), detection(t, "rule-ssh", "SourceIp", `{"a":[1, "\u00e9"]}`),
	} {
		p := newPrints(selectors(t, "match.SourceIp", "level", "enrichment.a.b"))
		key := string(p.appendKey(nil, r))
		var parts []*string
		text := appendKeyJSON(nil, key)
		if err := json.Unmarshal(text, &parts); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if got, err := keyOf(parts); got != key || err != nil {
			t.Errorf("%s is read as %q, %v, want %q", text, got, err, key)
		}
	}
	for _, parts := range [][]*string{nil, {nil}, {new(string), new(string)}, {new(string), nil, new(string)}} {
		if key, err := keyOf(parts); err == nil {
			t.Errorf("%s is read as %q", fmt.Sprint(parts), key)
		}
	}
}
