package acceptance

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheFirstScrapeHasEveryFamily(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	d := start(t, "-r", dir, "--input", "http")
	a := d.get("/metrics")
	if got := a.header.Get("Content-Type"); !strings.HasPrefix(got, "text/plain; version=0.0.4") {
		t.Errorf("content type %q", got)
	}
	for series, want := range map[string]float64{
		"svc_events_processed_total": 0, "svc_events_parse_errors_total": 0, "svc_detection_rules_loaded": 1, "svc_rules_rejected": 0,
		`svc_sink_queue_depth{sink="stdout"}`: 0, `svc_sink_retries_total{sink="stdout"}`: 0,
		`svc_actor_mailbox_capacity{actor="parse"}`: 10000, `svc_actor_quarantined_total{actor="evaluate"}`: 0,
		`svc_batch_phase_duration_seconds_count{phase="evaluate"}`: 0, "svc_batch_size_count": 0, "svc_dlq_events_total": 0,
		"svc_correlation_matches_total": 0, "svc_silences_active": 0, `svc_dedup_results_total{action="folded"}`: 0,
		`svc_capture_events_dropped_total{reason="event_too_large"}`: 0, "svc_tap_sessions_total": 0, "svc_otlp_log_records_total": 0,
	} {
		if got, ok := d.findMetric(series); !ok || got != want {
			t.Errorf("%s = %v (present %v), want %v", series, got, ok, want)
		}
	}
	if !strings.Contains(a.body, "svc_build_info{") {
		t.Error("svc_build_info is missing")
	}
	for _, absent := range []string{"svc_audit_records_total", "svc_tls_", "svc_api_auth_failures_total", "svc_events_by_schema_total", "svc_inhibited_total", "svc_enrichment_total"} {
		if strings.Contains(a.body, absent) {
			t.Errorf("%s is present", absent)
		}
	}
	d.stop()
}

