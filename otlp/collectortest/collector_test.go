package collectortest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/graph/step/steptest"
	"github.com/sluicehq/sluice/otlp/otlptest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/result"
)

// collector starts the collector's receiver for one of its protocols, which gives logs
// what it gets.
func collector(t *testing.T, protocol string, tls map[string]any, logs consumer.Logs) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	_ = l.Close()
	settings := map[string]any{"endpoint": address}
	if tls != nil {
		settings["tls"] = tls
	}
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	if err := confmap.NewFromStringMap(map[string]any{"protocols": map[string]any{protocol: settings}}).Unmarshal(config); err != nil {
		t.Fatal(err)
	}
	r, err := factory.CreateLogs(t.Context(), receivertest.NewNopSettings(factory.Type()), config, logs)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context(), componenttest.NewNopHost()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Shutdown(context.Background()); err != nil { // that of the test has ended by now
			t.Error(err)
		}
	})
	return address
}

// open opens the sink of a spec.
func open(t *testing.T, text string) (sink.Transport, graph.Form) {
	t.Helper()
	spec, _, err := sink.ParseSpec(text, sink.RoleFindings)
	if err != nil {
		t.Fatal(err)
	}
	env := sink.Environment{Now: time.Now, Version: "1.2.3", Log: slog.New(slog.DiscardHandler)}
	transport, err := sink.Open(spec, env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := transport.Close(); err != nil {
			t.Error(err)
		}
	})
	return transport, spec.Form(env)
}

// rendered are the messages of a sink about detections, as its form writes them, and
// their native lines.
func rendered(form graph.Form, n int) (messages []graph.Message, lines []string) {
	set := &graph.ResultSet{}
	for i := range n {
		rule := result.NewRule(i, &ast.Rule{Meta: ast.Meta{
			Title: fmt.Sprintf("Rule <%d>", i), ID: "id", Level: ast.Level(i % 6), Tags: []string{"attack.execution"}, Attributes: map[string]any{"score": json.Number("7")},
		}})
		d := &result.Detection{
			Rule: rule, Selections: result.NewSelections(rule, []string{"sel"}), Fields: []result.Field{
				{Name: "Image", Value: []byte(`"C:\\x\\é.exe"`), Match: &result.Match{Selection: "sel", Matcher: "endswith", Pattern: `\x`, HasPattern: true}},
				{Name: "n", Value: []byte("1.5")},
			},
			Extra: &result.Extra{HasTime: true, Time: 1_700_000_000, Event: []byte(`{"a":{"b":[1,null,true,"x",{}]},"deep":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`)},
		}
		set.Results = append(set.Results, graph.Result{Detection: d, Enrichments: []byte(`{"geo":{"lat":1.25}}`)})
	}
	for i := range set.Results {
		lines = append(lines, string(set.Results[i].AppendNative(nil)))
	}
	out := steptest.Bundles(step.NewRender([]graph.Form{form}), set, graph.DeliveryID{1}, time.Unix(1_767_225_600, 42))
	return out[0].Messages, lines
}

// plain is a native line as the collector has it: numbers as it reads them, and what lies
// deeper than the sink writes as text.
func plain(t *testing.T, line string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return converted(v, 31).(map[string]any)
}

