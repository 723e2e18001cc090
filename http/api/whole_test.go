package api_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/actors/reload"
	"github.com/sluicehq/sluice/http/api"
	"github.com/sluicehq/sluice/otlp/ingest"
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/sources/ndjson"
	"github.com/sluicehq/sluice/sources/sourcetest"
)

// The components that exist satisfy the interfaces as they are.
var (
	_ api.Actors   = (*actors.System)(nil)
	_ api.Reloader = (*reload.Reloader)(nil)
	_ api.Ingest   = (*ndjson.Intake)(nil)
	_ api.Logs     = (*ingest.Intake)(nil)
)

type healthy struct{}

func (healthy) Ready() bool             { return true }
func (healthy) Failing() (string, bool) { return "", false }

func serve(t *testing.T, r api.Resources) string {
	t.Helper()
	a := api.New(api.Options{Log: slog.New(slog.DiscardHandler), Health: healthy{}, Metrics: prometheus.NewRegistry()})
	a.Mount(r)
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	return s.URL
}

func send(t *testing.T, ctx context.Context, method, url string, body io.Reader, encoding string) (int, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	if encoding != "" {
		req.Header.Set("Content-Encoding", encoding)
	}
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, strings.TrimSpace(string(b)), err
}

func TestEventsReachTheInputQueue(t *testing.T) {
	long := strings.Repeat("x", sources.MaxLine+1)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, "{\"a\":1}\r\n\n{\"a\":2}")
	z.Close()
	var twice bytes.Buffer
	z = gzip.NewWriter(&twice)
	z.Write(zipped.Bytes())
	z.Close()
	for _, tc := range []struct {
		name, body, encoding string
		maxBody              int64
		status               int
		want                 string
		lines                []string
	}{
		{"blank lines are skipped, bad ones admitted", "{\"a\":1}\n{\"a\":2}\n\n{bad", "", 1 << 20, 200, `{"accepted":3}`, []string{`{"a":1}`, `{"a":2}`, `{bad`}},
		{
			"the line before a long one stays in", "{\"a\":1}\n" + long + "\n{\"a\":3}\n", "", 20 << 20, 413,
			`{"error":"line exceeds maximum size","max_bytes":1048576,"accepted":1,"hint":"leave out the line that is too long and go on behind line 1, the last that was accepted"}`,
			[]string{`{"a":1}`},
		},
		{"gzip", zipped.String(), "gzip", 1 << 20, 200, `{"accepted":2}`, []string{`{"a":1}`, `{"a":2}`}},
		{"what is not gzip", "plain text, not gzip", "gzip", 1 << 20, 400, `{"error":"read request body: gzip: invalid header","accepted":0}`, nil},
		{
			"gzip that no header names", zipped.String(), "", 1 << 20, 415,
			`{"error":"request body is gzip, which no Content-Encoding says","accepted":0,"hint":"add the header Content-Encoding: gzip, and keep the content type of the events"}`, nil,
		},
		{
			"UTF-16", "\xff\xfe{\x00}\x00\n\x00", "", 1 << 20, 415,
			`{"error":"request body is UTF-16, which is not read","accepted":0,"hint":"send events as text in UTF-8: iconv -f UTF-16 -t UTF-8 FILE makes it of a file"}`, nil,
		},
		{
			"zstd", "\x28\xb5\x2f\xfd....", "", 1 << 20, 415,
			`{"error":"request body is zstd, which is not read","accepted":0,"hint":"send events as text in UTF-8: zstd -dc FILE makes it of a file"}`, nil,
		},
		{
			"gzip within gzip", twice.String(), "gzip", 1 << 20, 415,
			`{"error":"request body is gzip within gzip","accepted":0,"hint":"compress the events once: the client compresses what is compressed already"}`, nil,
		},
		{
			"the inflated size counts", zipped.String(), "gzip", 10, 413,
			`{"error":"request body exceeds maximum size","max_bytes":10,"accepted":1,"hint":"split the body and go on behind line 1, the last that was accepted, or raise daemon.input.http.max_body_bytes, which counts inflated bytes"}`,
			[]string{`{"a":1}`},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := sourcetest.NewIntake(100)
			url := serve(t, api.Resources{Ingest: ndjson.NewIntake(in, tc.maxBody, nil), MaxIngestBody: tc.maxBody})
			status, body, err := send(t, t.Context(), "POST", url+"/api/v1/events", strings.NewReader(tc.body), tc.encoding)
			if err != nil || status != tc.status || body != tc.want {
				t.Errorf("got %d %s, %v, want %d %s", status, body, err, tc.status, tc.want)
			}
			if got := in.Lines(); !slices.Equal(got, tc.lines) {
				t.Errorf("admitted %q, want %q", got, tc.lines)
			}
		})
	}
}

