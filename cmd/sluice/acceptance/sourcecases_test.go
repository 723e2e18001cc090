package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each is the only source. Nothing is fetched: a fetch would leave the file fetched.
func TestDeclarationsThatRefuseTheStart(t *testing.T) {
	t.Parallel()
	const references = "vars: {bad: '${source.a}'}\ntransformations: [{type: value_placeholders}]\n"
	for _, tc := range []struct {
		name, source string
		pipeline     string // "" for one with a reference to a
		want         string
	}{
		{"a file without a format", "type: file, path: a.json", "", "Error loading external sources: source 'a' must have a 'format' field"},
		{"an unknown type", "type: ftp, format: json", "", "source 'a' has unknown type: 'ftp'"},
		{"an expression in an unknown language", "type: file, path: a.json, format: json, extract: {type: xpath, expr: x}", "", "source 'a': unknown extract type 'xpath' (expected: jq, jsonpath, cel)"},
		{"an address that is to be watched", "type: http, url: 'https://h/x', format: json, refresh: watch", "", "watch"},
		{"a default that is not there", "type: file, path: a.json, format: json, on_error: use_default", "", "'default'"},
		{"a subject with a wildcard", "type: nats, url: 'nats://h:4222', subject: 'x.*', format: json", "", "source 'a': subject 'x.*' must be concrete"},
		{"a reference to a source that nobody declares", "type: command, command: [touch, fetched], format: json", strings.ReplaceAll(references, "source.a", "source.b"), "pipeline references undeclared source(s): b"},
		{"transformations from another host", "type: http, url: 'http://127.0.0.1:1/x', format: json, on_error: use_default, default: []", "transformations: [{include: '${source.a}'}]\n", "--allow-remote-include"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, "rules/a.yml", rule("A", "evil"))
			write(t, dir, "a.json", `["x"]`)
			if tc.pipeline == "" {
				tc.pipeline = references
			}
			write(t, dir, "p.yml", tc.pipeline)
			write(t, dir, "sources.yml", "sources:\n  - {id: a, "+tc.source+"}\n")
			cmd := command(t, "engine", "daemon", "-r", "rules", "-p", "p.yml", "--source", "sources.yml", "--input", "http", "--api-addr", "127.0.0.1:0")
			cmd.Dir = dir
			if got := finish(t, cmd, ""); got.code != 3 || !strings.Contains(got.stderr, tc.want) {
				t.Errorf("code %d, want 3 and %s\n%s", got.code, tc.want, got.stderr)
			}
			if _, err := os.Stat(filepath.Join(dir, "fetched")); err == nil {
				t.Error("a source was fetched")
			}
		})
	}

	t.Run("an id in two files", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, dir, "rules/a.yml", rule("A", "evil"))
		for _, name := range []string{"one.yml", "two.yml"} {
			write(t, dir, "sources/"+name, "sources: [{id: a, type: command, command: [touch, fetched], format: json}]\n")
		}
		cmd := command(t, "engine", "daemon", "-r", "rules", "--source", "sources", "--input", "http", "--api-addr", "127.0.0.1:0")
		cmd.Dir = dir
		const want = "Source ID collision: source ID 'a' declared in both external:sources/one.yml and external:sources/two.yml"
		if got := finish(t, cmd, ""); got.code != 3 || !strings.Contains(got.stderr, want) {
			t.Errorf("code %d, want 3 and %s\n%s", got.code, want, got.stderr)
		}
	})
}

func TestAnIntervalBelowASecondIsFetchedEverySecond(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	write(t, dir, "f.json", `1`)
	write(t, dir, "sources.yml", "sources:\n  - {id: f, type: file, path: f.json, format: json, refresh: 500ms}\n  - {id: g, type: file, path: f.json, format: json, refresh: 90}\n")
	d := startIn(t, dir, "-r", "rules", "--source", "sources.yml", "--input", "http")
	list := d.get("/api/v1/sources").body
	if !strings.Contains(list, `"refresh":"Interval(500ms)"`) || !strings.Contains(list, `"refresh":"Interval(90s)"`) {
		t.Errorf("listed %s", list)
	}
	if log := d.stderr.String(); !strings.Contains(log, "500ms") || !strings.Contains(log, "1s") {
		t.Errorf("no warning names both values:\n%s", log)
	}
	resolves := func(id string) float64 {
		return d.metric(`svc_source_resolves_total{source_id="` + id + `",source_type="file"}`)
	}
	d.await("fetches of the interval", func() bool { return resolves("f") >= 3 })
	if n := resolves("g"); n != 1 {
		t.Errorf("%v fetches of the other, want that of the start", n)
	}
	d.stop()
}
