package acceptance

import (
	"encoding/json"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	natsio "github.com/nats-io/nats.go"

	"github.com/sluicehq/sluice/internal/natsconn/natstest"
	"github.com/sluicehq/sluice/otlp/otlptest"
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

// OTLP and webhooks take results only. They pass over incidents and summaries without an
// error, a dead letter or a place in their queues.
func TestIncidentsAndSummariesReachNeitherOTLPNorWebhooks(t *testing.T) {
	t.Parallel()
	overGRPC, overHTTP, detections, correlations := otlptest.New(t), otlptest.New(t), newHook(t), newHook(t)
	var addresses [2]string
	for i, serve := range []func(net.Listener){func(l net.Listener) { overGRPC.ServeGRPCOn(l, nil) }, overHTTP.ServeHTTPOn} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		serve(l)
		addresses[i] = l.Addr().String()
	}
	dir := t.TempDir()
	rules, file := write(t, dir, "r.yml", rule("A", "evil")), write(t, dir, "alerts.yml", told)
	hooks := write(t, dir, "hooks.yml", "webhooks:\n"+
		"  - {id: detections, kind: detection, url: '"+detections.URL+"', body: '{\"title\": ${detection.rule.title}}'}\n"+
		"  - {id: correlations, kind: correlation, url: '"+correlations.URL+"'}\n")
	dead := filepath.Join(dir, "dead")
	d := start(t, "-r", rules, "--input", "http", "--alert-pipeline", file, "--webhook", hooks, "--dlq", "file://"+dead,
		"--output", "stdout", "--output", "otlp://"+addresses[0], "--output", "otlphttp://"+addresses[1])
	d.push(event("evil"))
	d.await("the end of the alert", func() bool { return len(d.stdout.lines()) == 3 })
	d.push(event("evil")) // is delivered behind everything that came before
	d.await("results of both events", func() bool {
		return len(overGRPC.Records()) == 2 && len(overHTTP.Records()) == 2 && len(detections.all()) == 2
	})
	for _, sink := range []string{"otlp", "otlp-2", "detections", "correlations"} {
		for _, series := range []string{"svc_sink_delivery_failures_total", "svc_sink_retries_total", "svc_sink_dropped_total", "svc_sink_queue_depth"} {
			if n := d.metric(series + `{sink="` + sink + `"}`); n != 0 {
				t.Errorf("%s of %s is %g, want 0", series, sink, n)
			}
		}
	}
	d.stop()
	if got := kinds(t, d.stdout.lines()); !strings.HasPrefix(got, "incident, ") || !strings.HasSuffix(got, "result, result, summary, summary") && !strings.HasSuffix(got, "result, result, summary") {
		t.Errorf("standard output has %s, want incidents, both results and summaries", got)
	}
	for name, receiver := range map[string]*otlptest.Receiver{"OTLP over gRPC": overGRPC, "OTLP over HTTP": overHTTP} {
		records := receiver.Records()
		if len(records) != 2 {
			t.Errorf("%s: %d records, want the two results", name, len(records))
		}
		for _, r := range records {
			if text := r.String(); r.Body.GetStringValue() != "A" || strings.Contains(text, `"trigger"`) || strings.Contains(text, "dedup_state") {
				t.Errorf("%s: a record is no result: %s", name, text)
			}
		}
	}
	for _, body := range detections.all() {
		if !strings.HasSuffix(body, ` {"title": "A"}`) {
			t.Errorf("a webhook of detections got %s", body)
		}
	}
	if got := append(detections.all(), correlations.all()...); len(got) != 2 {
		t.Errorf("webhooks got %q, want the two detections", got)
	}
	if letters := output(dead).lines(); len(letters) != 0 {
		t.Errorf("dead letters %q, want none", letters)
	}
}

// The time that --result-time tells stands behind the tags of detections and correlations.
// Incidents are what they are without it.
func TestTheTimeOfResultsIsInNoIncident(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	write(t, dir, "rules/b.yml", "title: B\nid: b\nlevel: critical\ncorrelation: {type: event_count, rules: id-A, group-by: [C], timespan: 1m, condition: {gte: 1}, generate: true}\n")
	file := write(t, dir, "alerts.yml", told)
	timed := regexp.MustCompile(`^\{"rule_title":"[AB]",.*"tags":\[[^\]]*\],"timestamp":"[0-9-]+T[0-9:.]+Z",`)
	for _, args := range [][]string{nil, {"--result-time"}} {
		d := start(t, append([]string{"-r", dir + "/rules", "--input", "http", "--alert-pipeline", file}, args...)...)
		d.push(event("evil"))
		d.await("the end of an alert", func() bool { return d.metric("svc_dedup_summaries_emitted_total") >= 1 })
		d.stop()
		results, incidents := 0, 0
		for _, line := range d.stdout.lines() {
			switch kinds(t, []string{line}) {
			case "result":
				results++
				if got := timed.MatchString(line); got != (args != nil) {
					t.Errorf("%v: the time stands in a result: %t: %s", args, got, line)
				}
			case "incident":
				incidents++
				if strings.Contains(line, `"timestamp"`) {
					t.Errorf("%v: an incident has the time of a result: %s", args, line)
				}
			}
		}
		if results != 2 || incidents == 0 {
			t.Errorf("%v: %d results and %d incidents, want a detection, a correlation and an incident:\n%s", args, results, incidents, d.stdout)
		}
	}
}
