package api_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/http/api"
	"github.com/sluicehq/sluice/http/auth"
)

// guarded serves the API behind a gate that knows the built-in roles, each as a token
// with the role's name for a secret, and the tokens of more.
func guarded(t *testing.T, log *slog.Logger, adapt func(*api.Options), more ...auth.TokenConfig) (s *httptest.Server, mount func(api.Resources)) {
	t.Helper()
	var c auth.Config
	for _, r := range auth.BuiltIn() {
		c.Tokens = append(c.Tokens, auth.TokenConfig{Name: "the " + r.Name, TokenEnv: r.Name, Role: r.Name})
	}
	c.Tokens = append(c.Tokens, more...)
	p, err := auth.New(c, func(name string) string { return name })
	if err != nil {
		t.Fatal(err)
	}
	m, err := auth.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	gate := auth.NewGate(p, m, log)
	o := api.Options{Log: log, Health: healthy{}, Metrics: prometheus.NewRegistry(), Caller: auth.Caller}
	o.Protect = func(e api.Endpoint, next http.Handler) http.Handler {
		needs := slices.DeleteFunc([]string{e.Permission, e.Also}, func(s string) bool { return s == "" })
		if len(needs) == 0 {
			needs = []string{""}
		}
		return gate.Protect(auth.Endpoint{Pattern: e.Pattern, Permissions: needs, Open: e.Open}, next)
	}
	adapt(&o)
	a := api.New(o)
	s = httptest.NewServer(a)
	t.Cleanup(s.Close)
	return s, a.Mount
}

func as(t *testing.T, token, method, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	_, _ = b.ReadFrom(resp.Body)
	return resp.StatusCode, strings.TrimSpace(b.String())
}

// While events are captured, a verdict has them written to disk.
func TestDispositionsNeedASecondPermissionWhileEventsAreCaptured(t *testing.T) {
	writer := auth.TokenConfig{Name: "writer", TokenEnv: "writer", Permissions: []string{"dispositions:write"}}
	spooler := auth.TokenConfig{Name: "spooler", TokenEnv: "spooler", Permissions: []string{"capture:write"}}
	for _, tc := range []struct {
		name    string
		token   string
		capture bool
		missing string // empty for an allowed request
	}{
		{"an operator, with capture", "operator", true, ""},
		{"an operator, without", "operator", false, ""},
		{"only the first permission, with capture", "writer", true, "capture:write"},
		{"only the first permission, without", "writer", false, ""},
		{"only the second, with capture", "spooler", true, "dispositions:write"},
		{"neither", "ingest", true, "dispositions:write"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, mount := guarded(t, slog.New(slog.DiscardHandler), func(o *api.Options) { o.Capture = tc.capture }, writer, spooler)
			mount(api.Resources{})
			status, body := as(t, tc.token, http.MethodPost, s.URL+"/api/v1/dispositions")
			want := fmt.Sprintf(`{"error":"token lacks required permission '%s'"}`, tc.missing)
			if allowed := status == http.StatusServiceUnavailable && strings.Contains(body, "dispositions disabled"); tc.missing == "" && !allowed {
				t.Errorf("got %d %s, want what the route answers", status, body)
			} else if tc.missing != "" && (status != http.StatusForbidden || body != want) {
				t.Errorf("got %d %s, want 403 %s", status, body, want)
			}
			if status, _ := as(t, tc.token, http.MethodGet, s.URL+"/api/v1/dispositions"); tc.token == "operator" && status != http.StatusServiceUnavailable {
				t.Errorf("reading needs no more than before: got %d", status)
			}
		})
	}
}

// Who may not use a route does not learn that the daemon is still starting.
func TestAuthenticationComesBeforeEverythingElse(t *testing.T) {
	s, mount := guarded(t, slog.New(slog.DiscardHandler), func(*api.Options) {})
	check := func(token, method, path string, want int) {
		t.Helper()
		if status, body := as(t, token, method, s.URL+path); status != want {
			t.Errorf("%s %s as %q: got %d %s, want %d", method, path, token, status, body, want)
		}
	}
	check("", "GET", "/api/v1/status", 401)
	check("ingest", "GET", "/api/v1/status", 403)
	check("reader", "GET", "/api/v1/status", 503) // starting
	check("", "GET", "/healthz", 200)
	mount(api.Resources{})
	check("", "GET", "/api/v1/fields", 401) // off
	check("", "PATCH", "/api/v1/actors/none", 401)
	check("reader", "PUT", "/api/v1/rules", 403)
	check("admin", "PUT", "/api/v1/rules", 405)
	check("", "POST", "/healthz", 401)
	check("admin", "POST", "/healthz", 405)
	check("", "GET", "/nope", 404)
	check("wrong", "GET", "/nope", 404)
	check("", "GET", "/debug/pprof/", 404)
}

func TestTheLogOfRequestsNamesTheToken(t *testing.T) {
	var out bytes.Buffer
	s, _ := guarded(t, slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})), func(*api.Options) {})
	as(t, "reader", "GET", s.URL+"/metrics")
	as(t, "", "GET", s.URL+"/healthz")
	as(t, "reader", "GET", s.URL+"/healthz") // what is open does not look at tokens
	s.Close()                                // every request has written its lines
	if got := out.String(); strings.Count(got, `token="the reader"`) != 1 || strings.Count(got, "token=") != 1 {
		t.Errorf("got log\n%s\nwant one line with the token", got)
	}
}

func TestWhatEndpointsAskFor(t *testing.T) {
	got := strings.Join(api.Permissions(), " ")
	for _, want := range []string{"capture:write", "events:ingest", "metrics:read", "reload:execute", "status:read", "tap:read"} {
		if !strings.Contains(" "+got+" ", " "+want+" ") {
			t.Errorf("got %s, want %s among them", got, want)
		}
	}
	if !slices.IsSorted(api.Permissions()) {
		t.Errorf("got %s, want it sorted", got)
	}
	if name := auth.Token(context.Background()); name != "" {
		t.Errorf("got the token %q of nobody", name)
	}
}
