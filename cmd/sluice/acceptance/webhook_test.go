package acceptance

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// hook is a receiver of webhooks: it keeps bodies, and answers with the statuses in turn.
type hook struct {
	*httptest.Server
	mu       sync.Mutex // guards the rest
	statuses []int      // 200 when there is none left
	bodies   []string
}

func newHook(t *testing.T, statuses ...int) *hook {
	t.Helper()
	h := &hook{statuses: statuses}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.bodies = append(h.bodies, r.Header.Get("Content-Type")+" "+r.Header.Get("User-Agent")[:7]+" "+string(body))
		if len(h.statuses) > 0 {
			w.WriteHeader(h.statuses[0])
			h.statuses = h.statuses[1:]
		}
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *hook) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.bodies...)
}

func TestWebhooks(t *testing.T) {
	chat, pager := newHook(t), newHook(t, 404, 503)
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	write(t, dir, "rules/b.yml", "title: B\nid: b\nlevel: critical\ncorrelation: {type: event_count, rules: id-A, group-by: [C], timespan: 1m, condition: {gte: 1}, generate: true}\n")
	write(t, dir, "hooks/chat.yml", fmt.Sprintf(`webhooks:
  - id: chat
    kind: detection
    url: %s/hook
    scope: {levels: [high]}
    body: '{"text": "*${detection.rule.title}* on ${detection.fields.C}"}'
  - id: off
    kind: detection
    url: %s/never
    scope: {levels: [low]}
`, chat.URL, chat.URL))
	write(t, dir, "hooks/pager.yml", fmt.Sprintf(`webhooks:
  - id: pager
    kind: correlation
    url: %s/
    queue_size: 17
    retry: {backoff: 1ms}
    body: '{"summary": ${correlation.rule.title}, "key": ${correlation.group_key}}'
`, pager.URL))
	d := start(t, "-r", dir+"/rules", "--input", "http", "--webhook", dir+"/hooks", "--dlq", "file://"+dir+"/dead")
	for _, series := range []string{
		`svc_webhook_requests_total{outcome="success",webhook_id="chat"}`, `svc_webhook_requests_total{outcome="permanent_failure",webhook_id="off"}`,
		`svc_webhook_requests_total{outcome="rate_limited_wait",webhook_id="pager"}`, `svc_webhook_request_duration_seconds_count{webhook_id="off"}`,
		`svc_sink_queue_depth{sink="chat"}`, `svc_sink_retries_total{sink="pager"}`, `svc_sink_dropped_total{sink="off"}`, `svc_sink_delivery_failures_total{sink="pager"}`,
	} {
		if n := d.metric(series); n != 0 {
			t.Errorf("%s is %v at the start", series, n)
		}
	}
	d.push(event(`evil \"1\"`), event("evil 2"))
	d.await("four requests and a dead letter", func() bool {
		return len(chat.all()) == 2 && len(pager.all()) == 3 && d.metric("svc_dlq_events_total") == 1 &&
			d.metric(`svc_webhook_requests_total{outcome="success",webhook_id="pager"}`) == 1
	})
	for i, want := range []string{
		`application/json sluice/ {"text": "*A* on evil \"1\""}`, `application/json sluice/ {"text": "*A* on evil 2"}`,
		`application/json sluice/ {"summary": "B", "key": "C=evil \"1\""}`, `application/json sluice/ {"summary": "B", "key": "C=evil 2"}`, `application/json sluice/ {"summary": "B", "key": "C=evil 2"}`,
	} {
		if got := append(chat.all(), pager.all()...)[i]; got != want {
			t.Errorf("request %d: %s, want %s", i, got, want)
		}
	}
	for series, want := range map[string]float64{
		`svc_webhook_requests_total{outcome="success",webhook_id="chat"}`:            2,
		`svc_webhook_request_duration_seconds_count{webhook_id="chat"}`:              2,
		`svc_webhook_requests_total{outcome="permanent_failure",webhook_id="pager"}`: 1,
		`svc_webhook_request_duration_seconds_count{webhook_id="pager"}`:             2,
		`svc_sink_retries_total{sink="pager"}`:                                       1,
		`svc_sink_delivery_failures_total{sink="pager"}`:                             1,
		`svc_sink_retries_total{sink="chat"}`:                                        0,
		`svc_webhook_request_duration_seconds_count{webhook_id="off"}`:               0,
		`svc_actor_mailbox_capacity{actor="sink:pager"}`:                             17,
		`svc_actor_mailbox_capacity{actor="sink:chat"}`:                              1024,
	} {
		if n := d.metric(series); n != want {
			t.Errorf("%s is %v, want %v", series, n, want)
		}
	}
	if list := d.get("/api/v1/actors").body; !strings.Contains(list, `"sink:chat"`) || !strings.Contains(list, `"sink:off"`) {
		t.Errorf("actors %s", list)
	}
	if detail := d.get("/api/v1/actors/sink:pager").body; !strings.Contains(detail, `"sink_kind":"webhook"`) || !strings.Contains(detail, `"on_full":"drop"`) || !strings.Contains(detail, `"delivery_failures":1`) {
		t.Errorf("actor %s", detail)
	}
	d.stop()
	dead := output(dir + "/dead").String()
	for _, want := range []string{`"error":"sink delivery failure: permanent delivery failure: webhook pager: HTTP 404 Not Found"`, `"sink":"pager","attempts":1`, `\"correlation_type\":\"event_count\"`} {
		if !strings.Contains(dead, want) {
			t.Errorf("dead letters lack %s: %s", want, dead)
		}
	}
	if got := len(d.stdout.lines()); got != 4 {
		t.Errorf("%d lines on stdout, want 4", got)
	}
}

