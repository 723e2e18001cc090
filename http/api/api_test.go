package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/alert"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph/alert/incident"
	"github.com/sluicehq/sluice/graph/alert/silence"
	"github.com/sluicehq/sluice/graph/catalog"
	"github.com/sluicehq/sluice/internal/unavailable"
	"github.com/sluicehq/sluice/otlp/ingest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sources/ndjson"
)

// daemon stands for everything behind the API. Its fields are set before
// requests are made.
type daemon struct {
	notReady   bool
	dying      string
	report     []actors.Member
	rules      RuleReport
	catalog    *catalog.Catalog
	level      LogLevel
	trail      Audit
	views      []correlation.Entry
	groups     []correlation.GroupEntry
	filter     correlation.Filter
	askErr     error
	reloads    int
	records    []actors.Record
	detail     any
	accepted   int
	undecoded  int
	ingestErr  error
	ingested   string
	ingestedAs ndjson.Options
	silences   *silence.Set // at second 100
	keep       bool         // silences stay when they are deleted
	noRoom     bool         // for silences
	warning    string       // of a silence that is made
	changeErr  error        // of changes of silences
	incidents  *incident.Store
	feeds      *feeds
	logs       ingest.Outcome
	logsErr    error
}

func (d *daemon) Ready() bool                                 { return !d.notReady }
func (d *daemon) Failing() (string, bool)                     { return d.dying, d.dying != "" }
func (d *daemon) Status() []actors.Member                     { return d.report }
func (d *daemon) Rules() RuleReport                           { return d.rules }
func (d *daemon) Catalog() *catalog.Catalog                   { return d.catalog }
func (d *daemon) Request()                                    { d.reloads++ }
func (d *daemon) Records() []actors.Record                    { return d.records }
func (d *daemon) Detail(context.Context, string) (detail any) { return d.detail }

func (d *daemon) List(context.Context) ([]correlation.Entry, error) { return d.views, d.askErr }

func (d *daemon) State(_ context.Context, f correlation.Filter) ([]correlation.Entry, iter.Seq[correlation.GroupEntry], int, error) {
	d.filter = f
	return d.views, slices.Values(d.groups), len(d.groups), d.askErr
}

func (d *daemon) Silences(context.Context) (list []*silence.Silence, now int64, err error) {
	if d.silences != nil {
		list = d.silences.List()
	}
	return list, 100, d.askErr
}

func (d *daemon) AddSilence(_ context.Context, s silence.Spec) (alert.Made, error) {
	if d.noRoom {
		return alert.Made{}, &alert.FullError{Limit: 1000}
	}
	if err := errors.Join(d.askErr, d.changeErr); err != nil {
		return alert.Made{}, err
	}
	s.ID = "made"
	made, err := silence.Compile(s, silence.API, 100)
	if err != nil {
		return alert.Made{}, err
	}
	if d.silences != nil {
		d.silences.Add(made)
	}
	return alert.Made{ID: s.ID, Warning: d.warning}, nil
}

func (d *daemon) DeleteSilence(_ context.Context, id string) (bool, error) {
	if err := errors.Join(d.askErr, d.changeErr); err != nil || d.silences == nil {
		return false, err
	}
	if d.keep { // for another request
		return d.silences.Find(id) != nil, nil
	}
	return d.silences.Remove(id), nil
}

func (d *daemon) Incidents(context.Context) (*incident.View, error) {
	if d.incidents == nil {
		return nil, d.askErr
	}
	return d.incidents.Export(), d.askErr
}

func (d *daemon) Record(name string) (actors.Record, error) {
	for _, r := range d.records {
		if r.Name == name {
			return r, nil
		}
	}
	return actors.Record{}, fmt.Errorf("look up %s: %w", name, actors.ErrNoActor)
}

func (d *daemon) Resize(name string, n int) (actors.Record, error) {
	r, err := d.Record(name)
	r.Mailbox.Capacity = n
	return r, err
}

func (d *daemon) Ingest(_ context.Context, body io.Reader, o ndjson.Options) (int, int, error) {
	b, err := io.ReadAll(body)
	d.ingested, d.ingestedAs = string(b), o
	if err != nil {
		return d.accepted, d.undecoded, err
	}
	return d.accepted, d.undecoded, d.ingestErr
}

// Post reads the body and says what it was told to.
func (d *daemon) Post(_ context.Context, p ingest.Post) (ingest.Outcome, error) {
	if _, err := io.ReadAll(p.Body); err != nil {
		return ingest.Outcome{}, err
	}
	o := d.logs
	o.JSON = p.ContentType == "application/json"
	return o, d.logsErr
}

