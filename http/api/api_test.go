package api

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/sigma/ast"
)

func TestHeadersOfTheControlRoutes(t *testing.T) {
	s := start(t, &daemon{}).everything(&daemon{})
	for _, tc := range []struct {
		name, method, target string
		status               int
		nosniff, cache       string
	}{
		{"an answer", "GET", "/api/v1/status", 200, "nosniff", "no-store"},
		{"HEAD has the headers of GET", "HEAD", "/api/v1/status", 200, "nosniff", "no-store"},
		{"an error", "GET", "/api/v1/nope", 404, "nosniff", "no-store"},
		{"probes are unversioned", "GET", "/healthz", 200, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := s.do(t, tc.method, tc.target, "")
			if got.status != tc.status || got.header.Get("X-Content-Type-Options") != tc.nosniff || got.header.Get("Cache-Control") != tc.cache {
				t.Errorf("got %d %v, want %d, %q, %q", got.status, got.header, tc.status, tc.nosniff, tc.cache)
			}
			if tc.method == "HEAD" && (got.body != "" || got.header.Get("Content-Length") == "0") {
				t.Errorf("got body %q of length %s, want the length alone", got.body, got.header.Get("Content-Length"))
			}
		})
	}
}

func TestWhileRulesLoad(t *testing.T) {
	d := &daemon{notReady: true}
	s := start(t, d, func(o *Options) { o.Profiling = true })
	starting := `~{"error":"starting","hint":"`
	for _, tc := range []row{
		{"liveness", "GET", "/healthz", "", 200, `{"status":"ok"}`},
		{"readiness", "GET", "/readyz", "", 503, `{"status":"not_ready","rules_loaded":false}`},
		{"everything else", "GET", "/api/v1/status", "", 503, starting},
		{"features that are off", "GET", "/api/v1/fields", "", 503, starting},
		{"ingest", "POST", "/api/v1/events", "{}", 503, starting},
		{"profiles", "GET", "/debug/pprof/", "", 503, starting},
		{"a wrong method is wrong already", "PUT", "/api/v1/status", "", 405, `{"error":"method not allowed"}`},
		{"a path near that of events", "POST", "/api/v1/event", "", 404, `{"error":"not found","hint":"events go to POST /api/v1/events"}`},
		{"events to the root", "POST", "/", "", 404, `{"error":"not found","hint":"events go to POST /api/v1/events"}`},
		{"an unknown path is unknown already", "GET", "/nope", "", 404, `{"error":"not found"}`},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.check(t, s) })
	}
	if got := s.do(t, "GET", "/metrics", ""); got.status != 200 {
		t.Errorf("metrics: got %d, want 200", got.status)
	}
	d.notReady = false
	row{"", "GET", "/readyz", "", 503, `{"status":"not_ready","rules_loaded":false}`}.check(t, s)
	s.everything(d)
	row{"", "GET", "/readyz", "", 200, `{"status":"ready","rules_loaded":true}`}.check(t, s)
	if got := s.do(t, "GET", "/api/v1/status", ""); got.status != 200 {
		t.Errorf("after Mount: got %d, want 200", got.status)
	}
}

func TestProbes(t *testing.T) {
	for _, tc := range []struct {
		name  string
		state *daemon
		row
	}{
		{"ready", &daemon{}, row{"", "GET", "/readyz", "", 200, `{"status":"ready","rules_loaded":true}`}},
		{"after a failed reload", &daemon{notReady: true}, row{"", "GET", "/readyz", "", 503, `{"status":"not_ready","rules_loaded":false}`}},
		{"a failed reload is not death", &daemon{notReady: true}, row{"", "GET", "/healthz", "", 200, `{"status":"ok"}`}},
		{"a suspended actor is", &daemon{dying: "sink:file"}, row{
			"", "GET", "/healthz", "", 503,
			`{"status":"failing","error":"actor 'sink:file' has used up its restart budget","actor":"sink:file"}`,
		}},
		{"and is not ready", &daemon{dying: "sink:file"}, row{"", "GET", "/readyz", "", 503, `{"status":"not_ready","rules_loaded":false}`}},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.check(t, start(t, tc.state).everything(tc.state)) })
	}
}