func TestAWebhookThatNobodyAnswersHoldsNothingUp(t *testing.T) {
	gone := newHook(t)
	gone.Close()
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	hooks := write(t, dir, "hooks.yml", "webhooks: [{id: gone, kind: detection, url: '"+gone.URL+"', queue_size: 2}]\n")
	d := start(t, "-r", dir+"/rules", "--input", "http", "--webhook", hooks, "--drain-timeout", "1")
	var lines []string
	for range 500 {
		lines = append(lines, event("evil"))
	}
	if a := d.do("POST", "/api/v1/events", strings.Join(lines, "\n")); a.status != 200 {
		t.Fatalf("answer %d", a.status)
	}
	d.await("all lines on stdout, and drops", func() bool {
		return len(d.stdout.lines()) == 500 && d.metric(`svc_sink_dropped_total{sink="gone"}`) > 400 && d.metric(`svc_sink_retries_total{sink="gone"}`) > 0
	})
	d.stop()
	log := d.stderr.String()
	for _, want := range []string{"webhook gone: dial tcp", "connection refused"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q", want)
		}
	}
}

// What can never work refuses the start, and validation says the same.
func TestWebhooksThatCanNeverWorkRefuseTheStart(t *testing.T) {
	plainly(t)
	dir := t.TempDir()
	rules := write(t, dir, "rules/a.yml", rule("A", "evil"))
	for _, tc := range []struct {
		name, text, policy, want string
	}{
		{"an address that the policy denies", "webhooks:\n  - id: w\n    kind: detection\n    url: http://169.254.169.254/\n", "default", "hooks.yml:4: daemon.output.webhooks: webhook 'w': field 'url': egress policy denied link-local address 169.254.169.254"},
		{"one that a stricter policy denies", "webhooks:\n  - id: w\n    kind: detection\n    url: http://127.0.0.1:1/\n", "strict", "hooks.yml:4: daemon.output.webhooks: webhook 'w': field 'url': egress policy denied loopback address 127.0.0.1 (--egress-policy is strict)"},
		{"a variable that is unset", "webhooks:\n  - id: w\n    kind: detection\n    url: https://h/${SLUICE_TEST_NOT_SET}\n", "default", "hooks.yml:4: daemon.output.webhooks: webhook 'w': field 'url': the environment variable 'SLUICE_TEST_NOT_SET' is unset or empty"},
		{"a body that is no JSON", "webhooks:\n  - id: w\n    kind: detection\n    url: https://h/\n    body: found ${detection.rule.title}\n", "default", "hooks.yml:5: daemon.output.webhooks: webhook 'w': field 'body' is no JSON"},
		{"an empty file", "", "default", "hooks.yml: daemon.output.webhooks: the file is empty"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			hooks := write(t, t.TempDir(), "hooks.yml", tc.text)
			config := write(t, t.TempDir(), "sluice.yaml", fmt.Sprintf("daemon:\n  rules: [%s]\n  api: {addr: '127.0.0.1:0'}\n  engine: {egress_policy: %s}\n  output:\n    webhooks: [%s]\n", rules, tc.policy, hooks))
			for _, args := range [][]string{{"config", "validate", "-c", config}, {"engine", "daemon", "--config", config}} {
				if got := sluice(t, "", args...); got.code != 3 || !strings.Contains(got.stderr, tc.want) {
					t.Errorf("%v: exit code %d, %s", args, got.code, got.stderr)
				}
			}
		})
	}
}

// What a receiver would not take is posted to it by a replay, byte for byte as the daemon
// posts it.
func TestDeadLettersOfWebhooksAreReplayed(t *testing.T) {
	to := newHook(t, http.StatusNotFound, http.StatusNotFound, http.StatusOK)
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	hooks := write(t, dir, "hooks.yml", "webhooks: [{id: chat, kind: detection, url: '"+to.URL+"/${detection.rule.title}', body: '{\"t\":\"${detection.rule.title}\",\"c\":${detection.fields.C},\"e\":${detection.event}}'}]\n")
	d := start(t, "-r", dir+"/rules", "--input", "http", "--include-event", "--webhook", hooks, "--dlq", "file://"+dir+"/dead")
	for _, line := range []string{event("evil 1"), event(`evil \"2\"`), event("evil 3")} {
		d.push(line)
	}
	d.stop()
	got := sluice(t, "", "dlq", "replay", dir+"/dead", "--webhook", hooks)
	if got.code != 0 || !strings.Contains(got.stderr, "replayed 2 results of 2 dead letters to "+hooks+"\n") {
		t.Fatalf("exit code %d, %s", got.code, got.stderr)
	}
	bodies := to.all()
	if len(bodies) != 5 || bodies[0] != bodies[3] || bodies[1] != bodies[4] || !strings.Contains(bodies[1], "evil") {
		t.Errorf("%d requests:\n%s", len(bodies), strings.Join(bodies, "\n"))
	}
	again := sluice(t, "", "dlq", "replay", dir+"/dead", "--webhook", hooks)
	if again.code != 0 || !strings.Contains(again.stderr, "replayed nothing\n") || len(to.all()) != 5 {
		t.Errorf("the second replay: exit code %d, %s", again.code, again.stderr)
	}
}