func TestACommitAnswersWhenEveryLineHasEnded(t *testing.T) {
	in := sourcetest.NewIntake(100)
	url := serve(t, api.Resources{Ingest: ndjson.NewIntake(in, ndjson.DefaultMaxBody, nil)})
	answered := make(chan string, 1)
	go func() {
		_, body, err := send(t, t.Context(), "POST", url+"/api/v1/events?commit=true", strings.NewReader("a\nb\n"), "")
		if err != nil {
			body = err.Error()
		}
		answered <- body
	}()
	for len(in.Lines()) < 2 {
		time.Sleep(time.Millisecond)
	}
	lines := in.Take()
	lines[0].Token.Settle()
	select {
	case body := <-answered:
		t.Fatalf("answered %s with a line open", body)
	case <-time.After(10 * time.Millisecond):
	}
	lines[1].Token.Settle()
	if got, want := <-answered, `{"accepted":2}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAClientThatLeavesStopsWaiting(t *testing.T) {
	in := sourcetest.NewIntake(100)
	intake := &counting{intake: ndjson.NewIntake(in, ndjson.DefaultMaxBody, nil), ended: make(chan int, 1)}
	url := serve(t, api.Resources{Ingest: intake})
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _, _ = send(t, ctx, "POST", url+"/api/v1/events", strings.NewReader(strings.Repeat("{}\n", 300)), "")
	}()
	for in.Waited() == 0 {
		time.Sleep(time.Millisecond)
	}
	leave()
	if got := <-intake.ended; got != 100 || len(in.Lines()) != 100 {
		t.Errorf("accepted %d, admitted %d, want 100", got, len(in.Lines()))
	}
	<-gone
}

// counting reports how many lines each body had admitted when it ended.
type counting struct {
	intake *ndjson.Intake
	ended  chan int
}

func (c *counting) Ingest(ctx context.Context, body io.Reader, o ndjson.Options) (int, int, error) {
	n, undecoded, err := c.intake.Ingest(ctx, body, o)
	c.ended <- n
	return n, undecoded, err
}

func TestARealActorIsListedShownAndResized(t *testing.T) {
	metrics, err := reload.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	system := actorstest.System(t, actors.Options{Log: log})
	passed := make(chan struct{}, 1)
	component := actors.Component{Build: func(context.Context) (func(context.Context) error, error) {
		return func(context.Context) error { passed <- struct{}{}; return nil }, nil
	}}
	r := reload.New(reload.Options{Metrics: metrics, Log: log, Components: []actors.Component{component}})
	if _, err := system.Spawn(r.Cell(), r.Produce); err != nil {
		t.Fatal(err)
	}
	url := serve(t, api.Resources{Actors: system, Reloader: r})

	want := func(method, path, body string, status int, part string) string {
		t.Helper()
		got, text, err := send(t, t.Context(), method, url+path, strings.NewReader(body), "")
		if err != nil || got != status || !strings.Contains(text, part) {
			t.Errorf("%s %s: got %d %s, %v, want %d with %s", method, path, got, text, err, status, part)
		}
		return text
	}
	want("POST", "/api/v1/reload", "", 200, `{"status":"reload_triggered"}`)
	<-passed
	want("GET", "/api/v1/actors", "", 200, `{"count":1,"actors":[{"name":"reload","kind":"control","parent":"control","state":"running","mailbox":{"capacity":64,`)
	var shown struct{ Detail *reload.Detail }
	if err := json.Unmarshal([]byte(want("GET", "/api/v1/actors/reload", "", 200, `"detail":{"passes":`)), &shown); err != nil || shown.Detail == nil {
		t.Errorf("got %+v, %v, want a detail", shown, err)
	}
	want("PATCH", "/api/v1/actors/reload", `{"mailbox_capacity":5}`, 200, `"mailbox":{"capacity":5,`)
	want("PATCH", "/api/v1/actors/nope", `{"mailbox_capacity":5}`, 404, `{"error":"no such actor","name":"nope"}`)
	want("GET", "/api/v1/actors/nope", "", 404, `{"error":"no such actor","name":"nope"}`)
}
