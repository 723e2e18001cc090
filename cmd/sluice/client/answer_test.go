package client

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
)

// scripted answers every request with the same.
type scripted struct {
	status   int
	location string
	body     string
	err      error
	requests []*http.Request
}

func (s *scripted) RoundTrip(r *http.Request) (*http.Response, error) {
	s.requests = append(s.requests, r)
	if s.err != nil {
		return nil, s.err
	}
	w := httptest.NewRecorder()
	if s.location != "" {
		w.Header().Set("Location", s.location)
	}
	w.WriteHeader(s.status)
	_, _ = w.WriteString(s.body)
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

func TestWhatADaemonRefusesSaysWhatToDo(t *testing.T) {
	const in = "GET http://db.example:1/api/v1/status: "
	for _, tc := range []struct {
		name, token string
		s           scripted
		want        string
		lasting     bool
	}{
		{
			"no token", "",
			scripted{status: 401, body: `{"error":"missing or invalid bearer token"}`},
			"401 Unauthorized: missing or invalid bearer token (no token was sent: set T to one, or name another variable with --auth-token-env)", true,
		},
		{
			"a token that is unknown", "hunter2",
			scripted{status: 401, body: `{"error":"missing or invalid bearer token"}`},
			"401 Unauthorized: missing or invalid bearer token (the daemon does not know the token in T: set it to one of the daemon's, or name another variable with --auth-token-env)", true,
		},
		{
			"a token that may not", "hunter2",
			scripted{status: 403, body: `{"error":"token lacks required permission 'reload:execute'"}`},
			"403 Forbidden: token lacks required permission 'reload:execute' (the token in T may not do this: set it to one that may, or name another variable with --auth-token-env)", true,
		},
		{
			"a proxy that wants a token", "",
			scripted{status: 403, body: "<html>"},
			"403 Forbidden (no token was sent: set T to one, or name another variable with --auth-token-env)", true,
		},
		{"a hint of the daemon wins", "", scripted{status: 401, body: `{"error":"unauthorized","hint":"send a token"}`}, "401 Unauthorized: unauthorized (send a token)", true},
		{
			"a redirect", "hunter2",
			scripted{status: 307, location: "https://u:hunter3@other.example/x?y=z#a"},
			"307 Temporary Redirect (it leads to https://other.example/x, and redirects are not followed: name the daemon's own address with --addr)", true,
		},
		{
			"a redirect on the same host", "hunter2",
			scripted{status: 301, location: "/login"},
			"301 Moved Permanently (it leads to http://db.example:1/login, and redirects are not followed: name the daemon's own address with --addr)", true,
		},
		{
			"a redirect to nowhere", "hunter2",
			scripted{status: 302},
			"302 Found (it leads elsewhere, and redirects are not followed: name the daemon's own address with --addr)", true,
		},
		{"another program", "", scripted{status: 404, body: "<html>not here</html>"}, "404 Not Found", true},
		{"a daemon that starts", "", scripted{status: 503, body: `{"error":"starting","hint":"ask again"}`}, "503 Service Unavailable: starting (ask again)", false},
		{"too many", "", scripted{status: 429, body: `{"error":"busy"}`}, "429 Too Many Requests: busy", false},
		{
			"a server of TLS", "",
			scripted{status: 400, body: "Client sent an HTTP request to an HTTPS server.\n"},
			"400 Bad Request (the daemon serves TLS: call it with https://, and name its authority with --ca)", true,
		},
		{
			"a server of TLS that says so in JSON", "",
			scripted{status: 400, body: `{"error":"this port serves TLS","hint":"use it"}`},
			"400 Bad Request: this port serves TLS (the daemon serves TLS: call it with https://, and name its authority with --ca)", true,
		},
		{"another bad request", "", scripted{status: 400, body: `{"error":"limit is given twice"}`}, "400 Bad Request: limit is given twice", true},
		{"what would steer a terminal", "", scripted{status: 500, body: `{"error":"a\u001b[2J\nb","hint":"c\u202ed"}`}, "500 Internal Server Error: a [2J b (c d)", false},
		{"no end", "", scripted{status: 500, body: `{"error":"` + strings.Repeat("a", 10_000) + `"}`}, "500 Internal Server Error: " + strings.Repeat("a", 1021) + "...", false},
		{"a refused connection", "", scripted{err: dialed(syscall.ECONNREFUSED)}, "dial tcp: connect: connection refused (is the daemon running? --addr says where)", true},
		{
			"a proxy that is away", "",
			scripted{err: &net.OpError{Op: "proxyconnect", Net: "tcp", Err: dialed(syscall.ECONNREFUSED)}},
			"proxyconnect tcp: dial tcp: connect: connection refused (that is the proxy of HTTP_PROXY or HTTPS_PROXY; NO_PROXY names the hosts that need none)", true,
		},
		{"no way there", "", scripted{err: dialed(syscall.ENETUNREACH)}, "dial tcp: connect: network is unreachable (this machine has no way there; --addr says where the daemon is)", false},
		{"no such host", "", scripted{err: &net.DNSError{Err: "no such host", Name: "db.example", IsNotFound: true}}, "lookup db.example: no such host (--addr says where the daemon is)", true},
		{"names are out of order", "", scripted{err: &net.DNSError{Err: "server misbehaving", Name: "db.example", IsTemporary: true}}, "lookup db.example: server misbehaving (--addr says where the daemon is)", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := New(Options{Addr: "db.example:1", Token: tc.token, Variable: "T", Through: &tc.s})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Ask(t.Context(), http.MethodGet, "/api/v1/status", nil)
			if err == nil || err.Error() != in+tc.want {
				t.Errorf("got %v\nwant %s", err, in+tc.want)
			}
			if IsLasting(err) != tc.lasting {
				t.Errorf("it lasts: %v, want %v", !tc.lasting, tc.lasting)
			}
			if len(tc.s.requests) != 1 {
				t.Errorf("%d requests, want 1", len(tc.s.requests))
			}
			want := ""
			if tc.token != "" {
				want = "Bearer " + tc.token
			}
			if got := tc.s.requests[0].Header.Get("Authorization"); got != want {
				t.Errorf("sent %q, want %q", got, want)
			}
			if strings.Contains(err.Error(), "hunter") {
				t.Error("the error quotes a secret")
			}
		})
	}
}

