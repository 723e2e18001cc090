package api

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/unavailable"
)

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
