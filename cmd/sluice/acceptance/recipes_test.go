package acceptance

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"gopkg.in/yaml.v3"

	"github.com/sluicehq/sluice/internal/kafkaconn/kafkatest"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
	"github.com/sluicehq/sluice/internal/sigmatest"
)

var (
	natsCommand = &program{"the module github.com/nats-io/natscli/nats", []string{"nats"}, []string{"--version"}}
	kcat        = &program{"kcat", []string{"kcat"}, []string{"-V"}}
)

// exampleOf reads a configuration of examples/clients.
func exampleOf(t *testing.T, name string) (config map[string]any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "examples", "clients", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return config
}

// at is what lies below keys and indices.
func at(t *testing.T, v any, path ...any) any {
	t.Helper()
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				t.Fatalf("%v: no element %d", path, p)
			}
			v = l[p]
		}
	}
	return v
}

// wantSettings fails unless a part of a configuration has these settings.
func wantSettings(t *testing.T, part any, want map[string]any) {
	t.Helper()
	for key, value := range want {
		if got := at(t, part, key); !reflect.DeepEqual(got, value) {
			t.Errorf("%s is %v, want %v", key, got, value)
		}
	}
}

// No package has Vector and Fluent Bit. So their examples are read, their settings are
// those below, and the request that they make by them, as their documentation shows it, is
// taken at the address that they name.
func TestTheExamplesOfVectorAndFluentBitNameOurRoute(t *testing.T) {
	const lines = `{"C":"evil"}` + "\n" + `{"C":"good"}` + "\n"
	dated := strings.ReplaceAll(lines, `{`, `{"date":"2026-03-01T10:20:30.123456Z",`)
	for _, tc := range []struct {
		name, contentType, body string
		target                  func(*testing.T) string // of its requests
	}{
		{"Vector", "text/plain", lines, func(t *testing.T) string {
			t.Helper()
			config := exampleOf(t, "vector.yaml")
			wantSettings(t, at(t, config, "sources", "events"), map[string]any{"type": "file", "max_line_bytes": 1 << 20})
			sink := at(t, config, "sinks", "sluice")
			wantSettings(t, sink, map[string]any{
				"type": "http", "method": "post", "inputs": []any{"events"}, "compression": "gzip",
				"encoding": map[string]any{"codec": "text"}, "framing": map[string]any{"method": "newline_delimited"},
				"acknowledgements": map[string]any{"enabled": true},
			})
			return at(t, sink, "uri").(string)
		}},
		{"Fluent Bit", "application/x-ndjson", dated, func(t *testing.T) string {
			t.Helper()
			config := exampleOf(t, "fluent-bit.yaml")
			wantSettings(t, at(t, config, "pipeline", "inputs", 0), map[string]any{"name": "tail", "parser": "json", "storage.type": "filesystem"})
			wantSettings(t, at(t, config, "parsers", 0), map[string]any{"name": "json", "format": "json"})
			output := at(t, config, "pipeline", "outputs", 0)
			wantSettings(t, output, map[string]any{
				"name": "http", "host": "127.0.0.1", "port": 9090, "format": "json_lines", "compress": "gzip", "json_date_format": "iso8601", "retry_limit": "no_limits",
			})
			return "http://" + documented + at(t, output, "uri").(string)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			target, err := url.Parse(tc.target(t))
			if err != nil || target.Scheme != "http" || target.Host != documented || target.RequestURI() != "/api/v1/events?commit=true" {
				t.Fatalf("it sends to %s (%v), want the route of events at %s, with the answer when results are written", target, err, documented)
			}
			rules := write(t, t.TempDir(), "a.yml", rule("A", "evil"))
			d := start(t, "-r", rules, "--input", "http")
			var body bytes.Buffer
			w := gzip.NewWriter(&body)
			send(t, w, tc.body)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			got := d.do(http.MethodPost, target.RequestURI(), body.String(), "Content-Type", tc.contentType, "Content-Encoding", "gzip")
			if got.status != http.StatusOK || strings.TrimSpace(got.body) != `{"accepted":2}` || len(d.stdout.lines()) != 1 {
				t.Errorf("%d %s, and the results %q, want both lines accepted and one result", got.status, got.body, d.stdout)
			}
			d.stop()
		})
	}
}

// The page lists every configuration.
func TestThePageListsTheExamplesOfClients(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "inputs.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(os.DirFS(filepath.Join(root, "examples", "clients")), "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("examples/clients has %d files, %v", len(files), err)
	}
	for _, name := range files {
		if !strings.Contains(string(page), "(../examples/clients/"+name+")") {
			t.Errorf("docs/inputs.md does not lead to examples/clients/%s", name)
		}
	}
}

// The commands of the page put the lines of a file into a stream and into a topic.
func TestTheCommandsOfBrokersSendLines(t *testing.T) {
	t.Run("nats", func(t *testing.T) {
		sigmatest.Need(t, natsCommand.path() != "", "nats is not installed: install "+natsCommand.packages+" to run this test")
		s := natstest.Start(t, nil)
		server, _, _ := strings.Cut(s.Target(""), "/")
		sendsLines(t, "sh natscli", "nats://"+server+"/events.>?format=json", "nats.example.com:4222", server)
	})
	t.Run("kcat", func(t *testing.T) {
		sigmatest.Need(t, kcat.path() != "", "kcat is not installed: install "+kcat.packages+" to run this test")
		c := kafkatest.Start(t, kfake.SeedTopics(1, "events"))
		sendsLines(t, "sh kcat", "kafka://"+c.Target("events")+"?format=json", "kafka1:9092,kafka2:9092", c.Broker())
	})
}

// sendsLines runs the block of the page of a kind beside a daemon with an input. It names a
// server that is elsewhere here.
func sendsLines(t *testing.T, info, input, named, server string) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	write(t, dir, "events.ndjson", `{"C":"evil {{Count}}"}`+"\n"+`{"C":"good"}`+"\n"+`{"C":"evil"}`+"\n")
	d := start(t, "-r", filepath.Join(dir, "rules"), "--include-event", "--input", input)
	script := strings.ReplaceAll(recipeOf(t, info, named), named, server)
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir, cmd.Env = dir, clean(dir)
	if got := finish(t, cmd, ""); got.code != 0 {
		t.Fatalf("%s: exit code %d\n%s%s", script, got.code, got.stdout, got.stderr)
	}
	d.results(2)
	d.await("all lines", func() bool { return d.figures().processed == 3 })
	if got := d.figures(); got.errors != 0 || !strings.Contains(d.stdout.String(), `"C":"evil {{Count}}"`) {
		t.Errorf("%d parse errors, and the results %s, want the lines as they stand", got.errors, d.stdout)
	}
	d.stop()
}
