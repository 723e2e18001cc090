package acceptance

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/sluicehq/sluice/internal/certs/certstest"
	"github.com/sluicehq/sluice/otlp"
)

// logRequest is a request of one record, in JSON.
func logRequest(value string) string {
	return fmt.Sprintf(`{"resourceLogs":[{"resource":{"attributes":[{"key":"host.name","value":{"stringValue":"s1"}}]},"scopeLogs":[{"logRecords":[
		{"timeUnixNano":"1700000000000000000","attributes":[{"key":"C","value":{"stringValue":%q}}]}]}]}]}`, value)
}

// logWire is the same in protobuf.
func logWire(t *testing.T, value string) []byte {
	t.Helper()
	b, err := otlp.AppendRequest(nil, []byte(logRequest(value)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// export makes a call over gRPC.
func (d *daemon) export(token, value string, options ...grpc.CallOption) error {
	d.t.Helper()
	secure := insecure.NewCredentials()
	if d.tls != nil {
		secure = credentials.NewTLS(d.tls.Clone())
	}
	conn, err := grpc.NewClient(d.addr, grpc.WithTransportCredentials(secure))
	if err != nil {
		d.t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	if token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+secretsOf[token])
	}
	request := &logspb.LogsData{}
	if err := proto.Unmarshal(logWire(d.t, value), request); err != nil {
		d.t.Fatal(err)
	}
	return conn.Invoke(ctx, otlp.Method, request, &emptypb.Empty{}, options...)
}

// Log records come in whatever the input is and whatever format it has, over HTTP and
// gRPC, in clear and over TLS, with tokens and client certificates.
func TestLogRecordsComeInOverOTLP(t *testing.T) {
	ours := certstest.New(t, "ours")
	cert, key := ours.Issue("sluice", year)
	const protobuf = "application/x-protobuf"
	for _, tc := range []struct {
		name  string
		token string
		tls   *tls.Config
		flags []string
	}{
		{"in clear", "", nil, nil},
		{"over TLS with a token", "INGEST", &tls.Config{RootCAs: ours.Pool}, []string{"--tls-cert", cert, "--tls-key", key}},
		{
			"with client certificates", "", &tls.Config{RootCAs: ours.Pool, Certificates: []tls.Certificate{ours.Pair("client", year)}},
			[]string{"--tls-cert", cert, "--tls-key", key, "--tls-client-ca", ours.File},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "rules/a.yml", rule("A", "evil"))
			args := append([]string{"-r", "rules", "--input-format", "cef", "--include-event", "--dlq", "file://dead"}, tc.flags...)
			if tc.token != "" {
				args = append(args, "--config", write(t, dir, "sluice.yaml", "daemon:\n"+fmt.Sprintf(roles, "")))
			}
			d := launchWith(t, dir, environment(), args...)
			d.tls = tc.tls
			d.awaitLog("API server listening")
			send := func(contentType, body string) answer {
				headers := []string{"Content-Type", contentType}
				if tc.token != "" {
					headers = append(headers, "Authorization", "Bearer "+secretsOf[tc.token])
				}
				return d.do("POST", "/v1/logs", body, headers...)
			}
			if got := send("application/json", logRequest("evil json")); got.status != 200 || strings.TrimSpace(got.body) != `{"partialSuccess":{"rejectedLogRecords":0,"errorMessage":""}}` {
				t.Errorf("JSON: %d %s", got.status, got.body)
			}
			if got := send(protobuf, string(logWire(t, "evil protobuf"))); got.status != 200 || got.body != "" || got.header.Get("Content-Type") != protobuf {
				t.Errorf("protobuf: %d %q %v", got.status, got.body, got.header)
			}
			if got := send(protobuf, string(logWire(t, strings.Repeat("x", 1<<20)))); got.status != 200 || !strings.Contains(got.body, "exceed the maximum size of an event") {
				t.Errorf("a long record: %d %q", got.status, got.body)
			}
			if got := send("application/json", `{"User":"root"}`); got.status != 200 || strings.TrimSpace(got.body) != `{"partialSuccess":{"rejectedLogRecords":0,"errorMessage":"the request has no resourceLogs: events are sent to POST /api/v1/events"}}` {
				t.Errorf("an event: %d %s", got.status, got.body)
			}
			if got := send("text/plain", "x"); got.status != 415 {
				t.Errorf("another type: %d %q", got.status, got.body)
			}
			if err := d.export(tc.token, "evil gRPC"); err != nil {
				t.Error(err)
			}
			if err := d.export(tc.token, "evil zipped gRPC", grpc.UseCompressor(gzip.Name)); err != nil {
				t.Error(err)
			}
			if tc.token != "" {
				if err := d.export("", "evil"); status.Code(err) != codes.Unauthenticated {
					t.Errorf("without a token: %v", err)
				}
				if err := d.export("READER", "evil"); status.Code(err) != codes.PermissionDenied {
					t.Errorf("without the permission: %v", err)
				}
				if got := d.as("READER", "POST", "/v1/logs", ""); got.status != 403 {
					t.Errorf("without the permission: %d %s", got.status, got.body)
				}
				d.silent()
			}
			want := []string{"evil json", "evil protobuf", "evil gRPC", "evil zipped gRPC"}
			d.await("all results", func() bool { return len(d.stdout.lines()) == len(want) })
			for i, line := range d.stdout.lines() {
				event := fmt.Sprintf(`{"timestamp":"2023-11-14T22:13:20.000000000Z","C":"%s","resource.host.name":"s1"}`, want[i])
				if !strings.Contains(line, event) {
					t.Errorf("a result is %s, want the event %s", line, event)
				}
			}
			if tc.token != "" {
				return // its metrics ask for a token, too
			}
			for series, n := range map[string]float64{
				`svc_otlp_requests_total{encoding="json",transport="http"}`:                 2,
				`svc_otlp_requests_total{encoding="protobuf",transport="http"}`:             2,
				`svc_otlp_requests_total{encoding="protobuf",transport="grpc"}`:             2,
				`svc_otlp_errors_total{reason="unsupported_content_type",transport="http"}`: 1,
				`svc_otlp_log_records_total`:                                                5,
				`svc_events_processed_total`:                                                4,
				`svc_events_parse_errors_total`:                                             1,
			} {
				if got := d.metric(series); got != n {
					t.Errorf("%s is %g, want %g", series, got, n)
				}
			}
			d.stop()
			dead, err := os.ReadFile(filepath.Join(dir, "dead"))
			if err != nil || strings.Count(string(dead), "\n") != 1 || !strings.Contains(string(dead), `"error":"event exceeds maximum size (1048576 bytes)"`) || !strings.Contains(string(dead), `"stage":"ingest"`) {
				t.Errorf("dead letters %.300s, %v", dead, err)
			}
		})
	}
}

