package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gorilla/mux"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/alert"
	"github.com/sluicehq/sluice/actors/evaluate"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/actors/reload"
	"github.com/sluicehq/sluice/actors/sources"
	"github.com/sluicehq/sluice/graph/catalog"
	"github.com/sluicehq/sluice/http/audit"
	"github.com/sluicehq/sluice/http/openapi/openapitest"
	"github.com/sluicehq/sluice/http/reply"
	"github.com/sluicehq/sluice/otlp/ingest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sources/ndjson"
)

func documented(t *testing.T, profiling bool) (raw []byte, c *openapitest.Checker) {
	t.Helper()
	raw, err := Document(profiling)
	if err != nil {
		t.Fatal(err)
	}
	return raw, openapitest.New(t, raw)
}

func TestTheDocumentIsWhatItWas(t *testing.T) {
	raw, _ := documented(t, false)
	golden(t, "openapi.golden.json", raw)
}

// A route that the document lacks, a method, or another permission fails here.
func TestTheDocumentHasTheRoutesOfTheRouter(t *testing.T) {
	for _, profiling := range []bool{false, true} {
		raw, checker := documented(t, profiling)
		var document struct {
			OpenAPI string `json:"openapi"`
			Paths   map[string]map[string]struct {
				Permission string           `json:"x-sluice-permission"`
				Audited    bool             `json:"x-sluice-audited"`
				Security   []map[string]any `json:"security"`
			} `json:"paths"`
		}
		if err := json.Unmarshal(raw, &document); err != nil || !strings.HasPrefix(document.OpenAPI, "3.1") {
			t.Fatalf("got OpenAPI %s, %v", document.OpenAPI, err)
		}
		protected := make(map[string]Endpoint)
		s := start(t, &daemon{}, func(o *Options) {
			o.Profiling = profiling
			o.Protect = func(e Endpoint, next http.Handler) http.Handler {
				protected[e.Method+" "+e.Pattern] = e
				return next
			}
		})
		patterns := 0
		err := s.router.Walk(func(r *mux.Route, _ *mux.Router, _ []*mux.Route) error {
			patterns++
			pattern, err := r.GetPathTemplate()
			path := pathParameter.ReplaceAllString(pattern, "{$1}")
			methods := r.GetHandler().(*methods)
			got, want := checker.Operations()[path], slices.Sorted(maps.Keys(methods.byName))
			if !slices.Equal(got, want) {
				t.Errorf("%s: the document has %v, the router %v", path, got, want)
			}
			for method, o := range document.Paths[path] {
				e, ok := protected[strings.Replace(strings.ToUpper(method), "HEAD", "GET", 1)+" "+pattern]
				want := e.Permission
				if want == "" && !e.Open {
					want = "*:*"
				}
				if !ok || o.Permission != want || o.Audited != e.Audited || (len(o.Security) == 0) != e.Open {
					t.Errorf("%s %s: the document has %+v, the router %+v", method, path, o, e)
				}
				if !e.Open && e.Permission == "" && !strings.HasPrefix(pattern, "/debug/pprof") {
					t.Errorf("%s %s has no permission", method, path)
				}
			}
			return err
		})
		if err != nil || patterns != len(checker.Operations()) {
			t.Errorf("the document has %d paths, the router %d (%v)", len(checker.Operations()), patterns, err)
		}
	}
}

