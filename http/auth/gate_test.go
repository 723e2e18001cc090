package auth

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

// gated is a gate with its log and series.
type gated struct {
	*Gate
	log bytes.Buffer
	reg *prometheus.Registry
}

func gate(t *testing.T, c Config, getenv func(string) string) *gated {
	t.Helper()
	p, err := New(c, getenv)
	if err != nil {
		t.Fatal(err)
	}
	g := &gated{reg: prometheus.NewRegistry()}
	m, err := NewMetrics(g.reg)
	if err != nil {
		t.Fatal(err)
	}
	g.Gate = NewGate(p, m, slog.New(slog.NewTextHandler(&g.log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})))
	return g
}

// rejections is what the series shows.
func (g *gated) rejections(t *testing.T, unauthorized, forbidden int) {
	t.Helper()
	want := ""
	for _, r := range []struct {
		reason Reason
		n      int
	}{{Forbidden, forbidden}, {Unauthorized, unauthorized}} {
		if r.n > 0 {
			want += fmt.Sprintf("api_auth_failures_total{reason=\"%s\"} %d\n", r.reason, r.n)
		}
	}
	if want != "" {
		want = "# HELP api_auth_failures_total Requests rejected by authentication, by reason: no known token, or a token without the permission.\n# TYPE api_auth_failures_total counter\n" + want
	}
	families, err := g.reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&got, f); err != nil {
			t.Fatal(err)
		}
	}
	if got.String() != want {
		t.Errorf("got the series\n%swant\n%s", got.String(), want)
	}
}

var team = Config{
	AnonymousPermissions: []string{"metrics:read"},
	Roles:                map[string][]string{"watcher": {"status:read"}},
	Tokens: []TokenConfig{
		token("op", "OP", "operator"), token("see", "SEE", "reader"), token("feed", "FEED", "ingest"), token("root", "ROOT", "admin"),
		token("watch", "WATCH", "watcher"), token("one", "ONE", "", "incidents:read", "dispositions:write"), token("spaced", "SPACED", "reader"),
	},
}

var teamSecrets = variables("OP", "op-secret", "SEE", "see-secret", "FEED", "feed-secret", "ROOT", "root-secret", "WATCH", "watch-secret", "ONE", "one-secret", "SPACED", "two words")

