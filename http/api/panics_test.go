package api

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

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
