package acceptance

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"

	"github.com/sluicehq/sluice/otlp/otlptest"
)

func TestResultsAreExportedOverOTLP(t *testing.T) {
	ours := otlptest.NewAuthority(t, "ours")
	cert, key := ours.Issue("sluice", time.Now().Add(time.Hour))
	for _, tc := range []struct{ name, spec string }{
		{"gRPC", "otlp://%s"},
		{"gRPC with TLS, zipped", "otlps://%s?compression=gzip&ca=" + ours.File + "&client_cert=" + cert + "&client_key=" + key},
		{"HTTP", "otlphttp://%s/"},
		{"HTTP, zipped", "otlphttp://%s?compression=gzip&timeout=5s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			receiver := otlptest.New(t)
			switch {
			case strings.HasPrefix(tc.spec, "otlps:"):
				receiver.ServeGRPCOn(l, ours.Server("collector", time.Now().Add(time.Hour)))
			case strings.HasPrefix(tc.spec, "otlp:"):
				receiver.ServeGRPCOn(l, nil)
			default:
				receiver.ServeHTTPOn(l)
			}
			dir := t.TempDir()
			spec := fmt.Sprintf(tc.spec, l.Addr())
			d := start(t, "-r", write(t, dir, "rule.yml", rule("Bad", "bad")), "--output", spec, "--output", "stdout", "--dlq", spec, "--include-event", "--input", "http", "--input-format", "json")
			d.push(event("bad 1"), event("fine"), event("bad 2"), "{not json")
			d.await("two results and a dead letter", func() bool { return len(receiver.Records()) == 3 })
			var lines []string
			for _, r := range receiver.Records() {
				if len(r.Attributes) == 0 {
					if body := r.Body.GetStringValue(); !strings.Contains(body, `"error":"parse error"`) || !json.Valid([]byte(body)) {
						t.Errorf("a dead letter is %s", body)
					}
					continue
				}
				if r.Body.GetStringValue() != "Bad" || r.TimeUnixNano == 0 {
					t.Errorf("a record is %v", r)
				}
				line, err := json.Marshal(valueOf(&commonpb.AnyValue{Value: &commonpb.AnyValue_KvlistValue{KvlistValue: &commonpb.KeyValueList{Values: r.Attributes}}}))
				if err != nil {
					t.Fatal(err)
				}
				lines = append(lines, string(line))
			}
			d.await("two lines", func() bool { return len(d.stdout.lines()) == 2 })
			for i, line := range d.stdout.lines() {
				var want any
				if err := json.Unmarshal([]byte(line), &want); err != nil {
					t.Fatal(err)
				}
				text, err := json.Marshal(want)
				if err != nil {
					t.Fatal(err)
				}
				if i >= len(lines) || lines[i] != string(text) {
					t.Errorf("record %d: got %q, want the members of %s", i, lines, text)
				}
			}
			if n := d.metric(`svc_sink_delivery_failures_total{sink="otlp"}`); n != 0 {
				t.Errorf("%g failures", n)
			}
			d.stop()
		})
	}
}

// valueOf is a value as encoding/json has it.
func valueOf(v *commonpb.AnyValue) any {
	switch v := v.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		return v.StringValue
	case *commonpb.AnyValue_BoolValue:
		return v.BoolValue
	case *commonpb.AnyValue_IntValue:
		return float64(v.IntValue)
	case *commonpb.AnyValue_DoubleValue:
		return v.DoubleValue
	case *commonpb.AnyValue_ArrayValue:
		list := []any{}
		for _, e := range v.ArrayValue.Values {
			list = append(list, valueOf(e))
		}
		return list
	case *commonpb.AnyValue_KvlistValue:
		object := map[string]any{}
		for _, m := range v.KvlistValue.Values {
			object[m.Key] = valueOf(m.Value)
		}
		return object
	}
	return nil
}

// A collector that is away at the start and comes later gets everything.
func TestACollectorMayComeLater(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	dir := t.TempDir()
	d := start(t, "-r", write(t, dir, "rule.yml", rule("Bad", "bad")), "--output", "otlp://"+address, "--sink-retry-max", "1000", "--sink-backoff-max-ms", "200")
	for i := range 100 {
		if _, err := fmt.Fprintln(d.stdin, event(fmt.Sprint("bad ", i))); err != nil {
			t.Fatal(err)
		}
	}
	d.await("retries", func() bool { return d.metric(`svc_sink_retries_total{sink="otlp"}`) >= 2 })
	d.awaitLog("delivery retried")
	if l, err = net.Listen("tcp", address); err != nil {
		t.Skipf("the port was taken meanwhile: %v", err)
	}
	receiver := otlptest.New(t)
	receiver.ServeGRPCOn(l, nil)
	d.await("all results", func() bool { return len(receiver.Records()) == 100 })
	for i, r := range receiver.Records() {
		if text := r.String(); !strings.Contains(text, fmt.Sprintf(`"bad %d"`, i)) {
			t.Errorf("record %d is %s", i, text)
		}
	}
	d.stop()
}

func TestOTLPSinksThatCannotBeBuiltRefuseTheStart(t *testing.T) {
	plainly(t)
	rules := write(t, t.TempDir(), "rule.yml", rule("Bad", "bad"))
	for spec, want := range map[string]string{
		"otlphttp://c:4318/v1/logs":    "takes no path",
		"otlps://c?ca=/does/not/exist": "no such file or directory",
		"otlps://c?client_cert=/x":     "client_cert and client_key must be set together",
		"otlp://c?ca=/x":               "ca= needs TLS: write otlps://",
		"otlp://c?compression=zstd":    "unknown compression 'zstd' (supported: gzip)",
		"otlp://c?format=ocsf":         "format= is not supported on OTLP sinks",
		"otlp://c?timeout=soon":        "timeout",
		"otlphttps://c?tls_domain=":    "tls_domain= has no value",
		"otlp://c?retries=3":           "unknown parameter 'retries'",
	} {
		got := sluice(t, "", "engine", "daemon", "-r", rules, "--api-addr", "127.0.0.1:0", "--output", spec)
		if got.code != 3 || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: code %d, %s, want 3 and %q", spec, got.code, got.stderr, want)
		}
	}
}