func TestRequestsAreJudgedByTheirToken(t *testing.T) {
	const (
		unknown = `{"error":"missing or invalid bearer token"}`
		lacks   = `{"error":"token lacks required permission '%s'"}`
	)
	forbidden := func(p string) string { return fmt.Sprintf(lacks, p) }
	for _, tc := range []struct {
		name    string
		headers []string // values of Authorization
		needs   []string
		status  int
		want    string // body; of an allowed request, the token's name
	}{
		{"no header and an anonymous permission", nil, []string{"metrics:read"}, 200, ""},
		{"no header and no permission is 401, not 403", nil, []string{"rules:read"}, 401, unknown},
		{"a token with the permission", []string{"Bearer see-secret"}, []string{"rules:read"}, 200, "see"},
		{"a token without it", []string{"Bearer see-secret"}, []string{"silences:write"}, 403, forbidden("silences:write")},
		{"a token does not add to the anonymous permissions", []string{"Bearer feed-secret"}, []string{"metrics:read"}, 403, forbidden("metrics:read")},
		{"a role of one's own", []string{"Bearer watch-secret"}, []string{"status:read"}, 200, "watch"},
		{"permissions of the token's own", []string{"Bearer one-secret"}, []string{"incidents:read"}, 200, "one"},
		{"bundles are no incidents", []string{"Bearer one-secret"}, []string{"incident-bundles:read"}, 403, forbidden("incident-bundles:read")},
		{"two permissions", []string{"Bearer op-secret"}, []string{"dispositions:write", "capture:write"}, 200, "op"},
		{"the second is missing", []string{"Bearer one-secret"}, []string{"dispositions:write", "capture:write"}, 403, forbidden("capture:write")},
		{"both are missing", []string{"Bearer see-secret"}, []string{"dispositions:write", "capture:write"}, 403, forbidden("dispositions:write")},
		{"an operator may not reload", []string{"Bearer op-secret"}, []string{"reload:execute"}, 403, forbidden("reload:execute")},
		{"an operator changes actors", []string{"Bearer op-secret"}, []string{"actors:write"}, 200, "op"},
		{"a reader does not", []string{"Bearer see-secret"}, []string{"actors:write"}, 403, forbidden("actors:write")},
		{"ingest is only for events", []string{"Bearer feed-secret"}, []string{"events:ingest"}, 200, "feed"},
		{"an admin may everything", []string{"Bearer root-secret"}, []string{"reload:execute"}, 200, "root"},
		{"an endpoint outside the table", []string{"Bearer root-secret"}, []string{""}, 200, "root"},
		{"an endpoint outside the table, as an operator", []string{"Bearer op-secret"}, []string{""}, 403, forbidden("*:*")},
		{"an endpoint outside the table, as nobody", nil, []string{""}, 401, unknown},
		{"the scheme in lower case", []string{"bearer see-secret"}, []string{"rules:read"}, 200, "see"},
		{"the scheme in upper case", []string{"BEARER see-secret"}, []string{"rules:read"}, 200, "see"},
		{"a secret with a blank", []string{"Bearer two words"}, []string{"rules:read"}, 200, "spaced"},
		{"an unknown token does not get the anonymous permissions", []string{"Bearer wrong"}, []string{"metrics:read"}, 401, unknown},
		{"another scheme does not either", []string{"Basic abc"}, []string{"metrics:read"}, 401, unknown},
		{"an empty header", []string{""}, []string{"metrics:read"}, 401, unknown},
		{"the scheme alone", []string{"Bearer"}, []string{"metrics:read"}, 401, unknown},
		{"the scheme and a blank", []string{"Bearer "}, []string{"metrics:read"}, 401, unknown},
		{"the secret alone", []string{"see-secret"}, []string{"metrics:read"}, 401, unknown},
		{"two blanks", []string{"Bearer  see-secret"}, []string{"metrics:read"}, 401, unknown},
		{"a tab for a blank", []string{"Bearer\tsee-secret"}, []string{"metrics:read"}, 401, unknown},
		{"a scheme that begins alike", []string{"Bearers see-secret"}, []string{"metrics:read"}, 401, unknown},
		{"two headers", []string{"Bearer see-secret", "Bearer root-secret"}, []string{"metrics:read"}, 401, unknown},
		{"the same header twice", []string{"Bearer see-secret", "Bearer see-secret"}, []string{"metrics:read"}, 401, unknown},
		{"two tokens in one header", []string{"Bearer see-secret, Bearer see-secret"}, []string{"metrics:read"}, 401, unknown},
		{"the beginning of a secret", []string{"Bearer see-secre"}, []string{"metrics:read"}, 401, unknown},
		{"a secret and more", []string{"Bearer see-secrets"}, []string{"metrics:read"}, 401, unknown},
		{"a secret in another case", []string{"Bearer SEE-SECRET"}, []string{"metrics:read"}, 401, unknown},
		{"a secret between quotes", []string{`Bearer "see-secret"`}, []string{"metrics:read"}, 401, unknown},
		{"bytes that are no text", []string{"Bearer \xff\xfe"}, []string{"metrics:read"}, 401, unknown},
		{"a token of 60 KiB", []string{"Bearer " + strings.Repeat("x", 60<<10)}, []string{"metrics:read"}, 401, unknown},
		{"the name of a token", []string{"Bearer see"}, []string{"metrics:read"}, 401, unknown},
		{"the digest of nothing", []string{"Bearer e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}, []string{"metrics:read"}, 401, unknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := gate(t, team, teamSecrets)
			s := httptest.NewServer(g.Protect(Endpoint{Pattern: "/pattern/{id}", Permissions: tc.needs}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.WriteString(w, Caller(r))
			})))
			defer s.Close()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header["Authorization"] = tc.headers
			resp, err := s.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, _ := io.ReadAll(resp.Body)
			if got := strings.TrimSuffix(string(body), "\n"); resp.StatusCode != tc.status || got != tc.want {
				t.Errorf("got %d %s, want %d %s", resp.StatusCode, got, tc.status, tc.want)
			}
			challenge, kind := resp.Header.Get("WWW-Authenticate"), resp.Header.Get("Content-Type")
			if (challenge == "Bearer") != (tc.status == 401) || tc.status != 200 && kind != "application/json" {
				t.Errorf("WWW-Authenticate %q, Content-Type %q of a %d", challenge, kind, tc.status)
			}
			switch log := g.log.String(); tc.status {
			case 200:
				g.rejections(t, 0, 0)
				if log != "" {
					t.Errorf("got log %s, want none", log)
				}
			case 401:
				g.rejections(t, 1, 0)
				if want := "level=WARN msg=\"request rejected\" reason=unauthorized route=/pattern/{id} peer=127.0.0.1:"; !strings.HasPrefix(log, want) || !strings.HasSuffix(log, " suppressed=0\n") {
					t.Errorf("got log %s, want %s", log, want)
				}
			case 403:
				g.rejections(t, 0, 1)
				for _, want := range []string{"level=WARN msg=\"request rejected\" reason=forbidden route=/pattern/{id} peer=127.0.0.1:", " token=", " permission=" + strings.Trim(strings.SplitAfter(tc.want, "permission ")[1], `'"}`), " suppressed=0\n"} {
					if !strings.Contains(log, want) {
						t.Errorf("got log %s, want %q in it", log, want)
					}
				}
				if strings.Contains(log, "-secret") {
					t.Errorf("the log shows a secret: %s", log)
				}
			}
		})
	}
}