func dialed(err error) error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("connect: %w", err)}
}

// A daemon that has answered and is away for a moment may come back.
func TestADaemonThatHasAnsweredIsAwaited(t *testing.T) {
	s := &scripted{status: 200, body: "{}"}
	c, err := New(Options{Addr: "unix:///s", Through: s})
	if err != nil {
		t.Fatal(err)
	}
	for _, away := range []error{syscall.ENOENT, syscall.ECONNREFUSED} {
		s.err = nil
		if _, err := c.Ask(t.Context(), http.MethodGet, "/x", nil); err != nil {
			t.Fatal(err)
		}
		s.err = dialed(away)
		if _, err := c.Ask(t.Context(), http.MethodGet, "/x", nil); err == nil || IsLasting(err) || !errors.Is(err, away) {
			t.Errorf("%v: got %v, want a fault that does not last", away, err)
		}
	}
}

func TestAPathBelowTheAddressIsAsked(t *testing.T) {
	s := &scripted{status: 404, body: `{"error":"not found"}`}
	c, err := New(Options{Addr: "https://db.example/sluice/", Through: s})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Ask(t.Context(), http.MethodGet, "/api/v1/status?limit=5", nil)
	if want := "GET https://db.example/sluice/api/v1/status: 404 Not Found: not found"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if got, want := s.requests[0].URL.String(), "https://db.example/sluice/api/v1/status?limit=5"; got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
}