func TestEventsOverHTTP(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	dlq := filepath.Join(dir, "dlq.ndjson")
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--input-format", "json", "--dlq", "file://"+dlq)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(event("fine") + "\n" + event("evil zip") + "\n"))
	_ = z.Close()
	bomb := func() string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		line := []byte(event(strings.Repeat("x", 1000)) + "\n")
		for range 25 << 10 {
			_, _ = z.Write(line)
		}
		_ = z.Close()
		return b.String()
	}
	long := event(strings.Repeat("x", 1<<20))
	for _, tc := range []struct {
		name, path, body string
		headers          []string
		status           int
		want             string
	}{
		{"a line that does not decode is accepted and counted later", "?commit=true", "not json\n" + event("evil"), nil, 200, `{"accepted":2}`},
		{"an empty body", "", "", nil, 200, `{"accepted":0}`},
		{"a line over the limit ends the request", "", event("a") + "\n" + long + "\n" + event("b"), nil, 413, `"max_bytes":1048576,"accepted":1`},
		{"gzip", "?commit=true", packed.String(), []string{"Content-Encoding", "GZip"}, 200, `{"accepted":2}`},
		{"an encoding that is not known", "", "x", []string{"Content-Encoding", "br"}, 415, `unsupported content-encoding: br`},
		{"gzip that is none", "", "plain", []string{"Content-Encoding", "gzip"}, 400, `"accepted":0`},
		{"a body that inflates over the cap", "", bomb(), []string{"Content-Encoding", "gzip"}, 413, `"max_bytes":20971520`},
		{"a commit that is neither true nor false", "?commit=maybe", "x", nil, 400, `commit`},
		{"a commit given twice", "?commit=true&commit=true", "x", nil, 400, `commit`},
		{"an unknown parameter", "?x=1", event("fine"), nil, 200, `{"accepted":1}`},
		{"invalid UTF-8 is replaced, not refused", "?commit=true", "{\"C\":\"evil \xff\"}", nil, 200, `{"accepted":1}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d.t = t
			a := d.do("POST", "/api/v1/events"+tc.path, tc.body, tc.headers...)
			if a.status != tc.status || !strings.Contains(a.body, tc.want) {
				t.Errorf("%d %s, want %d with %s", a.status, a.body, tc.status, tc.want)
			}
			if got := a.header.Get("Content-Type"); got != "application/json" {
				t.Errorf("content type %q", got)
			}
		})
	}
	d.t = t
	if got := d.metric("svc_events_parse_errors_total"); got < 2 {
		t.Errorf("parse errors %v, want at least the line that is no JSON and the one over the limit", got)
	}
	raw, err := os.ReadFile(dlq)
	if err != nil || !strings.Contains(string(raw), `{"original_event":"not json","error":"parse error","timestamp":"`) {
		t.Errorf("dead letters %s, %v", raw, err)
	}
	if !strings.Contains(string(raw), `"error":"event exceeds maximum size (1048576 bytes)"`) || !strings.Contains(string(raw), `"stage":"ingest"`) {
		t.Errorf("dead letters lack the line over the limit: %.300s", raw)
	}
	if got := d.stdout.String(); !strings.Contains(got, resultLine("A", "evil zip")) || !strings.Contains(got, "evil \ufffd") {
		t.Errorf("results\n%s", got)
	}
	d.stop()
}

// Lines that nobody keeps are seen in the log, by the client that waits for them, in the
// status and in the last line of the log.
func TestLinesThatAreLostAreSeen(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--input-format", "json")
	a := d.do("POST", "/api/v1/events?commit=true", "name,password\nana,hunter2\n"+event("evil"))
	if got := a.header.Get("Sluice-Undecoded-Lines"); a.status != 200 || strings.TrimSpace(a.body) != `{"accepted":3}` || got != "2" {
		t.Errorf("%d %s, and %q lines that could not be decoded, want 2 of 3", a.status, a.body, got)
	}
	if a := d.do("POST", "/api/v1/events?commit=true", event("evil")); a.header.Values("Sluice-Undecoded-Lines") != nil {
		t.Error("a client is told of lines that could not be decoded, and there are none")
	}
	warned := d.awaitLog("lines could not be decoded and are lost")
	if warned["lines"] != 2.0 || warned["source"] != "http" || warned["format"] != "json" || warned["outline"] != "aaa,aaaaaa9" || !strings.Contains(fmt.Sprint(warned["hint"]), "--dlq") {
		t.Errorf("the log says %v", warned)
	}
	if got := d.get("/api/v1/status").json(t)["parse_errors"]; got != 2.0 {
		t.Errorf("the status shows %v parse errors, want 2", got)
	}
	d.stop()
	if last := d.logged("stopped"); last["parse_errors"] != 2.0 || last["accepted"] != 4.0 {
		t.Errorf("the log ends with %v", last)
	}
	if strings.Contains(d.stderr.String(), "hunter2") {
		t.Error("the log shows what a line says")
	}
}

// Results that nobody keeps are the last that the log tells, as an error.
func TestResultsThatAreLostAreSeen(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--output", "file:///dev/full", "--sink-retry-max", "0")
	d.do("POST", "/api/v1/events?commit=true", event("evil"))
	if warned := d.awaitLog("delivery failed, its results are lost"); !strings.Contains(fmt.Sprint(warned["hint"]), "--dlq") {
		t.Errorf("the log says %v", warned)
	}
	d.stop()
	if last := d.logged("stopped"); last["dropped"] != 1.0 || !strings.Contains(d.stderr.String(), `"level":"ERROR","target":"sluice.server","fields":{"message":"stopped"`) {
		t.Errorf("the log ends with %v, want an error", last)
	}
}

func TestEventsAreRefusedByOtherInputs(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	d := start(t, "-r", dir)
	if a := d.do("POST", "/api/v1/events", event("evil")); a.status != 404 || !strings.Contains(a.body, "event ingestion not enabled (start with --input http)") {
		t.Errorf("%d %s", a.status, a.body)
	}
	_ = d.stdin.Close()
	if code := d.wait(); code != 0 {
		t.Errorf("exit code %d after the end of the input, want 0", code)
	}
}

func TestTheRoutesOfAFreshDaemon(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	d := start(t, "-r", dir, "--input", "http")
	for _, tc := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/healthz", "", 200, `{"status":"ok"}`},
		{"GET", "/readyz", "", 200, `{"status":"ready","rules_loaded":true}`},
		{"GET", "/api/v1/status", "", 200, `"status":"running"`},
		{"GET", "/api/v1/rules", "", 200, `"rejected":[]`},
		{"GET", "/api/v1/actors", "", 200, `"count":10`},
		{"GET", "/api/v1/actors/parse", "", 200, `"batch_size":128`},
		{"GET", "/api/v1/actors/nope", "", 404, `{"error":"no such actor","name":"nope"}`},
		{"PATCH", "/api/v1/actors/parse", `{"mailbox_capacity":50}`, 200, `"capacity":50`},
		{"PATCH", "/api/v1/actors/parse", `{"mailbox_capacity":0}`, 400, `1000000`},
		{"PATCH", "/api/v1/actors/parse", `{"mailbox_capacity":1000001}`, 400, `1000000`},
		{"PATCH", "/api/v1/actors/parse", `{"mailbox_capacity":"5"}`, 400, `error`},
		{"PATCH", "/api/v1/actors/parse", `{}`, 400, `error`},
		{"PATCH", "/api/v1/actors/parse", `{"x":1}`, 400, `error`},
		{"PATCH", "/api/v1/actors/nope", `{"mailbox_capacity":5}`, 404, `no such actor`},
		{"GET", "/nope", "", 404, `{"error":"not found"}`},
		{"GET", "/api/v1/status/", "", 404, `{"error":"not found"}`},
		{"PUT", "/api/v1/rules", "", 405, `{"error":"method not allowed"}`},
		{"OPTIONS", "/api/v1/status", "", 405, `{"error":"method not allowed"}`},
		{"GET", "/debug/pprof/", "", 404, `{"error":"not found"}`},
		{"GET", "/api/v1/incidents", "", 200, `{"count":0,"incidents":[]}`},
	} {
		t.Run(tc.method+" "+tc.path+" "+tc.body, func(t *testing.T) {
			d.t = t
			a := d.do(tc.method, tc.path, tc.body)
			if a.status != tc.status || !strings.Contains(a.body, tc.want) {
				t.Errorf("%d %s, want %d with %s", a.status, a.body, tc.status, tc.want)
			}
		})
	}
	d.t = t
	if got := d.do("PUT", "/api/v1/rules", "").header.Get("Allow"); got != "GET, HEAD" {
		t.Errorf("Allow %q, want %q", got, "GET, HEAD")
	}
	if got := d.metric(`svc_actor_mailbox_capacity{actor="parse"}`); got != 50 {
		t.Errorf("capacity %v after the resize, want 50", got)
	}
	d.stop()
}

