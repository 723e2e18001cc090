//go:build !no_otlp

package api_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/http/api"
	"github.com/sluicehq/sluice/otlp"
	"github.com/sluicehq/sluice/otlp/ingest"
	"github.com/sluicehq/sluice/sources/sourcetest"
)

// logsService is an API that takes log records, and their series.
func logsService(t *testing.T, in *sourcetest.Intake, maxBody int64) (url string, reg *prometheus.Registry) {
	t.Helper()
	reg = prometheus.NewPedanticRegistry()
	m, err := ingest.NewMetrics(reg)
	if err != nil {
		t.Fatal(err)
	}
	a := api.New(api.Options{Log: slog.New(slog.DiscardHandler), Health: healthy{}, Metrics: reg})
	a.Mount(api.Resources{Logs: ingest.NewIntake(in, maxBody, m), MaxIngestBody: maxBody})
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	return s.URL, reg
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const recordOf = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"%s"}}]}]}]}`

func TestLogRecordsOverHTTP(t *testing.T) {
	asJSON := fmt.Sprintf(recordOf, "hi")
	wire, err := otlp.AppendRequest(nil, []byte(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	asProtobuf := string(wire)
	rejected, err := otlp.AppendRequest(nil, []byte(strings.Replace(fmt.Sprintf(recordOf, strings.Repeat("x", 1<<20)), `[{"body"`, `[{},{"body"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	const (
		text, events = "Content-Type", `{"body":"hi"}`
		protobuf     = "application/x-protobuf"
		counted      = `otlp_requests_total{encoding="%s",transport="http"} 1`
		refused      = `otlp_errors_total{reason="%s",transport="http"} 1`
	)
	requests := func(encoding string) string { return fmt.Sprintf(counted, encoding) }
	errors := func(reason string) string { return fmt.Sprintf(refused, reason) }
	for _, tc := range []struct {
		name, contentType, encoding, body string
		status                            int
		want                              string // of the body
		events                            []string
		series                            string
	}{
		{"protobuf", protobuf, "", asProtobuf, 200, "", []string{events}, requests("protobuf")},
		{"protobuf by its other name, with parameters, in any case", "Application/Protobuf; a=b", "identity", asProtobuf, 200, "", []string{events}, requests("protobuf")},
		{"no content type is protobuf", "", "", asProtobuf, 200, "", []string{events}, requests("protobuf")},
		{"nothing at all", protobuf, "", "", 200, "", nil, requests("protobuf")},
		{"JSON", "application/json; charset=utf-8", "", asJSON, 200, `{"partialSuccess":{"rejectedLogRecords":0,"errorMessage":""}}`, []string{events}, requests("json")},
		{"gzip", protobuf, "GZIP", zipped(t, asProtobuf), 200, "", []string{events}, requests("protobuf")},
		{"JSON with gzip", "application/json", "gzip", zipped(t, asJSON), 200, `{"partialSuccess":{"rejectedLogRecords":0,"errorMessage":""}}`, []string{events}, requests("json")},
		{"a record that is too long", protobuf, "", string(rejected), 200, "\nK\b\x01\x12Glog records that exceed the maximum size of an event (1048576 bytes): 1", []string{"{}"}, requests("protobuf")},
		{
			"another content type", "text/plain", "", asJSON, 415,
			`{"error":"unsupported content-type: text/plain (expected application/x-protobuf or application/json)"}`, nil, errors("unsupported_content_type"),
		},
		{"no content type and no protobuf", "", "", "hello", 400, `{"error":"protobuf decode error: malformed field at byte 2 of 5, in ExportLogsServiceRequest"}`, nil, errors("decode")},
		{"broken JSON", "application/json", "", `{"a":`, 400, `{"error":"JSON decode error: byte 5 of 5: unexpected end of JSON input"}`, nil, errors("decode")},
		{"no object", "application/json", "", ` []`, 400, `{"error":"JSON decode error: byte 1 of 3: want an object"}`, nil, errors("decode")},
		{"no body where JSON belongs", "application/json", "", ``, 400, `{"error":"JSON decode error: byte 0 of 0: unexpected end of JSON input"}`, nil, errors("decode")},
		{"what is not gzip", protobuf, "gzip", "hello, this is no gzip", 400, `{"error":"decompression error: gzip: invalid header"}`, nil, errors("decompression")},
		{"gzip that breaks off", protobuf, "gzip", zipped(t, asProtobuf)[:20], 400, `{"error":"decompression error: the data ends too early"}`, nil, errors("decompression")},
		{"another encoding", protobuf, "br", "x", 415, `{"error":"unsupported content-encoding: br"}`, nil, errors("decompression")},
		{"a body over the cap", protobuf, "", strings.Repeat("x", 3<<20), 413, `{"error":"request body exceeds maximum size","max_bytes":2097152}`, nil, errors("decode")},
		{"a bomb", protobuf, "gzip", zipped(t, strings.Repeat("\x00", 64<<20)), 413, `{"error":"request body exceeds maximum size","max_bytes":2097152}`, nil, errors("decompression")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := sourcetest.NewIntake(100)
			url, reg := logsService(t, in, 2<<20)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/logs", strings.NewReader(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			if tc.contentType != "" {
				req.Header.Set(text, tc.contentType)
			}
			if tc.encoding != "" {
				req.Header.Set("Content-Encoding", tc.encoding)
			}
			tr := &http.Transport{DisableCompression: true}
			defer tr.CloseIdleConnections()
			resp, err := tr.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			got, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != tc.status || strings.TrimSuffix(string(got), "\n") != strings.TrimSuffix(tc.want, "\n") {
				t.Errorf("got %d %q, %v, want %d %q", resp.StatusCode, got, err, tc.status, tc.want)
			}
			want := "application/json"
			if tc.status == 200 && !strings.HasPrefix(tc.contentType, "application/json") {
				want = protobuf
			}
			if typ := resp.Header.Get(text); typ != want {
				t.Errorf("got type %q, want %q", typ, want)
			}
			if lines := in.Lines(); !slices.Equal(lines, tc.events) {
				t.Errorf("got events %q, want %q", lines, tc.events)
			}
			for _, l := range in.Take() {
				if !l.Structured {
					t.Errorf("%s is a line", l.Raw)
				}
			}
			checkSeries(t, reg, tc.series)
		})
	}
}

// checkSeries checks which series with labels there are.
func checkSeries(t *testing.T, reg *prometheus.Registry, want ...string) {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			labels := []string{}
			for _, l := range m.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			if len(labels) > 0 {
				got = append(got, fmt.Sprintf("%s{%s} %g", f.GetName(), strings.Join(labels, ","), m.GetCounter().GetValue()))
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got series %q, want %q", got, want)
	}
}

func TestADrainingDaemonTakesNoLogRecords(t *testing.T) {
	in := sourcetest.NewIntake(100)
	in.Close()
	url, reg := logsService(t, in, 1<<20)
	resp, err := http.Post(url+"/v1/logs", "application/json", strings.NewReader(fmt.Sprintf(recordOf, "hi")))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 503 || strings.TrimSpace(string(body)) != `{"error":"event channel closed"}` {
		t.Errorf("got %d %s, %v", resp.StatusCode, body, err)
	}
	// A request is counted before its records wait.
	checkSeries(t, reg, `otlp_errors_total{reason="channel_closed",transport="http"} 1`, `otlp_requests_total{encoding="json",transport="http"} 1`)
}
