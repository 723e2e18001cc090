package api

import (
	"bytes"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

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