// A daemon whose input ends does not stay for log records.
func TestTheEndOfAFiniteInputEndsLogRecords(t *testing.T) {
	d := start(t, "-r", write(t, t.TempDir(), "a.yml", rule("A", "evil")))
	if err := d.export("", "evil"); err != nil {
		t.Error(err)
	}
	if err := d.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if code := d.wait(); code != 0 || len(d.stdout.lines()) != 1 {
		t.Errorf("exit code %d with %d results, want 0 with one", code, len(d.stdout.lines()))
	}
}

// What is logged about log records names them, and not the first input.
func TestLogLinesNameLogRecords(t *testing.T) {
	d := start(t, "-r", write(t, t.TempDir(), "a.yml", rule("A", "evil")), "--input", "http", "--input-format", "cef")
	deep := strings.Repeat(`{"arrayValue":{"values":[`, 130) + strings.Repeat(`]}}`, 130)
	if got := d.do("POST", "/v1/logs", `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":`+deep+`}]}]}]}`, "Content-Type", "application/json"); got.status != 200 {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	if got := d.awaitLog("lines could not be decoded and are lost"); got["source"] != "otlp" || got["format"] != "json" || got["hint"] != "--dlq keeps what could not be decoded" {
		t.Errorf("logged %v, want source otlp in JSON", got)
	}
}

func TestABuildWithoutOTLPTakesNoLogRecords(t *testing.T) {
	left := without(t, "no_otlp")
	dir := t.TempDir()
	cmd := command(t, "engine", "daemon", "-r", write(t, dir, "a.yml", rule("A", "evil")), "--api-addr", "127.0.0.1:0")
	cmd.Path = left
	d := launchCommand(t, dir, cmd)
	d.awaitLog("API server listening")
	// The document that answers are compared with is that of a build with OTLP.
	resp, err := http.Post("http://"+d.addr+"/v1/logs", "application/json", strings.NewReader(logRequest("evil")))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 404 {
		t.Errorf("got %d, want 404", resp.StatusCode)
	}
	if err := d.export("", "evil"); status.Code(err) != codes.Unimplemented {
		t.Errorf("got %v, want that the service is not implemented", err)
	}
	if text := d.get("/metrics").body; !strings.Contains(text, "\nsvc_otlp_log_records_total 0\n") || strings.Count(text, "\nsvc_otlp_") != 1 {
		t.Error("the series are not one at zero")
	}
	d.stop()
}
