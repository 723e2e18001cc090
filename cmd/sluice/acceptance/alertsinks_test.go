package acceptance

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	natsio "github.com/nats-io/nats.go"

	"github.com/sluicehq/sluice/internal/natsconn/natstest"
)

// told has one event find, repeat and open an incident: a result, a record of the incident
// and one of the end of its alert.
const told = `
dedup: {fingerprint: [match.C], resolve_timeout: 1s}
group: {by: [match.C], group_wait: 0, resolve_timeout: 1h, nats_subject: soc.incidents}
`

// kinds are what lines are about, sorted: sinks are not in step, and records that are due at
// once come in the order of their kinds.
func kinds(t *testing.T, lines []string) string {
	t.Helper()
	var all []string
	for _, line := range lines {
		var m struct {
			Title       string `json:"rule_title"`
			Trigger     string
			Class       int `json:"class_uid"`
			Enrichments struct {
				State string `json:"dedup_state"`
			}
			Unmapped struct{ Trigger string }
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		kind := "result"
		switch {
		case m.Trigger != "":
			kind = "incident"
		case m.Enrichments.State != "":
			kind = "summary"
		case strings.Contains(line, `"trigger":"group_wait"`):
			kind = "incident"
		}
		if m.Class != 0 {
			kind += " as a finding"
		}
		all = append(all, kind)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// Incidents have a subject of their own, whichever sink they go through. Summaries stay with
// the results.
func TestIncidentsGoToTheirSubjectAndSummariesToThatOfTheSink(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, nil)
	dir := t.TempDir()
	rules, file := write(t, dir, "r.yml", rule("A", "evil")), write(t, dir, "alerts.yml", told)
	d := start(t, "-r", rules, "--input", "http", "--alert-pipeline", file,
		"--output", "nats://"+s.Target("found"), "--output", "nats://"+s.Target("findings")+"?format=ocsf")
	d.push(event("evil"))
	d.await("the end of the alert", func() bool { return d.metric("svc_dedup_summaries_emitted_total") == 1 })
	d.stop()
	for _, tc := range []struct{ stream, want string }{
		{"sluice-found", "result, summary"},
		{"sluice-findings", "result as a finding, summary"},
		{"sluice-soc-incidents", "incident, incident as a finding"},
	} {
		if got := kinds(t, natstest.Bodies(s.Stored(tc.stream))); got != tc.want {
			t.Errorf("%s holds %s, want %s", tc.stream, got, tc.want)
		}
	}
}

// A dead letter shows the native line, whatever the form of the sink that failed.
func TestIncidentsThatCannotBeDeliveredAreDeadLettersAsNativeLines(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, func(o *server.Options) {
		may := &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{"soc.incidents"}}}
		o.Users = []*server.User{{Username: "u", Password: "secret", Permissions: may}}
	})
	dir := t.TempDir()
	rules, file := write(t, dir, "r.yml", rule("A", "evil")), write(t, dir, "alerts.yml", told)
	for _, tc := range []struct {
		name, sink string
		want       string // of the dead letters
	}{
		{"a file on a full disk", "file:///dev/full", "incident, result, summary"},
		{"findings for a full disk", "file:///dev/full?format=ocsf", "incident, result, summary"},
		{"a subject that may not be written to", "nats://" + s.Target("found"), "incident"},
		{"findings for such a subject", "nats://" + s.Target("findings") + "?format=ocsf", "incident"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			native, dead := filepath.Join(dir, "native"), filepath.Join(dir, "dead")
			d := start(t, "-r", rules, "--input", "http", "--alert-pipeline", file, "--nats-user", "u", "--nats-password", "secret",
				"--output", tc.sink, "--output", "file://"+native, "--sink-retry-max", "0", "--dlq", "file://"+dead)
			d.push(event("evil"))
			d.await("the end of the alert", func() bool { return d.metric("svc_dedup_summaries_emitted_total") == 1 })
			d.stop()
			delivered := strings.Join(output(native).lines(), "\n")
			var originals []string
			for _, line := range output(dead).lines() {
				var letter struct {
					Original    string `json:"original_event"`
					Stage, Sink string
				}
				if err := json.Unmarshal([]byte(line), &letter); err != nil || letter.Stage != "delivery" {
					t.Fatalf("dead letter %s: %v", line, err)
				}
				if !strings.HasPrefix(letter.Original, "[") { // results come in a list
					originals = append(originals, letter.Original)
					if !strings.Contains(delivered, letter.Original) {
						t.Errorf("the dead letter shows %s, which is none of the native lines:\n%s", letter.Original, delivered)
					}
				} else {
					originals = append(originals, strings.Trim(letter.Original, "[]"))
				}
			}
			if got := kinds(t, originals); got != tc.want {
				t.Errorf("dead letters are %s, want %s", got, tc.want)
			}
		})
	}
	login := natsio.UserInfo("u", "secret")
	for _, stream := range []string{"sluice-found", "sluice-findings"} {
		if got := kinds(t, natstest.Bodies(s.Stored(stream, login))); strings.Contains(got, "incident") || !strings.HasPrefix(got, "result") || !strings.HasSuffix(got, ", summary") {
			t.Errorf("%s holds %s, want what has no subject of its own", stream, got)
		}
	}
}