func TestARouteThatIsNotDescribedFails(t *testing.T) {
	fine := operation{id: "getX", summary: "Show x", path: "Id of x.", answers: absentOperation("", "", noTap).answers}
	for _, tc := range []struct {
		name string
		of   []route
		want string
	}{
		{"nothing is known of it", []route{{pattern: "/x", endpoints: get("x:read", nil, operation{})}}, "GET /x is not described"},
		{"it has no summary", []route{{pattern: "/x", endpoints: get("x:read", nil, operation{id: "getX", answers: fine.answers})}}, "GET /x is not described"},
		{"what its parameter is", []route{{pattern: "/x/{id}", endpoints: get("x:read", nil, operation{id: "getX", summary: "x", answers: fine.answers})}}, "GET /x/{id}: parameter id is not described"},
		{"two have one name", []route{{pattern: "/x", endpoints: get("x:read", nil, fine)}, {pattern: "/y", endpoints: get("x:read", nil, fine)}}, "GET /y: the operation getX exists already"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := openapiDocument(tc.of); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestTheDocumentIsServed(t *testing.T) {
	s := start(t, &daemon{})
	row{"while rules load", "GET", "/api/v1/openapi.json", "", 503, `~{"error":"starting","hint":"`}.check(t, s)
	s.everything(&daemon{})
	want, _ := documented(t, false)
	got := row{"afterwards", "GET", "/api/v1/openapi.json", "", 200, `~"openapi": "3.1`}.check(t, s)
	if got.body+"\n" != string(want) {
		t.Error("the served document is not the one that is printed")
	}
	profiled := start(t, &daemon{}, func(o *Options) { o.Profiling = true }).everything(&daemon{})
	row{"with profiles", "GET", "/api/v1/openapi.json", "", 200, `~"/debug/pprof/{profile}": {`}.check(t, profiled)
}

// complete is a daemon whose answers have all members.
func complete() *daemon {
	at, seconds, value, got := time.Unix(1773112225, 0).UTC(), int64(60), "198.51.100.7", 3.5
	entry := correlation.Entry{Type: ast.EventCount, Window: ast.WindowSession, GapSecs: 5, GroupBy: []string{"a"}, RuleRefs: []string{"b"}}
	group := correlation.GroupEntry{
		Type: ast.Temporal, GroupKey: []correlation.KeyPart{{Field: "a", Value: &value}, {Field: "b"}}, Got: &got, Earliest: &seconds, Latest: &seconds,
		SecondsToEviction: &seconds, LastAlert: &seconds, SuppressSecs: &seconds, SuppressionRemaining: &seconds,
		Window: json.RawMessage(`{"ValueCount":{"entries":[[1773112225,"x"]]}}`),
	}
	record := actors.Record{Name: "evaluate", Kind: actors.KindStage, Parent: "dataflow", State: actors.StateRunning, LastRestart: &at, LastError: "panic: x"}
	return &daemon{
		report: []actors.Member{
			{Name: "detection_rules", Value: 1},
			{Name: "correlation_rules", Value: 1},
			{Name: "correlation_state_entries", Value: 0},
			{Name: "events_processed", Value: uint64(1)},
			{Name: "detection_matches", Value: uint64(1)},
			{Name: "correlation_matches", Value: uint64(1)},
			{Name: "parse_errors", Value: int64(1)},
			{Name: "uptime_seconds", Value: 1.5},
			{Name: "reload_pending", Value: true},
			{Name: "last_reload", Value: reload.Outcome{At: at, Trigger: reload.File, Error: "x"}},
			{Name: "dynamic_sources", Value: sources.Status{Total: 1}},
		},
		rules: RuleReport{
			Counts: []actors.Member{{Name: "detection_rules", Value: 1}, {Name: "correlation_rules", Value: 1}}, Paths: []string{"rules"}, Excluded: 1,
			Rejected: []RejectedDocument{{File: "a.yml", Document: 1, Title: "A", ID: "i", Problems: []ast.Problem{{Line: 3, Stage: ast.StageCompile, Reason: "x"}}}},
		},
		views: []correlation.Entry{entry}, groups: []correlation.GroupEntry{group}, records: []actors.Record{record}, detail: evaluate.Detail{}, accepted: 3, undecoded: 1,
		catalog: completeCatalog(at), level: &logLevels{state: LogLevelState{Level: "debug", Origin: "api", Until: &at, Then: "info"}},
		silences: completeSilences(), keep: true, incidents: openIncidents(true), feeds: twoFeeds(),
		trail: entries{Count: 1, Entries: []audit.Record{{ID: 1, TS: at.Unix(), Method: "PUT", Endpoint: "/x", Token: "ann", Status: 200}}},
	}
}

// completeCatalog has a rule with everything, which has matched at the given time.
func completeCatalog(at time.Time) *catalog.Catalog {
	rule := &ast.Rule{
		Meta:      ast.Meta{Title: "A", ID: "i", Level: ast.LevelHigh, Origin: ast.Origin{File: "a.yml", Document: 1}},
		Logsource: ast.Logsource{Product: "p", Category: "c", Service: "s"},
	}
	c := catalog.New([]*ast.Rule{rule, rule}, nil, func(file string) string { return file }, nil)
	c.Detection(0).Add(1, at.Unix())
	return c
}

// entries are a trail of their own; without any, one that cannot be read.
type entries audit.Page

func (e entries) Page(audit.Query) (audit.Page, error) {
	if e.Count == 0 {
		return audit.Page{}, errors.New("the disk is gone")
	}
	return audit.Page(e), nil
}

// Every operation of the document is asked in every state of the daemon.
func TestEveryAnswerIsInTheDocument(t *testing.T) {
	_, checker := documented(t, true)
	ready := func(d *daemon) func(*service) { return func(s *service) { s.everything(d) } }
	broken := func(err error) *daemon {
		d := complete()
		d.feeds.err = err
		d.askErr, d.ingestErr, d.logsErr, d.dying, d.detail, d.trail = err, err, err, "evaluate", nil, entries{}
		return d
	}
	with := func(adapt func(*daemon)) func(*service) {
		d := complete()
		adapt(d)
		return ready(d)
	}
	for _, tc := range []struct {
		name   string
		daemon *daemon
		mount  func(*service)
		adapt  func(*Options)
	}{
		{name: "while rules load", daemon: complete(), mount: func(*service) {}},
		{name: "ready", daemon: complete(), mount: ready(complete())},
		{name: "nothing is loaded", daemon: complete(), mount: ready(&daemon{report: complete().report[:9], rules: RuleReport{Counts: complete().rules.Counts}, catalog: catalog.New(nil, nil, nil, nil)})},
		{name: "the input is not http", daemon: complete(), mount: func(s *service) {
			d := complete()
			s.Mount(Resources{Status: d, Rules: d, Catalog: d, Reloader: d, Actors: d, Correlations: d, Silences: d, Incidents: d, Sources: d.feeds, Logs: d})
		}},
		{name: "actors do not answer", mount: ready(broken(&mailbox.Refusal{Actor: "correlate", Reason: mailbox.ErrFull})), daemon: broken(nil)},
		{name: "the daemon is draining", mount: ready(broken(ndjson.ErrDraining)), daemon: broken(nil)},
		{name: "lines do not end", mount: ready(broken(ndjson.ErrCommitDeadline)), daemon: complete()},
		{name: "lines are too long", mount: ready(broken(ndjson.ErrLineTooLong)), daemon: complete()},
		{name: "log records are of no known type", mount: ready(broken(&ingest.Refusal{Kind: ingest.UnknownType})), daemon: complete()},
		{name: "log records cannot be decoded", mount: ready(broken(&ingest.Refusal{Kind: ingest.Malformed})), daemon: complete()},
		{name: "log records are too many", mount: ready(broken(&ingest.Refusal{Kind: ingest.TooLarge})), daemon: complete()},
		{name: "large requests are too many", mount: ready(broken(&ingest.Refusal{Kind: ingest.Exhausted})), daemon: complete()},
		{name: "no log records are taken any more", mount: ready(broken(ingest.ErrDraining)), daemon: complete()},
		{name: "incidents are batching", daemon: complete(), mount: with(func(d *daemon) { d.incidents = openIncidents(false) })},
		{name: "sources are being fetched", daemon: complete(), mount: with(func(d *daemon) { d.feeds.busy = true })},
		{name: "silences are too many", daemon: complete(), mount: with(func(d *daemon) { d.noRoom = true })},
		{name: "silences cannot be stored", daemon: complete(), mount: with(func(d *daemon) { d.changeErr = fmt.Errorf("%w: no space", alert.ErrNotStored) })},
		{name: "handlers panic", mount: func(s *service) { s.Mount(Resources{}) }, daemon: complete()},
		{name: "bodies do not go on", daemon: complete(), mount: ready(complete()), adapt: func(o *Options) { o.Protect = breakOff }},
		{name: "bodies are too large for the audit trail", daemon: complete(), mount: ready(complete()), adapt: func(o *Options) { o.Audit = refuseBody }},
		{name: "everything panics", daemon: complete(), mount: ready(complete()), adapt: func(o *Options) { o.Protect = panics }},
		{name: "callers are unknown", daemon: complete(), mount: ready(complete()), adapt: func(o *Options) { o.Protect = deny(http.StatusUnauthorized) }},
		{name: "callers may not", daemon: complete(), mount: ready(complete()), adapt: func(o *Options) { o.Protect = deny(http.StatusForbidden) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := start(t, tc.daemon, func(o *Options) {
				o.Profiling = true
				if tc.adapt != nil {
					tc.adapt(o)
				}
			})
			tc.mount(&s)
			for path, methods := range checker.Operations() {
				for _, method := range methods {
					for _, r := range asks(path) {
						s.checked(t, checker, method, r)
					}
				}
				s.checked(t, checker, "TRACE", ask{target: path})
			}
			s.checked(t, checker, "GET", ask{target: "/nope"})
		})
	}
	for _, answer := range checker.Unseen() {
		t.Errorf("the document has %s, which was never answered", answer)
	}
}

// breakOff has bodies end as those that a server has stopped to wait for.
func breakOff(_ Endpoint, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = io.NopCloser(iotest.ErrReader(stalled{}))
		next.ServeHTTP(w, r)
	})
}

type stalled struct{}

func (stalled) Error() string { return "the request body did not go on" }
func (stalled) Status() int   { return http.StatusRequestTimeout }

// refuseBody refuses the body of everything but DELETE, whose body is not read.
func refuseBody(e Endpoint, next http.Handler) http.Handler {
	if e.Method == http.MethodDelete {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reply.JSON(w, http.StatusRequestEntityTooLarge, audit.BodyTooLarge{Error: audit.BodyTooLargeText, MaxBodyBytes: 65536})
	})
}