func converted(v any, depth int) any {
	switch v := v.(type) {
	case map[string]any:
		for k, m := range v {
			v[k] = converted(m, depth-1)
		}
	case []any:
		if depth == 0 {
			text, err := json.Marshal(v)
			if err != nil {
				return err
			}
			return string(text)
		}
		for i, e := range v {
			v[i] = converted(e, depth-1)
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, err := v.Float64()
		if err != nil {
			return err
		}
		return f
	}
	return v
}

func TestTheCollectorReadsWhatTheSinkWrites(t *testing.T) {
	ours := otlptest.NewAuthority(t, "ours")
	cert, key := ours.Issue("collector", time.Now().Add(time.Hour))
	clientCert, clientKey := ours.Issue("sluice", time.Now().Add(time.Hour))
	mutual := map[string]any{"cert_file": cert, "key_file": key, "client_ca_file": ours.File}
	with := "ca=" + ours.File + "&client_cert=" + clientCert + "&client_key=" + clientKey
	for _, tc := range []struct {
		name, protocol, spec string
		tls                  map[string]any
	}{
		{"gRPC", "grpc", "otlp://%s", nil},
		{"gRPC, zipped", "grpc", "otlp://%s?compression=gzip", nil},
		{"gRPC with certificates on both sides", "grpc", "otlps://%s?" + with, mutual},
		{"HTTP", "http", "otlphttp://%s", nil},
		{"HTTP, zipped", "http", "otlphttp://%s?compression=gzip", nil},
		{"HTTP with certificates on both sides, zipped", "http", "otlphttps://%s?compression=gzip&" + with, mutual},
	} {
		t.Run(tc.name, func(t *testing.T) {
			logs := new(consumertest.LogsSink)
			address := collector(t, tc.protocol, tc.tls, logs)
			transport, form := open(t, fmt.Sprintf(tc.spec, address))
			messages, lines := rendered(form, 12)
			dead := `{"original_event":"x"}`
			letter := graph.Message{Envelope: messages[0].Envelope, Kind: graph.KindDeadLetter, Body: sink.KindOTLP.Body([]byte(dead))}
			if n, err := transport.Write(t.Context(), append(messages, letter)); n != 13 || err != nil {
				t.Fatalf("%d confirmed, %v, want 13", n, err)
			}
			if logs.LogRecordCount() != 13 || len(logs.AllLogs()) != 1 {
				t.Fatalf("%d records in %d requests, want 13 in one", logs.LogRecordCount(), len(logs.AllLogs()))
			}
			resource := logs.AllLogs()[0].ResourceLogs().At(0)
			scope := resource.ScopeLogs().At(0)
			if got := resource.Resource().Attributes().AsRaw(); !reflect.DeepEqual(got, map[string]any{"service.name": "sluice"}) || scope.Scope().Name() != "sluice" || scope.Scope().Version() != "1.2.3" {
				t.Errorf("resource %v, scope %s %s", got, scope.Scope().Name(), scope.Scope().Version())
			}
			for i, line := range lines {
				check(t, scope.LogRecords().At(i), i, plain(t, line))
			}
			if r := scope.LogRecords().At(12); r.Body().Str() != dead || r.Attributes().Len() != 0 || r.Timestamp() != 0 || r.ObservedTimestamp() != 0 || r.SeverityNumber() != 0 {
				t.Errorf("the dead letter is %v", r.Body().AsRaw())
			}
		})
	}
}

func check(t *testing.T, r plog.LogRecord, i int, want map[string]any) {
	t.Helper()
	severity := []struct {
		number plog.SeverityNumber
		text   string
	}{{0, ""}, {plog.SeverityNumberDebug, "DEBUG"}, {plog.SeverityNumberInfo, "INFO"}, {plog.SeverityNumberWarn, "WARN"}, {plog.SeverityNumberError, "ERROR"}, {plog.SeverityNumberFatal, "FATAL"}}[i%6]
	if r.SeverityNumber() != severity.number || r.SeverityText() != severity.text || r.Body().Str() != want["rule_title"] {
		t.Errorf("record %d: severity %d %q, body %q", i, r.SeverityNumber(), r.SeverityText(), r.Body().Str())
	}
	if at := time.Unix(1_767_225_600, 42).UTC(); r.Timestamp().AsTime() != at || r.ObservedTimestamp().AsTime() != at {
		t.Errorf("record %d: times %s and %s, want %s", i, r.Timestamp(), r.ObservedTimestamp(), at)
	}
	if got := r.Attributes().AsRaw(); !reflect.DeepEqual(got, want) {
		t.Errorf("record %d:\n got %v\nwant %v", i, got, want)
	}
}

func TestWhatTheCollectorsPipelineRefuses(t *testing.T) {
	for _, tc := range []struct {
		name      string
		err       error
		permanent bool
	}{
		{"for now", errors.New("the queue is full"), false},
		{"for good", consumererror.NewPermanent(errors.New("no such tenant")), true},
	} {
		for protocol, scheme := range map[string]string{"grpc": "otlp", "http": "otlphttp"} {
			t.Run(tc.name+" over "+protocol, func(t *testing.T) {
				address := collector(t, protocol, nil, consumertest.NewErr(tc.err))
				transport, form := open(t, scheme+"://"+address)
				messages, _ := rendered(form, 3)
				n, err := transport.Write(t.Context(), messages)
				if n != 0 || err == nil || sink.IsPermanent(err) != tc.permanent || !strings.Contains(err.Error(), tc.err.Error()) {
					t.Errorf("%d confirmed, %v, want a permanent error: %t", n, err, tc.permanent)
				}
			})
		}
	}
}