func TestOpenEndpointsAskForNothing(t *testing.T) {
	g := gate(t, team, teamSecrets)
	reached := 0
	h := g.Protect(Endpoint{Pattern: "/healthz", Open: true}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	r := httptest.NewRequest(http.MethodGet, "/healthz", nil)
	h.ServeHTTP(httptest.NewRecorder(), r)
	r.Header.Set("Authorization", "Bearer wrong")
	h.ServeHTTP(httptest.NewRecorder(), r)
	if reached != 2 {
		t.Errorf("reached %d times, want 2", reached)
	}
	g.rejections(t, 0, 0)
}

// Everything is counted; the log tells it once in a while, each route and token by itself.
func TestRejectionsAreToldOnceInAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gate(t, team, teamSecrets)
		ask := func(pattern, authorization string) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header.Set("Authorization", authorization)
			g.Protect(Endpoint{Pattern: pattern, Permissions: []string{"reload:execute"}}, http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), r)
		}
		for range 1000 {
			ask("/a", "Bearer wrong")
		}
		ask("/b", "Bearer wrong")
		ask("/a", "Bearer op-secret")
		ask("/a", "Bearer see-secret")
		ask("/a", "Bearer see-secret")
		time.Sleep(10 * time.Second)
		ask("/a", "Bearer wrong")
		want := `level=WARN msg="request rejected" reason=unauthorized route=/a peer=192.0.2.1:1234 suppressed=0
level=WARN msg="request rejected" reason=unauthorized route=/b peer=192.0.2.1:1234 suppressed=0
level=WARN msg="request rejected" reason=forbidden route=/a peer=192.0.2.1:1234 token=op permission=reload:execute suppressed=0
level=WARN msg="request rejected" reason=forbidden route=/a peer=192.0.2.1:1234 token=see permission=reload:execute suppressed=0
level=WARN msg="request rejected" reason=unauthorized route=/a peer=192.0.2.1:1234 suppressed=999
level=WARN msg="further requests rejected" reason=forbidden count=1
level=WARN msg="further requests rejected" reason=unauthorized count=2
`
		ask("/a", "Bearer wrong")
		ask("/a", "")
		for range 2 {
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		}
		if got := g.log.String(); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
		g.rejections(t, 1004, 3)
	})
}

// The address of a unix socket tells nobody apart.
func TestTheRejectionOnAUnixSocketNamesNoPeer(t *testing.T) {
	g := gate(t, team, teamSecrets)
	for _, addr := range []string{"@", "", "/run/client.sock"} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = addr
		g.Protect(Endpoint{Pattern: "/" + addr, Permissions: []string{"status:read"}}, http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), r)
	}
	if log := g.log.String(); strings.Count(log, "request rejected") != 3 || strings.Contains(log, "peer") {
		t.Errorf("got log %s, want three rejections without a peer", log)
	}
}

// A body is not touched for a caller who may not use the endpoint.
func TestTheBodyOfARejectedRequestIsNotRead(t *testing.T) {
	g := gate(t, team, teamSecrets)
	for _, authorization := range []string{"Bearer wrong", "Bearer see-secret"} {
		r := httptest.NewRequest(http.MethodPost, "/", unread{t})
		r.Header.Set("Authorization", authorization)
		g.Protect(Endpoint{Permissions: []string{"events:ingest"}}, http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), r)
	}
}

type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body is read")
	return 0, io.EOF
}
