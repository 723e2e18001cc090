package api

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/http/audit"
	"github.com/sluicehq/sluice/state"
)

// *audit.Trail is what the route shows.
var _ Audit = (*audit.Trail)(nil)

// newTrail opens a trail over a database of its own, whose clock shows the times in turn
// and then the last one.
func newTrail(t *testing.T, times ...int64) (*audit.Trail, *state.Store) {
	t.Helper()
	store, err := state.Open(t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := audit.NewMetrics(prometheus.NewRegistry(), true)
	if err != nil {
		t.Fatal(err)
	}
	c := audit.DefaultConfig()
	c.MaxAge = 1 << 62
	c.MaxBodyBytes = 64
	times = append([]int64{0}, times...) // the start prunes
	trail, err := audit.Open(audit.Options{
		Config: c, Rows: store.Table(audit.Name), Interval: time.Hour, Metrics: metrics, Log: slog.New(slog.DiscardHandler),
		Now: func() time.Time {
			now := times[0]
			if len(times) > 1 {
				times = times[1:]
			}
			return time.Unix(now, 0)
		},
		Token: func(r *http.Request) string { return r.Header.Get("Authorization") },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(trail.Close(), store.Close()); err != nil {
			t.Error(err)
		}
	})
	return trail, store
}

func audited(trail *audit.Trail) func(*Options) {
	return func(o *Options) {
		o.Audit = func(e Endpoint, next http.Handler) http.Handler { return trail.Wrap(e.Pattern, next) }
		o.Protect = func(_ Endpoint, next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.Header.Get("Authorization") {
				case "nobody":
					writeError(w, http.StatusUnauthorized, "missing or invalid bearer token")
				case "reader":
					writeError(w, http.StatusForbidden, "token lacks required permission")
				default:
					next.ServeHTTP(w, r)
				}
			})
		}
	}
}

// trailOf lists the trail from the oldest entry on.
func trailOf(t *testing.T, trail *audit.Trail) (lines []string) {
	t.Helper()
	q := audit.All()
	q.Limit = 1000
	p, err := trail.Page(q)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(p.Entries) - 1; i >= 0; i-- {
		e := p.Entries[i]
		digest := "-"
		if e.PayloadDigest != nil {
			digest = (*e.PayloadDigest)[:8]
		}
		lines = append(lines, fmt.Sprintf("%s %s %q %s %d", e.Method, e.Endpoint, e.Token, digest, e.Status))
	}
	return lines
}

