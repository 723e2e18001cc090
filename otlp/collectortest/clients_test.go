package collectortest

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/grafana/alloy/syntax/ast"
	"github.com/grafana/alloy/syntax/parser"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/exporter/otlpexporter"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/sluicehq/sluice/http/server"
	"github.com/sluicehq/sluice/sources/sourcetest"
)

// examples are the configurations of clients.
var examples = filepath.Join("..", "..", "examples", "clients")

// The exporter of the example sends what the receiver of the example makes of a line:
// a record whose body has the keys of the object.
func TestTheCollectorSendsWithTheConfigurationOfItsExample(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(examples, "otel-collector.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	retrieved, err := confmap.NewRetrievedFromYAML(text)
	if err != nil {
		t.Fatal(err)
	}
	all, err := retrieved.AsConf()
	if err != nil {
		t.Fatal(err)
	}
	for setting, want := range map[string]any{
		"receivers::filelog::start_at":        "beginning",
		"receivers::filelog::storage":         "file_storage",
		"receivers::filelog::operators":       []any{map[string]any{"type": "json_parser", "parse_to": "body"}},
		"exporters::otlp::endpoint":           "127.0.0.1:9090",
		"service::extensions":                 []any{"file_storage"},
		"service::pipelines::logs::receivers": []any{"filelog"},
		"service::pipelines::logs::exporters": []any{"otlp"},
	} {
		if got := all.Get(setting); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, want %v", setting, got, want)
		}
	}
	in := sourcetest.NewIntake(100)
	settings, err := all.Sub("exporters::otlp")
	if err != nil {
		t.Fatal(err)
	}
	// The storage of its queue is an extension, which is not here.
	if err := settings.Merge(confmap.NewFromStringMap(map[string]any{
		"endpoint": receiver(t, in, server.TLS{}, nil), "sending_queue": map[string]any{"storage": nil},
	})); err != nil {
		t.Fatal(err)
	}
	factory := otlpexporter.NewFactory()
	config := factory.CreateDefaultConfig()
	if err := settings.Unmarshal(config); err != nil {
		t.Fatal(err)
	}
	e, err := factory.CreateLogs(t.Context(), exportertest.NewNopSettings(factory.Type()), config)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context(), componenttest.NewNopHost()); err != nil {
		t.Fatal(err)
	}
	logs := plog.NewLogs()
	record := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	if err := record.Body().SetEmptyMap().FromRaw(map[string]any{"CommandLine": "vssadmin delete shadows"}); err != nil {
		t.Fatal(err)
	}
	if err := e.ConsumeLogs(t.Context(), logs); err != nil {
		t.Fatal(err)
	}
	if err := e.Shutdown(t.Context()); err != nil { // which empties the queue
		t.Fatal(err)
	}
	if got, want := in.Lines(), []string{`{"CommandLine":"vssadmin delete shadows"}`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The example for Alloy is read by Alloy's parser; its components need all of Alloy, so
// what is checked is that they are wired and say what the example for the collector says.
func TestTheExampleForAlloyIsRead(t *testing.T) {
	name := filepath.Join(examples, "config.alloy")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(name, text)
	if err != nil {
		t.Fatal(err)
	}
	said := make(map[string]string)
	settings(string(text), "", file.Body, said)
	for setting, want := range map[string]string{
		"otelcol.receiver.filelog.start_at":                       `"beginning"`,
		"otelcol.receiver.filelog.output.logs":                    "[otelcol.exporter.otlp.sluice.input]",
		"otelcol.exporter.otlp.client.endpoint":                   `"127.0.0.1:9090"`,
		"otelcol.exporter.otlp.client.tls.insecure":               "true",
		"otelcol.exporter.otlp.retry_on_failure.max_elapsed_time": `"0s"`,
	} {
		if said[setting] != want {
			t.Errorf("%s is %s, want %s", setting, said[setting], want)
		}
	}
}

// settings are the attributes of blocks, by the names of the blocks around them.
func settings(text, prefix string, body ast.Body, into map[string]string) {
	for _, s := range body {
		switch s := s.(type) {
		case *ast.BlockStmt:
			settings(text, prefix+strings.Join(s.Name, ".")+".", s.Body, into)
		case *ast.AttributeStmt:
			into[prefix+s.Name.Name] = text[ast.StartPos(s.Value).Offset() : ast.EndPos(s.Value).Offset()+1]
		}
	}
}
