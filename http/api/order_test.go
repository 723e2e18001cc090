package api

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
)

// guarded is an API whose callers say who they are, and whose recorded requests have
// small bodies.
func guarded(o *Options) {
	o.Protect = func(e Endpoint, next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == "" && !e.Open {
				writeError(w, http.StatusUnauthorized, "who?")
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	o.Audit = func(_ Endpoint, next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength > 64 {
				writeError(w, http.StatusRequestEntityTooLarge, "too large to be recorded")
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// A request that is wrong in several ways is told the first.
func TestTheOrderOfChecks(t *testing.T) {
	const known, large = "token", `{"x":"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"}`
	full := &mailbox.Refusal{Actor: "correlate", Reason: mailbox.ErrFull}
	for _, tc := range []struct {
		row
		loading bool
		token   string
		headers []string
	}{
		{row{"an unknown path is unknown to everybody, also while rules load", "POST", "/nope", large, 404, `{"error":"not found"}`}, true, "", nil},
		{row{"who asks comes before the method", "PUT", "/api/v1/rules", large, 401, `{"error":"who?"}`}, false, "", nil},
		{row{"and before the loading", "POST", "/api/v1/dispositions", large, 401, `{"error":"who?"}`}, true, "", nil},
		{row{"and before the bound of what is recorded", "POST", "/api/v1/dispositions", large, 401, `{"error":"who?"}`}, false, "", nil},
		{row{"and before what is off", "GET", "/api/v1/fields?limit=abc", "", 401, `{"error":"who?"}`}, false, "", nil},
		{row{"and before what a body is", "POST", "/api/v1/events?commit=maybe", large, 401, `{"error":"who?"}`}, false, "", []string{"Content-Type", "application/msgpack"}},
		{row{"and before whether there is such a thing", "PATCH", "/api/v1/actors/none", "{", 401, `{"error":"who?"}`}, false, "", nil},
		{row{"a method is wrong also while rules load", "PUT", "/api/v1/rules", large, 405, `{"error":"method not allowed"}`}, true, known, nil},
		{row{"the loading comes before the bound of what is recorded", "POST", "/api/v1/dispositions", large, 503, `~"error":"starting"`}, true, known, nil},
		{row{"and before what is off", "GET", "/api/v1/fields", "", 503, `~"error":"starting"`}, true, known, nil},
		{row{"and before what a body is", "POST", "/api/v1/events?commit=maybe", "x", 503, `~"error":"starting"`}, true, known, []string{"Content-Type", "application/msgpack"}},
		{row{"and before parameters", "GET", "/api/v1/rules/list?limit=abc", "", 503, `~"error":"starting"`}, true, known, nil},
		{row{"the bound of what is recorded comes before what is off", "POST", "/api/v1/dispositions", large, 413, `{"error":"too large to be recorded"}`}, false, known, nil},
		{row{"and before what a body says", "PATCH", "/api/v1/actors/none", large, 413, `{"error":"too large to be recorded"}`}, false, known, nil},
		{row{"what is off comes before what a body says", "POST", "/api/v1/dispositions", "{", 503, `~"error":"dispositions disabled"`}, false, known, nil},
		{row{"and before parameters", "GET", "/api/v1/fields?limit=abc", "", 503, `~"error":"field observation disabled"`}, false, known, nil},
		{row{"but behind the format of a bundle", "GET", "/api/v1/incidents/x/bundle?format=pdf", "", 400, `~unknown bundle format 'pdf'`}, false, known, nil},
		{row{"the kind of a body comes before parameters", "POST", "/api/v1/events?commit=maybe", "x", 415, `~unsupported content-type`}, false, known, []string{"Content-Type", "application/msgpack"}},
		{row{"what a body says comes before whether there is such a thing", "PATCH", "/api/v1/actors/none", "{", 400, `~body is not a JSON object`}, false, known, nil},
		{row{"the bound comes before what a silence says", "POST", "/api/v1/silences", large, 413, `{"error":"too large to be recorded"}`}, false, known, nil},
		{row{"what a silence says comes before an actor that is full", "POST", "/api/v1/silences", "{", 400, `~invalid silence JSON`}, false, known, nil},
		{row{"what an actor is asked comes behind the format of a bundle", "GET", "/api/v1/incidents/x/bundle?format=pdf", "", 400, `~'pdf'`}, false, known, nil},
		{row{"then it is looked for", "PATCH", "/api/v1/actors/none", `{"mailbox_capacity":5}`, 404, `~"error":"no such actor"`}, false, known, nil},
		{row{"parameters come before an actor that is full", "GET", "/api/v1/correlations/state?limit=abc", "", 400, `~'limit'`}, false, known, nil},
		{row{"which is last", "GET", "/api/v1/correlations/state", "", 503, `~Too many requests wait for this actor`}, false, known, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := &daemon{askErr: full}
			s := start(t, d, guarded)
			if !tc.loading {
				s.everything(d)
			}
			headers := tc.headers
			if tc.token != "" {
				headers = append(headers, "Authorization", tc.token)
			}
			tc.check(t, s, headers...)
		})
	}
	t.Run("an input other than http comes before the kind of a body", func(t *testing.T) {
		s := start(t, &daemon{})
		s.Mount(Resources{})
		row{"", "POST", "/api/v1/events?commit=maybe", "x", 404, `~event ingestion not enabled (start with --input http)`}.check(t, s, "Content-Type", "application/msgpack")
	})
}

// The bound of a body is the same with a declared length and in chunks.
func TestBodiesAreBounded(t *testing.T) {
	body := func(n int) string {
		const head, tail = `{"mailbox_capacity":5`, `}`
		return head + strings.Repeat(" ", n-len(head)-len(tail)) + tail
	}
	for _, tc := range []struct {
		name   string
		bytes  int
		status int
	}{
		{"exactly 2 MiB", 2 << 20, 200},
		{"a byte more", 2<<20 + 1, 413},
		{"far more", 20 << 20, 413},
	} {
		for _, chunked := range []bool{false, true} {
			name := tc.name
			if chunked {
				name += " in chunks"
			}
			t.Run(name, func(t *testing.T) {
				d := &daemon{records: []actors.Record{{Name: "parse"}}}
				s := start(t, d).everything(d)
				var r io.Reader = strings.NewReader(body(tc.bytes))
				if chunked {
					r = io.MultiReader(r) // of unknown length
				}
				resp, err := newRequest(t, "PATCH", s.url+"/api/v1/actors/parse", r).do()
				if err != nil {
					t.Fatal(err)
				}
				if want := `{"error":"request body exceeds maximum size","max_bytes":2097152}`; resp.status != tc.status || tc.status == 413 && resp.body != want {
					t.Errorf("got %d %s, want %d", resp.status, resp.body, tc.status)
				}
			})
		}
	}
}

// What needs the full grant is asked for by name.
func TestProfilesNeedTheFullGrant(t *testing.T) {
	var asked []string
	s := start(t, &daemon{}, func(o *Options) {
		o.Profiling = true
		o.Protect = func(e Endpoint, next http.Handler) http.Handler {
			if strings.HasPrefix(e.Pattern, "/debug/") && e.Method != "" {
				asked = append(asked, e.Method+" "+e.Permission)
			}
			return next
		}
	})
	if want := []string{"GET *:*", "GET *:*", "GET *:*"}; !slices.Equal(asked, want) {
		t.Errorf("got %q, want %q", asked, want)
	}
	for _, e := range s.Endpoints() {
		if e.Permission == "" && !e.Open {
			t.Errorf("%s %s names no permission", e.Method, e.Pattern)
		}
	}
}