func TestWhatIsRecorded(t *testing.T) {
	trail, _ := newTrail(t, 1)
	d := &panicking{daemon: &daemon{}}
	s := start(t, d.daemon, audited(trail))
	if got := s.do(t, "POST", "/api/v1/reload", ""); got.status != 503 { // starting
		t.Fatalf("status %d before rules are loaded", got.status)
	}
	s.Mount(Resources{Status: d, Rules: d, Reloader: d, Actors: d, Correlations: d, Sources: d.feeds, Ingest: d, MaxIngestBody: 1 << 20, Audit: trail})
	for _, tc := range []struct {
		name, method, target, body, token string
		status                            int
		want                              string // "": nothing is recorded
	}{
		{"a success", "POST", "/api/v1/reload", "", "op", 200, `POST /api/v1/reload "op" - 200`},
		{"without a token", "POST", "/api/v1/reload", "", "", 200, `POST /api/v1/reload "" - 200`},
		{"the pattern, not the path", "PATCH", "/api/v1/actors/none", `{"mailbox_capacity":5}`, "op", 404, `PATCH /api/v1/actors/{name} "op" 39a4173c 404`},
		{"a bad request", "PATCH", "/api/v1/actors/none", `{}`, "op", 400, `PATCH /api/v1/actors/{name} "op" 44136fa3 400`},
		{"a feature that is off", "POST", "/api/v1/dispositions", `{}`, "op", 503, `POST /api/v1/dispositions "op" 44136fa3 503`},
		{"a body that is too large", "POST", "/api/v1/dispositions", strings.Repeat("x", 65), "op", 413, `POST /api/v1/dispositions "op" - 413`},
		{"sources", "POST", "/api/v1/sources/resolve", "", "op", 404, `POST /api/v1/sources/resolve "op" - 404`},
		{"a source", "POST", "/api/v1/sources/resolve/a", "", "op", 404, `POST /api/v1/sources/resolve/{source_id} "op" - 404`},
		{"a cached value", "DELETE", "/api/v1/sources/cache/a", "", "op", 200, `DELETE /api/v1/sources/cache/{source_id} "op" - 200`},
		{"the field observer", "DELETE", "/api/v1/fields/observer", "", "op", 503, `DELETE /api/v1/fields/observer "op" - 503`},
		{"schemas", "DELETE", "/api/v1/schemas", "", "op", 503, `DELETE /api/v1/schemas "op" - 503`},
		{"a panic", "PATCH", "/api/v1/actors/panics", `{"mailbox_capacity":5}`, "op", 500, `PATCH /api/v1/actors/{name} "op" 39a4173c 500`},
		{"no caller who is unknown", "POST", "/api/v1/reload", "", "nobody", 401, ""},
		{"no caller who may not", "POST", "/api/v1/reload", "", "reader", 403, ""},
		{"no other method", "PUT", "/api/v1/reload", "", "op", 405, ""},
		{"no other path", "POST", "/api/v1/reload/", "", "op", 404, ""},
		{"no reading", "GET", "/api/v1/status", "", "op", 200, ""},
		{"no reading of the trail", "GET", "/api/v1/audit?limit=0", "", "op", 200, ""},
		{"no events", "POST", "/api/v1/events", "{}", "op", 200, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := len(trailOf(t, trail))
			got := s.do(t, tc.method, tc.target, tc.body, "Authorization", tc.token)
			if got.status != tc.status {
				t.Errorf("status %d, want %d: %s", got.status, tc.status, got.body)
			}
			if added := strings.Join(trailOf(t, trail)[before:], ", "); added != tc.want {
				t.Errorf("recorded %q, want %q", added, tc.want)
			}
		})
	}
}

// panicking is a daemon with an actor that cannot be resized.
type panicking struct{ *daemon }

func (p *panicking) Resize(name string, n int) (actors.Record, error) {
	if name == "panics" {
		panic("x")
	}
	return p.daemon.Resize(name, n)
}