// panics does so for every method that a route has.
func panics(e Endpoint, next http.Handler) http.Handler {
	if e.Method == "" {
		return next
	}
	return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("oops") })
}

// deny refuses everybody.
func deny(status int) func(Endpoint, http.Handler) http.Handler {
	return func(e Endpoint, next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if e.Open {
				next.ServeHTTP(w, r)
				return
			}
			if status == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", "Bearer")
			}
			writeError(w, status, "no")
		})
	}
}

type ask struct {
	target, body string
	header       http.Header
}

// asks are good and bad ones for a path of the document.
func asks(path string) []ask {
	if strings.Contains(path, "/incidents/") {
		path = strings.Replace(path, "{id}", theIncident, 1)
	}
	known := strings.NewReplacer("{name}", "evaluate", "{profile}", "cmdline", "{id}", "7", "{source_id}", "s").Replace(path)
	unknown := pathParameter.ReplaceAllString(strings.Replace(path, theIncident, "{id}", 1), "nobody")
	all := []ask{{target: known}, {target: unknown}, {target: known + "?x=1"}}
	for _, query := range []string{"limit=abc", "level=loud", "since=x", "limit=1", "window=maybe", "format=pdf", "format=md", "commit=maybe", "seconds=600", "debug=-1", "offset=1&offset=2", "commit=true", "format=%ff", "%zz"} {
		all = append(all, ask{target: known + "?" + query})
	}
	if known == unknown {
		all = slices.Delete(all, 1, 2)
	}
	for _, body := range []string{"{}", "[]", "\xff", `{"mailbox_capacity":5}`, `{"mailbox_capacity":0}`, `{"source_id":"s"}`, `{"source_id":""}`, `{"level":"debug"}`, `{"level":"debug","for":"x"}`, `{"matchers":[{"selector":"rule","value":"x"}]}`} {
		all = append(all, ask{target: known, body: body})
		if known != unknown {
			all = append(all, ask{target: unknown, body: body})
		}
	}
	if strings.Contains(path, "resolve") || strings.Contains(path, "silences") || strings.Contains(path, "{name}") { // which read it as a whole
		all = append(all, ask{target: known, body: strings.Repeat("x", maxBody+1)})
	}
	for _, header := range []http.Header{{"Content-Type": {"image/png"}}, {"Content-Encoding": {"br"}}, {"Content-Type": {"application/json"}}} {
		all = append(all, ask{target: known, body: "{}", header: header})
	}
	return all
}

// checked asks the handler itself, and compares its answer with the document.
func (s service) checked(t *testing.T, c *openapitest.Checker, method string, r ask) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, strings.Replace(r.target, "%zz", "", 1), strings.NewReader(r.body))
	if strings.Contains(r.target, "%zz") {
		req.URL.RawQuery = "a=%zz"
	}
	for name, values := range r.header {
		req.Header[name] = values
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, req)
	answered := w.Result()
	body := w.Body.Bytes()
	if method == http.MethodHead {
		body = nil // which net/http leaves out
	}
	c.Check(t, openapitest.Answer{Method: method, Target: r.target, Status: answered.StatusCode, Header: answered.Header, Body: body})
}
