package collectortest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/exporter/otlpexporter"
	"go.opentelemetry.io/collector/exporter/otlphttpexporter"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/sluicehq/sluice/http/api"
	"github.com/sluicehq/sluice/http/auth"
	"github.com/sluicehq/sluice/http/server"
	"github.com/sluicehq/sluice/otlp/ingest"
	"github.com/sluicehq/sluice/otlp/otlptest"
	"github.com/sluicehq/sluice/sources/sourcetest"
)

type healthy struct{}

func (healthy) Ready() bool             { return true }
func (healthy) Failing() (string, bool) { return "", false }

// receiver is a listener that takes log records, as the daemon has it.
func receiver(t *testing.T, in *sourcetest.Intake, files server.TLS, tokens *auth.Config) (address string) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	addr, err := server.ParseAddress("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.Listen(addr, log)
	if err != nil {
		t.Fatal(err)
	}
	if files.On() {
		certificates, err := files.Load(log)
		if err != nil {
			t.Fatal(err)
		}
		s.Secure(certificates)
	}
	reg := prometheus.NewRegistry()
	metrics, err := ingest.NewMetrics(reg)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Register(reg); err != nil {
		t.Fatal(err)
	}
	o := api.Options{Log: log, Health: healthy{}, Metrics: reg}
	var gate *auth.Gate
	if tokens != nil {
		policy, err := auth.New(*tokens, func(string) string { return "secret-of-the-collector" })
		if err != nil {
			t.Fatal(err)
		}
		rejections, err := auth.NewMetrics(reg)
		if err != nil {
			t.Fatal(err)
		}
		gate = auth.NewGate(policy, rejections, log)
		o.Protect = func(e api.Endpoint, next http.Handler) http.Handler {
			return gate.Protect(auth.Endpoint{Pattern: e.Pattern, Permissions: []string{e.Permission}, Open: e.Open}, next)
		}
	}
	intake := ingest.NewIntake(in, 20<<20, metrics)
	calls := ingest.NewCalls(gate.Call)
	calls.Mount(intake)
	s.MountCalls(calls)
	a := api.New(o)
	a.Mount(api.Resources{Logs: intake, MaxIngestBody: 20 << 20})
	served := make(chan error, 1)
	go func() { served <- s.Serve(a) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return s.Addr().String()
}

func TestTheCollectorExportsToUs(t *testing.T) {
	ours := otlptest.NewAuthority(t, "ours")
	cert, key := ours.Issue("sluice", time.Now().Add(time.Hour))
	clientCert, clientKey := ours.Issue("collector", time.Now().Add(time.Hour))
	tokens := &auth.Config{Tokens: []auth.TokenConfig{{Name: "collector", TokenEnv: "TOKEN", Role: "ingest"}}}
	bearer := map[string]any{"Authorization": "Bearer secret-of-the-collector"}
	plain := map[string]any{"insecure": true}
	trusting := map[string]any{"ca_file": ours.File}
	mutual := map[string]any{"ca_file": ours.File, "cert_file": clientCert, "key_file": clientKey}
	for _, tc := range []struct {
		name     string
		factory  exporter.Factory
		scheme   string
		settings map[string]any
		files    server.TLS
		tokens   *auth.Config
	}{
		{"gRPC", otlpexporter.NewFactory(), "", map[string]any{"tls": plain}, server.TLS{}, nil},
		{"gRPC without compression, with a token", otlpexporter.NewFactory(), "", map[string]any{"tls": plain, "compression": "none", "headers": bearer}, server.TLS{}, tokens},
		{"gRPC over TLS with a token", otlpexporter.NewFactory(), "", map[string]any{"tls": trusting, "headers": bearer}, server.TLS{Cert: cert, Key: key, MinVersion: "1.2"}, tokens},
		{"gRPC with certificates on both sides", otlpexporter.NewFactory(), "", map[string]any{"tls": mutual}, server.TLS{Cert: cert, Key: key, ClientCA: ours.File, MinVersion: "1.3"}, nil},
		{"HTTP", otlphttpexporter.NewFactory(), "http://", map[string]any{"tls": plain}, server.TLS{}, nil},
		{"HTTP with JSON and a token", otlphttpexporter.NewFactory(), "http://", map[string]any{"tls": plain, "encoding": "json", "headers": bearer}, server.TLS{}, tokens},
		{"HTTP without compression, over TLS with a token", otlphttpexporter.NewFactory(), "https://", map[string]any{"tls": trusting, "compression": "none", "headers": bearer}, server.TLS{Cert: cert, Key: key, MinVersion: "1.2"}, tokens},
		{"HTTP with certificates on both sides", otlphttpexporter.NewFactory(), "https://", map[string]any{"tls": mutual}, server.TLS{Cert: cert, Key: key, ClientCA: ours.File, MinVersion: "1.3"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := sourcetest.NewIntake(100)
			settings := map[string]any{"endpoint": tc.scheme + receiver(t, in, tc.files, tc.tokens), "sending_queue": map[string]any{"enabled": false}, "retry_on_failure": map[string]any{"enabled": false}}
			for name, value := range tc.settings {
				settings[name] = value
			}
			config := tc.factory.CreateDefaultConfig()
			if err := confmap.NewFromStringMap(settings).Unmarshal(config); err != nil {
				t.Fatal(err)
			}
			e, err := tc.factory.CreateLogs(t.Context(), exportertest.NewNopSettings(tc.factory.Type()), config)
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Start(t.Context(), componenttest.NewNopHost()); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := e.Shutdown(context.Background()); err != nil {
					t.Error(err)
				}
			}()
			var want []string
			logs := plog.NewLogs()
			resource := logs.ResourceLogs().AppendEmpty()
			resource.Resource().Attributes().PutStr("host.name", "s1")
			scope := resource.ScopeLogs().AppendEmpty()
			for i := range 20 {
				r := scope.LogRecords().AppendEmpty()
				r.SetTimestamp(pcommon.Timestamp(1_700_000_000_000_000_000))
				r.SetTraceID(pcommon.TraceID{1: 0xAB})
				r.Attributes().PutInt("n", int64(i))
				r.Attributes().PutEmptyBytes("b").FromRaw([]byte{0xfe})
				want = append(want, fmt.Sprintf(`{"timestamp":"2023-11-14T22:13:20.000000000Z","trace_id":"00ab0000000000000000000000000000","n":%d,"b":"fe","resource.host.name":"s1"}`, i))
			}
			if err := e.ConsumeLogs(t.Context(), logs); err != nil {
				t.Fatal(err)
			}
			if got := in.Lines(); !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}