// Every route that is marked is recorded, whatever it is.
func TestEveryMutationIsRecorded(t *testing.T) {
	trail, _ := newTrail(t, 1)
	d := &daemon{}
	s := start(t, d, audited(trail)).everything(d)
	var want []string
	for _, e := range s.Endpoints() {
		target := strings.NewReplacer("{name}", "x", "{id}", "x", "{source_id}", "x").Replace(e.Pattern)
		if mutates := e.Method != http.MethodGet && e.Pattern != "/api/v1/events" && e.Pattern != "/v1/logs"; mutates != e.Audited {
			t.Errorf("%s %s: audited is %t", e.Method, e.Pattern, e.Audited)
		}
		if e.Audited {
			got := s.do(t, e.Method, target, "")
			want = append(want, fmt.Sprintf(`%s %s "" - %d`, e.Method, e.Pattern, got.status))
		}
	}
	if got := trailOf(t, trail); len(want) == 0 || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("recorded\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTheAuditTrailIsReadInPages(t *testing.T) {
	trail, store := newTrail(t, 100, 200, 300)
	d := &daemon{}
	s := start(t, d, audited(trail))
	s.Mount(Resources{Status: d, Rules: d, Reloader: d, Actors: d, Correlations: d, Sources: d.feeds, Audit: trail})
	s.do(t, "POST", "/api/v1/reload", "", "Authorization", "op")
	s.do(t, "PATCH", "/api/v1/actors/x", "{}")
	s.do(t, "DELETE", "/api/v1/sources/cache/a", "")
	const (
		one   = `{"id":1,"ts":100,"method":"POST","endpoint":"/api/v1/reload","token":"op","payload_digest":null,"status":200}`
		two   = `{"id":2,"ts":200,"method":"PATCH","endpoint":"/api/v1/actors/{name}","payload_digest":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","status":400}`
		three = `{"id":3,"ts":300,"method":"DELETE","endpoint":"/api/v1/sources/cache/{source_id}","payload_digest":null,"status":200}`
	)
	for _, tc := range []row{
		{"all, newest first", "GET", "/api/v1/audit", "", 200, `{"count":3,"entries":[` + three + `,` + two + `,` + one + `]}`},
		{"the base's page and bound", "GET", "/api/v1/audit?since=200&limit=1", "", 200, `{"count":2,"entries":[` + three + `]}`},
		{"the second page", "GET", "/api/v1/audit?limit=1&offset=1", "", 200, `{"count":3,"entries":[` + two + `]}`},
		{"both bounds", "GET", "/api/v1/audit?since=100&until=200", "", 200, `{"count":2,"entries":[` + two + `,` + one + `]}`},
		{"none, with a count", "GET", "/api/v1/audit?limit=0", "", 200, `{"count":3,"entries":[]}`},
		{"more than there may be", "GET", "/api/v1/audit?limit=1001&offset=2", "", 200, `{"count":3,"entries":[` + one + `]}`},
		{"numbers beyond all counting", "GET", "/api/v1/audit?limit=99999999999999999999&offset=99999999999999999999", "", 200, `{"count":3,"entries":[]}`},
		{"times before 1970", "GET", "/api/v1/audit?since=-5&until=-1", "", 200, `{"count":0,"entries":[]}`},
		{"parameters that nobody knows", "GET", "/api/v1/audit?x=y&limit=0", "", 200, `{"count":3,"entries":[]}`},
		{"a limit that is no number", "GET", "/api/v1/audit?limit=abc", "", 400, `{"error":"query parameter 'limit' must be an integer from 0 on"}`},
		{"an empty limit", "GET", "/api/v1/audit?limit=", "", 400, `~'limit'`},
		{"a negative limit", "GET", "/api/v1/audit?limit=-1", "", 400, `~'limit'`},
		{"a negative offset", "GET", "/api/v1/audit?offset=-1", "", 400, `~'offset'`},
		{"a fraction", "GET", "/api/v1/audit?since=1.5", "", 400, `{"error":"query parameter 'since' must be an integer, in Unix seconds"}`},
		{"a date", "GET", "/api/v1/audit?until=2026-01-01", "", 400, `~'until'`},
		{"a time that no clock shows", "GET", "/api/v1/audit?until=99999999999999999999", "", 400, `~'until'`},
		{"a limit twice", "GET", "/api/v1/audit?limit=1&limit=1", "", 400, `{"error":"query parameter 'limit' is given more than once"}`},
		{"another method", "DELETE", "/api/v1/audit", "", 405, `{"error":"method not allowed"}`},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.check(t, s) })
	}
	if got := s.do(t, "HEAD", "/api/v1/audit", ""); got.status != 200 || got.body != "" {
		t.Errorf("HEAD: %d %q", got.status, got.body)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	row{"a database that is closed", "GET", "/api/v1/audit", "", 500, `{"error":"the audit trail cannot be read","hint":"the log of the daemon says why"}`}.check(t, s)
}

func TestAPageOfTheAuditTrailIsBounded(t *testing.T) {
	d := &daemon{}
	s := start(t, d)
	asked := &asking{}
	s.Mount(Resources{Status: d, Rules: d, Reloader: d, Actors: d, Correlations: d, Sources: d.feeds, Audit: asked})
	for target, want := range map[string]int{"": 100, "?limit=7": 7, "?limit=1000": 1000, "?limit=1001": 1000} {
		if s.do(t, "GET", "/api/v1/audit"+target, ""); asked.q.Limit != want {
			t.Errorf("%q asks for %d entries, want %d", target, asked.q.Limit, want)
		}
	}
}

type asking struct{ q audit.Query }

func (a *asking) Page(q audit.Query) (audit.Page, error) { a.q = q; return audit.Page{}, nil }

func TestTheAuditTrailIsOffWithoutADatabase(t *testing.T) {
	d := &daemon{}
	s := start(t, d).everything(d)
	row{
		"whatever the parameters are", "GET", "/api/v1/audit?limit=abc", "", 503,
		`{"error":"audit trail disabled","hint":"--state-db switches it on, unless daemon.api.audit.enabled is false"}`,
	}.check(t, s)
}