func TestStatus(t *testing.T) {
	d := &daemon{report: []actors.Member{{Name: "detection_rules", Value: 3}, {Name: "events_processed", Value: uint64(100)}, {Name: "uptime_seconds", Value: 1.5}}}
	s := start(t, d).everything(d)
	const head = `{"status":"running","detection_rules":3,"events_processed":100,"uptime_seconds":1.5`
	row{"", "GET", "/api/v1/status", "", 200, head + `}`}.check(t, s)
	d.report = append(d.report, actors.Member{Name: "of_a_feature", Value: map[string]string{"path": "a<b"}})
	row{"with an object", "GET", "/api/v1/status?x=1&x=2", "", 200, head + `,"of_a_feature":{"path":"a<b"}}`}.check(t, s)
}

func TestRules(t *testing.T) {
	counts := func(detections, correlations int) []actors.Member {
		return []actors.Member{{Name: "detection_rules", Value: detections}, {Name: "correlation_rules", Value: correlations}}
	}
	for _, tc := range []struct {
		name   string
		report RuleReport
		want   string
	}{
		{
			"all documents good",
			RuleReport{Counts: counts(2, 0), Paths: []string{"rules"}},
			`{"detection_rules":2,"correlation_rules":0,"rules_path":"rules","rejected":[],"excluded":0}`,
		},
		{
			"several paths and excluded documents",
			RuleReport{Counts: counts(0, 1), Paths: []string{"a", "b c"}, Excluded: 4},
			`{"detection_rules":0,"correlation_rules":1,"rules_path":"a, b c","rejected":[],"excluded":4}`,
		},
		{"one rejected document", RuleReport{Counts: counts(1, 0), Paths: []string{"r"}, Rejected: []RejectedDocument{{
			File: "b.yml", Document: 1, Problems: []ast.Problem{{File: "b.yml", Document: 1, Stage: ast.StageParse, Reason: "Missing required field 'title'"}},
		}}}, `{"detection_rules":1,"correlation_rules":0,"rules_path":"r","rejected":[{"file":"b.yml","document":1,` +
			`"problems":[{"stage":"parse","reason":"Missing required field 'title'"}]}],"excluded":0}`},
		{"what is known of a document is shown", RuleReport{Counts: counts(0, 0), Rejected: []RejectedDocument{{
			File: "c.yml", Document: 2, Title: "A < B", ID: "i", Problems: []ast.Problem{{Line: 9, Stage: ast.StageCompile, Reason: "invalid regex: ["}},
		}}}, `{"detection_rules":0,"correlation_rules":0,"rules_path":"","rejected":[{"file":"c.yml","document":2,"title":"A < B","id":"i",` +
			`"problems":[{"line":9,"stage":"compile","reason":"invalid regex: ["}]}],"excluded":0}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := &daemon{rules: tc.report}
			row{"", "GET", "/api/v1/rules", "", 200, tc.want}.check(t, start(t, d).everything(d))
		})
	}
}

func TestReload(t *testing.T) {
	d := &daemon{}
	s := start(t, d).everything(d)
	row{"", "POST", "/api/v1/reload", "any \xff body", 200, `{"status":"reload_triggered"}`}.check(t, s)
	row{"", "POST", "/api/v1/reload", "", 200, `{"status":"reload_triggered"}`}.check(t, s)
	if d.reloads != 2 {
		t.Errorf("got %d triggers, want 2", d.reloads)
	}
}

// Every way an actor has of not answering, on the routes that ask.
func TestRefusals(t *testing.T) {
	for _, tc := range []struct {
		name   string
		err    error
		status int
		want   string
		retry  string
	}{
		{"the control lane is full", &mailbox.Refusal{Actor: "correlate", Reason: mailbox.ErrFull}, 503, `~{"error":"control mailbox of 'correlate' is full","hint":"`, "1"},
		{"no answer in time", &mailbox.Refusal{Actor: "correlate", Reason: mailbox.ErrTimeout}, 503, `~{"error":"actor 'correlate' did not answer in time","hint":"`, ""},
		{"the drain has stopped it", fmt.Errorf("state: %w", &mailbox.Refusal{Actor: "correlate", Reason: mailbox.ErrStopped}), 503, `~{"error":"shutting down","hint":"`, ""},
		{"the question panicked", &mailbox.Refusal{Actor: "correlate", Reason: mailbox.ErrPanicked}, 500, `{"error":"internal error"}`, ""},
		{"anything else stays inside", errors.New("secret"), 500, `{"error":"internal error"}`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := &daemon{askErr: tc.err}
			s := start(t, d).everything(d)
			for _, target := range []string{"/api/v1/correlations", "/api/v1/correlations/state"} {
				got := row{"", "GET", target, "", tc.status, tc.want}.check(t, s)
				if retry := got.header.Get("Retry-After"); retry != tc.retry {
					t.Errorf("got Retry-After %q, want %q", retry, tc.retry)
				}
			}
		})
	}
}

func TestTracingNamesThePatternAndNothingOfTheClient(t *testing.T) {
	s := start(t, &daemon{}).everything(&daemon{})
	s.do(t, "GET", "/api/v1/actors/secret?token=secret", "", "Authorization", "Bearer secret")
	log := s.logged()
	for _, want := range []string{"level=DEBUG", "method=GET", "route=/api/v1/actors/{name}", "status=404", "duration="} {
		if !strings.Contains(log, want) {
			t.Errorf("got log %s, want %s in it", log, want)
		}
	}
	if strings.Contains(log, "secret") {
		t.Errorf("got log %s, want nothing of the request itself", log)
	}
}

func TestProtectionIsAskedInOrder(t *testing.T) {
	var mu sync.Mutex
	var asked []Endpoint
	d := &daemon{}
	s := start(t, d, func(o *Options) {
		o.Protect = func(e Endpoint, next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				asked = append(asked, e)
				mu.Unlock()
				if r.Header.Get("Authorization") == "" && !e.Open {
					writeError(w, http.StatusUnauthorized, "who?")
					return
				}
				next.ServeHTTP(w, r)
			})
		}
		o.Audit = func(e Endpoint, next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("X-Audited", e.Method+" "+e.Pattern)
				next.ServeHTTP(w, r)
			})
		}
	})
	for _, tc := range []struct {
		name, method, target, token string
		status                      int
		want                        Endpoint
		audited                     string
	}{
		{"before loading is", "GET", "/api/v1/status", "", 401, Endpoint{Method: "GET", Pattern: "/api/v1/status", Permission: "status:read"}, ""},
		{
			"loading comes next, unrecorded", "POST", "/api/v1/reload", "t", 503,
			Endpoint{Method: "POST", Pattern: "/api/v1/reload", Permission: "reload:execute", Audited: true},
			"",
		},
		{"a wrong method needs the full grant", "PUT", "/api/v1/rules", "", 401, Endpoint{Pattern: "/api/v1/rules"}, ""},
		{"with it the method is wrong", "PUT", "/api/v1/rules", "t", 405, Endpoint{Pattern: "/api/v1/rules"}, ""},
		{"HEAD needs what GET needs", "HEAD", "/metrics", "", 401, Endpoint{Method: "GET", Pattern: "/metrics", Permission: "metrics:read"}, ""},
		{"probes are open", "GET", "/healthz", "", 200, Endpoint{Method: "GET", Pattern: "/healthz", Open: true}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			asked = nil
			var headers []string
			if tc.token != "" {
				headers = []string{"Authorization", tc.token}
			}
			got := s.do(t, tc.method, tc.target, "", headers...)
			if got.status != tc.status || len(asked) != 1 || asked[0] != tc.want || got.header.Get("X-Audited") != tc.audited {
				t.Errorf("got %d, %+v, audited %q, want %d, %+v, %q", got.status, asked, got.header.Get("X-Audited"), tc.status, tc.want, tc.audited)
			}
		})
	}
	asked = nil
	if got := s.do(t, "GET", "/nope", ""); got.status != 404 || len(asked) != 0 {
		t.Errorf("unknown path: got %d after %v, want 404 without credentials", got.status, asked)
	}
	s.everything(d)
	got := s.do(t, "PATCH", "/api/v1/actors/none", `{"mailbox_capacity":5}`, "Authorization", "t")
	if got.status != 404 || got.header.Get("X-Audited") != "PATCH /api/v1/actors/{name}" {
		t.Errorf("mutation: got %d audited %q, want 404, recorded", got.status, got.header.Get("X-Audited"))
	}
}