// service is an API on a real socket.
type service struct {
	*API
	url  string
	http *httptest.Server
	log  *bytes.Buffer
}

// logged ends the service, so that every request has written its lines, and
// returns them.
func (s service) logged() string {
	s.http.Close()
	return s.log.String()
}

func start(t *testing.T, d *daemon, adapt ...func(*Options)) service {
	t.Helper()
	var log bytes.Buffer
	o := Options{
		Log:     slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Health:  d,
		Metrics: prometheus.NewRegistry(),
	}
	for _, f := range adapt {
		f(&o)
	}
	a := New(o)
	s := httptest.NewUnstartedServer(a)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	s.Start()
	t.Cleanup(s.Close)
	return service{a, s.URL, s, &log}
}

// everything mounts d as all resources.
func (s service) everything(d *daemon) service {
	s.Mount(Resources{Status: d, Rules: d, Catalog: d, LogLevel: d.level, Reloader: d, Actors: d, Correlations: d, Silences: d, Incidents: d, Sources: d.feeds, Audit: d.trail, Ingest: d, Logs: d, MaxIngestBody: 20 << 20})
	return s
}

type answer struct {
	status int
	header http.Header
	body   string
}

func (s service) do(t *testing.T, method, target, body string, headers ...string) answer {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+target, reader)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	tr := &http.Transport{DisableCompression: true}
	defer tr.CloseIdleConnections()
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, strings.TrimSuffix(string(b), "\n")}
}

var update = flag.Bool("update", false, "rewrite golden files")

// golden compares got with testdata/name.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

// row is a request and all of its answer.
type row struct {
	name           string
	method, target string
	body           string
	status         int
	want           string // body; a leading ~ means: contains
}

func (tc row) check(t *testing.T, s service, headers ...string) answer {
	t.Helper()
	got := s.do(t, tc.method, tc.target, tc.body, headers...)
	if got.status != tc.status {
		t.Errorf("got status %d, want %d", got.status, tc.status)
	}
	if part, partial := strings.CutPrefix(tc.want, "~"); partial {
		if !strings.Contains(got.body, part) {
			t.Errorf("got body %s, want %q in it", got.body, part)
		}
	} else if got.body != tc.want {
		t.Errorf("got body  %s\nwant body %s", got.body, tc.want)
	}
	if ct := got.header.Get("Content-Type"); ct != "application/json" {
		t.Errorf("got content type %q, want application/json", ct)
	}
	return got
}

func TestRouting(t *testing.T) {
	s := start(t, &daemon{}).everything(&daemon{})
	const notFound, notAllowed = `{"error":"not found"}`, `{"error":"method not allowed"}`
	for _, tc := range []struct {
		row
		allow string
	}{
		{row{"an unknown path", "GET", "/nope", "", 404, notFound}, ""},
		{row{"the root is unknown too", "GET", "/", "", 404, notFound}, ""},
		{row{"a trailing slash is another path", "GET", "/api/v1/status/", "", 404, notFound}, ""},
		{row{"nothing is cleaned", "GET", "/api/v1//status", "", 404, notFound}, ""},
		{row{"nothing is resolved", "GET", "/api/v1/rules/../status", "", 404, notFound}, ""},
		{row{"an empty id is another path", "GET", "/api/v1/actors/", "", 404, notFound}, ""},
		{row{"another method", "PUT", "/api/v1/rules", "", 405, notAllowed}, "GET, HEAD"},
		{row{"OPTIONS", "OPTIONS", "/api/v1/status", "", 405, notAllowed}, "GET, HEAD"},
		{row{"several methods are sorted", "DELETE", "/api/v1/actors/parse", "", 405, notAllowed}, "GET, HEAD, PATCH"},
		{row{"a route without GET has no HEAD", "GET", "/api/v1/reload", "", 405, notAllowed}, "POST"},
		{row{"HEAD of a stream is refused", "POST", "/api/v1/tap", "", 405, notAllowed}, "GET"},
		{row{"probes have methods too", "POST", "/healthz", "", 405, notAllowed}, "GET, HEAD"},
		{row{"profiles are off", "GET", "/debug/pprof/", "", 404, notFound}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := tc.check(t, s, "Origin", "http://evil.example")
			if allow := got.header.Get("Allow"); allow != tc.allow {
				t.Errorf("got Allow %q, want %q", allow, tc.allow)
			}
			for name := range got.header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("got header %s, want no CORS", name)
				}
			}
		})
	}
	if got := s.do(t, "HEAD", "/api/v1/tap", ""); got.status != 405 {
		t.Errorf("HEAD of a stream: got %d, want 405", got.status)
	}
}

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

