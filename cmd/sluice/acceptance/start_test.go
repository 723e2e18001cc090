package acceptance

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAStartTellsItsSteps(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--state-db", filepath.Join(dir, "state"))
	d.awaitLog("source started")
	d.stop()
	type line struct {
		Level, Target string
		Fields        struct{ Message string }
		Span          struct{ Name string }
		Spans         []struct{ Name string }
	}
	var steps []string
	for _, text := range d.stderr.lines() {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("line %s: %v", text, err)
		}
		if l.Level != "INFO" {
			continue
		}
		steps = append(steps, l.Target+": "+l.Fields.Message)
		loading := l.Target == "sluice.engine"
		if (l.Span.Name == "load_rules") != loading || (len(l.Spans) == 1) != loading {
			t.Errorf("span %q of %d in %s", l.Span.Name, len(l.Spans), text)
		}
	}
	want := []string{
		"sluice.server: starting", "sluice.state: state opened", "sluice.server: probes listening", "sluice.engine: rules loaded",
		"sluice.state: no state is stored", "sluice.state: restore of state decided", "sluice.server: API server listening",
		"sluice.sources: source started", "sluice.server: shutting down", "sluice.server: stopped",
	}
	if !slices.Equal(steps, want) {
		t.Errorf("steps\n%s\nwant\n%s", strings.Join(steps, "\n"), strings.Join(want, "\n"))
	}
}

func TestStartsThatFailSayWhy(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "good/a.yml", rule("A", "evil"))
	write(t, dir, "mixed/a.yml", rule("A", "evil"))
	write(t, dir, "mixed/b.yml", "id: x\n")
	write(t, dir, "bad/b.yml", "title: B\ndetection: {sel: {A|foo: x, B|cidr: 10.0.0.1}, condition: sel}\n")
	write(t, dir, "list.yaml", "- a\n")
	good := filepath.Join(dir, "good")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, tc := range []struct {
		name string
		args []string
		code int
		want []string
	}{
		{"no rules anywhere", []string{}, 3, []string{"rules"}},
		{"a rules path that is missing", []string{"-r", filepath.Join(dir, "nope")}, 2, []string{"nope"}},
		{"plaintext on every address is refused by default", []string{"-r", good, "--api-addr", "0.0.0.0:0"}, 3, []string{"refusing to bind plaintext", "--allow-plaintext"}},
		{"a host name as address", []string{"-r", good, "--api-addr", "localhost:9090"}, 3, []string{"localhost:9090"}},
		{"a port that is taken", []string{"-r", good, "--api-addr", taken.Addr().String()}, 3, []string{taken.Addr().String(), "in use"}},
		{"an unknown flag", []string{"-r", good, "--bogus"}, 3, []string{"bogus"}},
		{"an unknown input", []string{"-r", good, "--input", "pigeon"}, 3, []string{"pigeon", "stdin"}},
		{"an unknown format", []string{"-r", good, "--input-format", "xml"}, 3, []string{"xml", "json"}},
		{"a buffer that is too large", []string{"-r", good, "--buffer-size", "1000001"}, 3, []string{"buffer", "1000000"}},
		{"an unknown actor", []string{"-r", good, "--mailbox-size", "bogus=5"}, 3, []string{"--mailbox-size: unknown actor 'bogus'", "evaluate", "sink:stdout"}},
		{"an unknown sink", []string{"-r", good, "--output", "ftp://x"}, 3, []string{"Unsupported output sink"}},
		{"an unknown sink format", []string{"-r", good, "--output", "file:///d/a?format=bogus"}, 3, []string{"Unknown sink format"}},
		{"a file sink in a directory that is missing", []string{"-r", good, "--output", "file://" + dir + "/no/such/file"}, 3, []string{"no/such/file"}},
		{"a configuration that is no mapping", []string{"--config", filepath.Join(dir, "list.yaml")}, 3, []string{"mapping"}},
		{"a configuration that is missing", []string{"--config", filepath.Join(dir, "missing.yaml")}, 3, []string{"missing.yaml"}},
		{"no usable rule", []string{"-r", filepath.Join(dir, "bad")}, 2, []string{"Unknown modifier 'foo'", "invalid CIDR", "Error compiling rules"}},
		{"strict rules", []string{"-r", filepath.Join(dir, "mixed"), "--strict-rules"}, 2, []string{"b.yml", "Missing required field 'title'"}},
		{"an unknown level", []string{"-r", good, "--min-level", "urgent"}, 3, []string{"urgent", "critical"}},
		{"an unknown status", []string{"-r", good, "--exclude-rule", "status:old"}, 3, []string{"old"}},
		{"a bad field map", []string{"-r", good, "--logsource-routing", "--logsource-field-map", "os=linux"}, 3, []string{"os"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args := append([]string{"engine", "daemon"}, tc.args...)
			if !strings.Contains(strings.Join(args, " "), "--api-addr") {
				args = append(args, "--api-addr", "127.0.0.1:0")
			}
			got := sluice(t, "", args...)
			if got.code != tc.code {
				t.Errorf("exit code %d, want %d\n%s", got.code, tc.code, got.stderr)
			}
			for _, w := range tc.want {
				if !strings.Contains(got.stderr, w) {
					t.Errorf("stderr lacks %q:\n%s", w, got.stderr)
				}
			}
		})
	}
}