func TestTheAPIOnAUnixSocket(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	socket := filepath.Join(dir, "s.sock")
	d := launch(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--api-addr", "unix://"+socket)
	d.awaitLog("API server listening")
	info, err := os.Stat(socket)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket %v, %v, want mode 0600", info, err)
	}
	got := sluice(t, "", "engine", "status", "--addr", "unix://"+socket, "--output-format", "ndjson")
	if got.code != 0 || !strings.Contains(got.stdout, `"status":"running"`) {
		t.Errorf("status over the socket: %+v", got)
	}
	second := sluice(t, "", "engine", "daemon", "-r", filepath.Join(dir, "rules"), "--api-addr", "unix://"+socket)
	if second.code != 3 || !strings.Contains(second.stderr, "in use") {
		t.Errorf("second owner: %+v, want exit 3", second)
	}
	d.stop()
	if _, err := os.Stat(socket); !os.IsNotExist(err) {
		t.Errorf("the socket file is still there: %v", err)
	}
}

func TestSeveralSinksGetTheSameBytes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	one, two := filepath.Join(dir, "1.ndjson"), filepath.Join(dir, "2.ndjson")
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--output", "stdout", "--output", "file://"+one, "--output", "file://"+two)
	for i := range 20 {
		d.push(event(fmt.Sprintf("evil %d", i)), event("fine"))
	}
	d.stop()
	a, errA := os.ReadFile(one)
	b, errB := os.ReadFile(two)
	if errA != nil || errB != nil || string(a) != string(b) || string(a) != d.stdout.String() || strings.Count(string(a), "\n") != 20 {
		t.Errorf("sinks differ or miss results: %d, %d and %d bytes (%v, %v)", len(a), len(b), len(d.stdout.String()), errA, errB)
	}
}