func TestAPanicIsA500AndTheServiceLivesOn(t *testing.T) {
	d := &daemon{}
	s := start(t, d)
	s.Mount(Resources{Rules: d}) // no Status: its handler dereferences nil
	row{"", "GET", "/api/v1/status", "", 500, `{"error":"internal error"}`}.check(t, s)
	if got := s.do(t, "GET", "/api/v1/rules", ""); got.status != 200 {
		t.Errorf("afterwards: got %d, want 200", got.status)
	}
	if log := s.logged(); !strings.Contains(log, "request panicked") || !strings.Contains(log, "route=/api/v1/status") {
		t.Errorf("got log %s, want the panic with its route", log)
	}
}

func TestAPanicInTheMiddleCutsTheConnection(t *testing.T) {
	s := start(t, &daemon{}, func(o *Options) {
		o.Protect = func(_ Endpoint, _ http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				io.WriteString(w, "half an ans")
				http.NewResponseController(w).Flush()
				panic("oops")
			})
		}
	})
	resp, err := http.Get(s.url + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("got %q and no error, want a broken answer", body)
	}
	http.DefaultClient.CloseIdleConnections()
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

func TestEndpointsAreThePermissionTable(t *testing.T) {
	var b bytes.Buffer
	for _, e := range start(t, &daemon{}).Endpoints() {
		if e.Open == (e.Permission != "") {
			t.Errorf("%s %s: open is %v, and the permission is %q", e.Method, e.Pattern, e.Open, e.Permission)
		}
		b.WriteString(e.Method + " " + e.Pattern + " ")
		switch {
		case e.Open:
			b.WriteString("open")
		default:
			b.WriteString(e.Permission)
		}
		if e.Also != "" {
			b.WriteString(" and at times " + e.Also)
		}
		if e.Audited {
			b.WriteString(" audited")
		}
		b.WriteByte('\n')
	}
	golden(t, "endpoints.golden", b.Bytes())
}

func TestUnavailableFeaturesNameRoutesOfTheTable(t *testing.T) {
	patterns := make(map[string]bool)
	for _, e := range start(t, &daemon{}).Endpoints() {
		patterns[e.Pattern] = true
	}
	for _, f := range unavailable.All() {
		for _, route := range f.Routes {
			if !patterns[route] {
				t.Errorf("%s names the route %s, which does not exist", f.Name, route)
			}
			delete(patterns, route)
		}
	}
	for _, r := range unavailableRoutes {
		if patterns[r.pattern] {
			t.Errorf("no unavailable feature names the route %s", r.pattern)
		}
	}
}

// Whoever asks for a feature that this build does not have is told so the same way.
func TestRoutesOfUnavailableFeaturesTellTheSame(t *testing.T) {
	d := &daemon{}
	s := start(t, d).everything(d)
	for _, r := range unavailableRoutes {
		for method := range r.endpoints {
			req, err := http.NewRequest(method, s.url+strings.ReplaceAll(r.pattern, "{id}", "7"), nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			var body errorBody
			err = json.NewDecoder(resp.Body).Decode(&body)
			resp.Body.Close()
			if err != nil || resp.StatusCode != http.StatusServiceUnavailable || !strings.HasSuffix(body.Error, " disabled") || body.Hint != "this version does not have it, and no setting turns it on" {
				t.Errorf("%s %s: %d %+v, %v", method, r.pattern, resp.StatusCode, body, err)
			}
		}
	}
}

// A request target that is not a path reaches no route and no panic.
func TestOddRequestTargets(t *testing.T) {
	s := start(t, &daemon{}).everything(&daemon{})
	for _, request := range []string{
		"OPTIONS * HTTP/1.1", "CONNECT example.org:443 HTTP/1.1", "GET /api/v1/actors/%2F%2e%2e HTTP/1.1", "GET http://other/api/v1/nope HTTP/1.1",
	} {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, request+"\r\nHost: x\r\nConnection: close\r\n\r\n")
		b, _ := io.ReadAll(c)
		c.Close()
		if line, _, _ := strings.Cut(string(b), "\r\n"); !strings.HasPrefix(line, "HTTP/1.1 40") && !strings.HasPrefix(line, "HTTP/1.1 200") {
			t.Errorf("%s: got %q, want a 4xx", request, line)
		}
	}
}