func TestAFaultOfTheSettingsIsFoundBeforeAnythingIsTouched(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	broken := write(t, dir, "p.txt", "transformations: [{type: nonsense}]\n")
	for _, tc := range []struct {
		name string
		args []string
		want string
	}{
		{"a pipeline that is broken", []string{"-p", "sysmon", "-p", broken}, "Error loading pipeline " + broken + ": "},
		{"a pipeline that is missing, with rules that are, too", []string{"-r", dir + "/none", "-p", "none.yml"}, "Error loading pipeline none.yml: "},
		{"plaintext on every address", []string{"--api-addr", "0.0.0.0:0"}, "refusing to bind plaintext"},
		{"an address that is none", []string{"--api-addr", "localhost:9090"}, "localhost:9090"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			state := filepath.Join(t.TempDir(), "state")
			args := append([]string{"engine", "daemon", "-r", dir, "--state-db", state}, tc.args...)
			if !slices.Contains(args, "--api-addr") {
				args = append(args, "--api-addr", "127.0.0.1:0")
			}
			got := sluice(t, "", args...)
			if got.code != 3 || !strings.Contains(got.stderr, tc.want) {
				t.Errorf("exit code %d, want 3 and %q:\n%s", got.code, tc.want, got.stderr)
			}
			if _, err := os.Stat(state); err == nil || strings.Contains(got.stderr, "probes listening") {
				t.Errorf("the state was opened or the listener bound before:\n%s", got.stderr)
			}
		})
	}
}

func TestARuleSetWithoutRulesServesWithAWarning(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "excluded/a.yml", rule("A", "evil"))
	write(t, dir, "none/README.md", "no rule\n")
	for _, tc := range []struct {
		name     string
		args     []string
		excluded string
	}{
		{"an empty directory", []string{"-r", filepath.Join(dir, "none"), "--strict-rules"}, "0"},
		{"every rule excluded", []string{"-r", filepath.Join(dir, "excluded"), "--min-level", "critical"}, "1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := start(t, append(tc.args, "--input", "http")...)
			d.awaitLog("no rule is loaded")
			rules := d.get("/api/v1/rules").json(t)
			if d.get("/readyz").status != 200 || fmt.Sprint(rules["detection_rules"]) != "0" || fmt.Sprint(rules["excluded"]) != tc.excluded {
				t.Errorf("ready %d, rules %v, want 200, no rule and %s excluded", d.get("/readyz").status, rules, tc.excluded)
			}
			d.push(event("evil"))
			d.stop()
			if got := d.stdout.String(); got != "" {
				t.Errorf("results %q, want none", got)
			}
		})
	}
}

// Rules in the wrong place look like no match at all, so whoever loads none says so.
func TestADirectoryWithoutRulesIsToldEverywhere(t *testing.T) {
	const why = "no rule is loaded, so nothing can match: below rules is no file whose name ends in .yml or .yaml"
	for name, file := range map[string]string{"an empty directory": "rules/", "a directory without rule files": "rules/rule.yml.txt"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "rules"), 0o755); err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(file, "/") {
				write(t, dir, file, rule("A", "evil"))
			}
			write(t, dir, "sluice.yaml", "daemon: {rules: rules, api: {addr: '127.0.0.1:0'}}")
			for _, tc := range []struct{ args, want string }{
				{"engine eval -r rules", "warning: " + why},
				{"rule validate rules", "warning: " + why},
				{"config validate", "warning: ./sluice.yaml:1: daemon.rules: " + why},
				{"engine daemon", `"level":"WARN","target":"sluice.engine","fields":{"message":"` + why},
			} {
				cmd := command(t, strings.Fields(tc.args)...)
				cmd.Dir = dir
				if got := finish(t, cmd, event("evil")); got.code != 0 || !strings.Contains(got.stderr, tc.want) {
					t.Errorf("%s: exit code %d, want 0 and %q\n%s", tc.args, got.code, tc.want, got.stderr)
				}
			}
		})
	}
}
