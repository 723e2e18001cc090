package dedup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph/alert/incident"
)

func incidents(t *testing.T, c incident.Config) *incident.Store {
	t.Helper()
	c.Wait, c.Interval, c.Resolve, c.MaxOpen, c.MaxEntities, c.MaxResults, c.MaxCardinality = 30, 300, 3600, 10, 10, 10, 10
	n := 0
	return incident.New(c, func() string { n++; return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) })
}

// An alert names its incident from its opening to its end, in another process, too.
func TestAlertsNameTheirIncidents(t *testing.T) {
	config := Config{Fingerprint: selectors(t, "match.SourceIp"), Repeat: 60, Resolve: 120, MaxActive: 10}
	in := incidents(t, incident.Config{Mode: incident.GroupBy, By: selectors(t, "match.SourceIp"), Include: incident.Refs})
	s := New(config)
	for _, ip := range []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"} {
		r := fromIP(t, ip)
		var ref incident.Ref
		if ip != "10.0.0.3" {
			ref, _ = in.Assign(r, 0)
		}
		if got := s.pass(r, 0, ref); got != "passes" {
			t.Fatal(got)
		}
	}
	a := s.Find(fromIP(t, "10.0.0.1"))
	s.Fold(a, 5)
	if id := in.ID(a.Incident()); id != "383cec03aede7b76" {
		t.Errorf("the alert names %q", id)
	}
	if b := s.Find(fromIP(t, "10.0.0.3")); b.Incident() != (incident.Ref{}) {
		t.Error("an alert without an incident names one")
	}

	var saved bytes.Buffer
	if err := s.Export(in.ID).Encode(&saved); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(saved.String(), `"incident_id":`); got != 2 || !strings.Contains(saved.String(), `"emitted_count":1,"incident_id":"383cec03aede7b76","fields":`) {
		t.Errorf("saved as %s", saved.String())
	}
	again := New(config)
	var asked []string
	if _, err := again.Restore(json.NewDecoder(bytes.NewReader(saved.Bytes())), func(id string) incident.Ref {
		asked = append(asked, id)
		if id != "383cec03aede7b76" {
			return incident.Ref{} // is gone
		}
		ref, _ := in.Find(id)
		return ref
	}); err != nil {
		t.Fatal(err)
	}
	if len(asked) != 2 || again.Find(fromIP(t, "10.0.0.1")).Incident() != a.Incident() || again.Find(fromIP(t, "10.0.0.2")).Incident() != (incident.Ref{}) {
		t.Errorf("asked for %q", asked)
	}

	var gone []string
	over := func(ref incident.Ref) { gone = append(gone, in.ID(ref)) }
	s.Tick(60, never, func(*Summary) {}, over)
	if len(gone) > 0 {
		t.Errorf("a repeat ends the alerts of %q", gone)
	}
	s.Tick(125, never, func(*Summary) {}, over)
	if want := []string{"383cec03aede7b76", "383ceb03aede79c3"}; !slices.Equal(gone, want) {
		t.Errorf("the alerts of %q have ended, want %q", gone, want)
	}
	gone = nil
	again.Close(func(*Summary) {}, over)
	if want := []string{"383cec03aede7b76"}; !slices.Equal(gone, want) {
		t.Errorf("the alerts of %q have ended, want %q", gone, want)
	}
}

// When its incident becomes part of another one, the alert names that one.
func TestAlertsFollowTheirIncidents(t *testing.T) {
	in := incidents(t, incident.Config{Mode: incident.EntityGraph, Entities: selectors(t, "match.SourceIp", "match.User"), Include: incident.Refs})
	s := New(Config{Fingerprint: selectors(t, "match.SourceIp", "match.User"), Repeat: 60, Resolve: 120, MaxActive: 10})
	for at, values := range [][2]string{{"1", "alice"}, {"2", "bob"}, {"2", "alice"}} {
		r := detection(t, "rule-ssh", "SourceIp", `"10.0.0.`+values[0]+`"`, "User", `"`+values[1]+`"`)
		ref, _ := in.Assign(r, int64(at))
		s.pass(r, int64(at), ref)
	}
	var saved bytes.Buffer
	if err := s.Export(in.ID).Encode(&saved); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(saved.String(), `"incident_id":"00000000-0000-4000-8000-000000000001"`); got != 3 {
		t.Errorf("%d alerts name the oldest incident, want 3: %s", got, saved.String())
	}
}
