package command

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConfigInitRefusesToOverwrite(t *testing.T) {
	inEmptyDir(t)
	got := sluice(t, "", "config", "init")
	got.wantCode(t, 0)
	got.wantErr(t, "wrote ./sluice.yaml")
	got = sluice(t, "", "config", "init")
	got.wantCode(t, 3)
	got.wantErr(t, "--force")
	sluice(t, "", "config", "init", "--force").wantCode(t, 0)
	text, err := os.ReadFile("sluice.yaml")
	if err != nil {
		t.Fatal(err)
	}
	wantGolden(t, "config-init", string(text))
}

func TestTemplateIsValidAndItsSettingsAreTheDefaults(t *testing.T) {
	inEmptyDir(t)
	want := sluice(t, "", "config", "show").out
	sluice(t, "", "config", "init").wantCode(t, 0)
	sluice(t, "", "config", "validate").wantCode(t, 0)
	text, err := os.ReadFile("sluice.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.SplitSeq(string(text), "\n") {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if rest, ok := strings.CutPrefix(line[indent:], "#"); ok && !strings.HasPrefix(rest, " ") {
			line = line[:indent] + rest
		}
		lines = append(lines, line)
	}
	write(t, "sluice.yaml", strings.Join(lines, "\n"))
	// Written out, the defaults close the API, name no rules and serve in clear.
	validated := sluice(t, "", "config", "validate", "--strict")
	validated.wantErr(t, "daemon.api.auth: neither", "daemon.rules: no rules", "daemon.api.addr: refusing", "3 problems.")
	got := sluice(t, "", "config", "show")
	got.wantCode(t, 0)
	unlabelled := strings.NewReplacer("  (file)", "", "  (default)", "")
	for line := range strings.SplitSeq(unlabelled.Replace(got.out), "\n") {
		// Writing out an empty auth block is a change: it closes the API.
		if !strings.HasPrefix(line, "daemon.api.auth.") && !strings.Contains(unlabelled.Replace(want), line) {
			t.Errorf("the template changes a default: %s", line)
		}
	}
}

func TestConfigShowHasWhatIsEmpty(t *testing.T) {
	inEmptyDir(t)
	for format, want := range map[string]string{
		"text": "daemon.mailboxes = {}  (default)\n",
		"json": `"daemon.mailboxes":"default"`,
		"yaml": "  mailboxes: {}\n",
	} {
		got := sluice(t, "", "config", "show", "--format", format)
		got.wantCode(t, 0)
		if !strings.Contains(got.out, want) {
			t.Errorf("%s lacks %q:\n%s", format, want, got.out)
		}
	}
}

func TestConfigValidate(t *testing.T) {
	for _, tc := range []struct {
		name, file string
		args       []string
		code       int
		err        []string
	}{
		{"unknown keys are warnings", "bogus: 1\ndaemon:\n  nope: 1\n", nil, 0, []string{
			"unknown config key 'bogus' in ./sluice.yaml:1", "unknown config key 'daemon.nope' in ./sluice.yaml:3",
			"warning: daemon.rules: no rules are named", "warning: daemon.api.addr: refusing to bind plaintext", "Config is valid.",
		}},
		{"unknown keys, and what a flag may give, are problems when asked", "bogus: 1\n", []string{"--strict"}, 3, []string{
			"./sluice.yaml:1: bogus: unknown config key", "3 problems.",
		}},
		{"an unknown key is near a known one", "daemon: {inptu: {}}\n", nil, 0, []string{"unknown config key 'daemon.inptu' in ./sluice.yaml:1 (did you mean 'daemon.input'?)"}},
		{"several faults of one file", "daemon:\n  input:\n    batch_size: x\n    format: jsn\n  api:\n    addr: localhost\n", nil, 3, []string{
			"./sluice.yaml:3: daemon.input.batch_size: want an integer", `./sluice.yaml:4: daemon.input.format: "jsn" is not allowed`, "(did you mean 'json'?)",
			`./sluice.yaml:6: daemon.api.addr: api address "localhost"`, "3 problems.",
		}},
		{"two keys that occur twice", "daemon: {rules: a, rules: b}\neval: {rules: a, rules: b}\n", nil, 3, []string{"./sluice.yaml:1: key", "./sluice.yaml:2: key"}},
		{"a list is no configuration", "- a\n", nil, 3, []string{"./sluice.yaml", "mapping"}},
		{"a named file must be there", "", []string{"--config", "/missing.yaml"}, 3, []string{"/missing.yaml"}},
		{"a device is no file", "", []string{"--config", "/dev/null"}, 3, []string{"/dev/null is no regular file"}},
		{"a path that is empty", "daemon: {rules: [a, '']}", nil, 3, []string{"daemon.rules: a path is empty"}},
		{"a value that is not allowed", "daemon: {state: {save_interval: 0}}", nil, 3, []string{"daemon.state.save_interval: 0"}},
		{"a duplicate key", "daemon: {rules: a, rules: b}", nil, 3, []string{`"rules" occurs twice`}},
		{"a wrong type", "daemon:\n  input:\n    buffer_size: many\n", nil, 3, []string{`./sluice.yaml:3: daemon.input.buffer_size: want an integer, got "many"`}},
		{"bad YAML", "daemon: [", nil, 3, []string{"./sluice.yaml"}},
		{"a file for a newer release", "version: 2", nil, 3, []string{"newer release"}},
		{"a second document", "global: {color: never}\n---\nfoo: 1\n", nil, 0, []string{"only the first document"}},
		{"a file of comments", "# nothing\n", nil, 0, []string{"Config is valid."}},
		{"explicit nulls", "daemon: {rules: null, input: ~}\neval:\n", nil, 0, []string{"Config is valid."}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inEmptyDir(t)
			if tc.file != "" {
				write(t, "sluice.yaml", tc.file)
			}
			got := sluice(t, "", append([]string{"config", "validate"}, tc.args...)...)
			got.wantCode(t, tc.code)
			got.wantErr(t, tc.err...)
		})
	}
}

func TestVariablesOfAWrongTypeAreProblemsWhenAsked(t *testing.T) {
	inEmptyDir(t)
	t.Setenv("SLUICE_DAEMON__LOGSOURCE_ROUTING__ENABLED", "1")
	t.Setenv("SLUICE_DAEMON__LOGSOURCE_ROUTING__EVENT_LOGSOURCE", "windows")
	ignored := []string{
		"environment variable SLUICE_DAEMON__LOGSOURCE_ROUTING__ENABLED is ignored: daemon.logsource_routing.enabled: want ",
		"environment variable SLUICE_DAEMON__LOGSOURCE_ROUTING__EVENT_LOGSOURCE is ignored: daemon.logsource_routing.event_logsource: ",
	}
	got := sluice(t, "", "config", "validate")
	got.wantCode(t, 0)
	got.wantErr(t, "warning: "+ignored[0], "warning: "+ignored[1], "Config is valid.\n")
	got = sluice(t, "", "config", "validate", "--strict")
	got.wantCode(t, 3)
	got.wantErr(t, "\n"+ignored[1], ignored[0], "4 problems.\n")
	if strings.Contains(got.err, "warning: environment") {
		t.Errorf("a problem is a warning, too:\n%s", got.err)
	}
	got = sluice(t, "", "config", "validate", "--strict", "--format", "json")
	got.wantCode(t, 3)
	if !strings.Contains(got.out, `"ok":false`) || !strings.Contains(got.out, "ENABLED is ignored") {
		t.Errorf("as JSON: %s", got.out)
	}
}

// faulty has six faults: in the rules, a pipeline, a mailbox, a sink, the address
// and a number.
const faulty = `daemon:
  rules: /missing
  pipelines:
    - sysmonn
  mailboxes: {evalute: 5}
  output:
    sinks: ["fil:///x"]
  api: {addr: "0.0.0.0:9090"}
  input:
    batch_size: x
`

func TestConfigValidateReportsEveryProblemAtOnce(t *testing.T) {
	inEmptyDir(t)
	write(t, "sluice.yaml", faulty)
	got := sluice(t, "", "config", "validate")
	got.wantCode(t, 3)
	wantGolden(t, "config-validate", got.err)
	got = sluice(t, "", "config", "validate", "--format", "json")
	got.wantCode(t, 3)
	wantGolden(t, "config-validate-json", got.out)
	sluice(t, "", "engine", "daemon").wantCode(t, 3)
}

func TestConfigValidateReadsWebhooks(t *testing.T) {
	inEmptyDir(t)
	write(t, "r/a.yml", goodRule)
	write(t, "hooks/a.yml", "webhooks:\n  - id: chat\n    kind: incident\n    url: https://chat.example/\n")
	write(t, "hooks/b.yml", "webhooks:\n  - {id: stdout, kind: detection, url: 'https://x/'}\n  - {id: ok, kind: detection, url: 'https://x/', signing: {secret_env: SLUICE_TEST_UNSET}, ratelimit: {}}\n")
	write(t, "sluice.yaml", `daemon:
  rules: r
  api: {addr: "127.0.0.1:0"}
  output:
    webhooks:
      - hooks
      - missing.yml
  mailboxes: {"sink:ok": 5}
`)
	got := sluice(t, "", "config", "validate")
	got.wantCode(t, 3)
	got.wantErr(t,
		"./sluice.yaml:7: daemon.output.webhooks: webhooks 'missing.yml' cannot be read: no such file or directory",
		"hooks/a.yml:3: daemon.output.webhooks: webhook 'chat': unknown kind 'incident' (valid kinds: detection, correlation)\n",
		"hooks/b.yml:2: daemon.output.webhooks: webhook 'stdout': the id 'stdout' is the label of another sink",
		"hooks/b.yml:3: daemon.output.webhooks: webhook 'ok': unknown key 'ratelimit' (did you mean 'rate_limit'?)",
		"hooks/b.yml:3: daemon.output.webhooks: webhook 'ok': signing secret environment variable 'SLUICE_TEST_UNSET' is unset or empty",
		"5 problems.",
	)
	start := sluice(t, "", "engine", "daemon")
	start.wantCode(t, 3)
	start.wantErr(t, "hooks/a.yml:3: daemon.output.webhooks: webhook 'chat': unknown kind 'incident'", "hooks/b.yml:3: daemon.output.webhooks: webhook 'ok': signing secret")

	t.Setenv("SLUICE_TEST_UNSET", "key")
	write(t, "hooks/a.yml", "# none\n")
	write(t, "hooks/b.yml", "webhooks: [{id: ok, kind: detection, url: 'https://x/', signing: {secret_env: SLUICE_TEST_UNSET}}]\n")
	write(t, "missing.yml", "webhooks: []\n")
	sluice(t, "", "config", "validate").wantCode(t, 0)
	got = sluice(t, "", "engine", "daemon", "--dry-run", "--mailbox-size", "sink:okk=5")
	if strings.Contains(got.out+got.err, "https://x/") {
		t.Errorf("a dry run reads webhooks: %s%s", got.out, got.err)
	}
	got = sluice(t, "", "engine", "daemon", "--mailbox-size", "sink:okk=5")
	got.wantCode(t, 3)
	got.wantErr(t, "unknown actor 'sink:okk'", "did you mean 'sink:ok'?")
}

func TestConfigValidateAsJSON(t *testing.T) {
	inEmptyDir(t)
	write(t, "r/a.yml", goodRule)
	write(t, "sluice.yaml", "bogus: 1\ndaemon:\n  rules: r\n  api: {addr: '127.0.0.1:0'}\n  inptu: {}\n  taap: {}\n  tap: {enabled: true}\n")
	got := sluice(t, "", "config", "validate", "--format", "json")
	got.wantCode(t, 0)
	want := `{"ok":true,"sources":["./sluice.yaml"],"unknown_keys":[{"key":"bogus","file":"./sluice.yaml","line":1},` +
		`{"key":"daemon.inptu","file":"./sluice.yaml","line":5,"suggestion":"did you mean 'daemon.input'?"},` +
		`{"key":"daemon.taap","file":"./sluice.yaml","line":6}],"inactive_sections":["daemon.tap"],` +
		`"warnings":[{"key":"daemon.tap.enabled","file":"./sluice.yaml","line":7,"message":"not in this build (tap sessions); it has no effect"}],"problems":[]}` + "\n"
	if got.out != want {
		t.Errorf("got  %swant %s", got.out, want)
	}
	write(t, "sluice.yaml", "- a")
	got = sluice(t, "", "config", "validate", "--format", "json")
	got.wantCode(t, 3)
	want = `"warnings":[],"problems":[{"file":"./sluice.yaml","line":1,"message":"a configuration must be a mapping of sections"}],"error":"a configuration must be a mapping of sections"}` + "\n"
	if !strings.HasPrefix(got.out, `{"ok":false,`) || !strings.HasSuffix(got.out, want) {
		t.Errorf("got %s", got.out)
	}
}

func TestConfigValidateLoadsTheRules(t *testing.T) {
	const local = "daemon: {rules: r, api: {addr: '127.0.0.1:0'}}"
	for _, tc := range []struct {
		name  string
		file  string
		rules map[string]string
		code  int
		err   []string
	}{
		{"the only rule is broken", local, map[string]string{"a.yml": brokenRule}, 2, []string{"\nr/a.yml:4: document 1 (\"Broken\")", "\nr/a.yml:5: document 1", "3 problems."}},
		{"one beside it is good", local, map[string]string{"a.yml": brokenRule, "b.yml": goodRule}, 0, []string{"warning: r/a.yml:", "Config is valid."}},
		{"strict rules allow none", "daemon: {rules: r, api: {addr: '127.0.0.1:0'}, engine: {strict_rules: true}}", map[string]string{"a.yml": brokenRule, "b.yml": goodRule}, 2, []string{"a.yml:"}},
		{"a directory without rules", local, map[string]string{"README": ""}, 0, []string{"warning: ./sluice.yaml:1: daemon.rules: no rule is loaded"}},
		{"a fault of the configuration beside", "daemon: {rules: r, api: {addr: x}}", map[string]string{"a.yml": brokenRule}, 3, []string{"a.yml:", "daemon.api.addr"}},
		{"a pipeline with a fault in its third line", "daemon: {rules: r, pipelines: [p.yml], api: {addr: '127.0.0.1:0'}}", map[string]string{"a.yml": goodRule}, 3, []string{"p.yml:3: daemon.pipelines: Error loading pipeline p.yml: ", "1 problem."}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inEmptyDir(t)
			write(t, "sluice.yaml", tc.file)
			write(t, "p.yml", "name: p\ntransformations:\n  - type: nope\n")
			for name, text := range tc.rules {
				write(t, "r/"+name, text)
			}
			got := sluice(t, "", "config", "validate")
			got.wantCode(t, tc.code)
			got.wantErr(t, tc.err...)
		})
	}
}

func TestConfigValidateChangesNothingOnDisk(t *testing.T) {
	for _, tc := range []struct {
		name, file string
		code       int
		err        string
	}{
		{"a state directory that is not there yet", "state: {db: a/b/state}", 0, "Config is valid."},
		{"a state directory that is a file", "state: {db: r/a.yml}", 3, "daemon.state.db: r/a.yml: is no directory"},
		{"a state directory below a file", "state: {db: r/a.yml/state}", 3, "daemon.state.db: "},
		{"a file sink in a directory that exists", "output: {sinks: ['file://r/out']}", 0, "Config is valid."},
		{"a file sink in a directory that does not", "output: {sinks: ['file://gone/out']}", 3, "sluice.yaml:1: daemon.output.sinks: sink 'file://gone/out': stat gone: no such file"},
		{"a file sink that is a directory", "output: {dlq: 'file://r'}", 3, "daemon.output.dlq: sink 'file://r': r: is a directory"},
		{"two sinks on one file", "output: {sinks: ['file://r/out', 'file://r/../r/out']}", 3, "write to the same file"},
		{"a parameter nobody knows", "output: {sinks: ['stdout?on_ful=drop']}", 3, "unknown parameter 'on_ful', not one of on_full, format (did you mean 'on_full'?)"},
		{"a policy nobody knows", "output: {sinks: ['stdout?on_full=drp']}", 0, "warning: ./sluice.yaml:1: daemon.output.sinks: sink 'stdout?on_full=drp': unknown on_full"},
		{"a mailbox of an actor that is off", "mailboxes: {capture: 5}", 0, "warning: ./sluice.yaml:1: daemon.mailboxes.capture: mailbox of an actor that is off"},
		{"a mailbox of the audit trail without a sink", "mailboxes: {audit: 5}, state: {db: state}", 0, "daemon.mailboxes.audit: mailbox of an actor that is off"},
		{"a mailbox of the audit trail without a database", "mailboxes: {audit: 5}", 0, "daemon.mailboxes.audit: mailbox of an actor that is off"},
		{"an audit sink in a directory that does not exist", "state: {db: state}, api: {addr: '127.0.0.1:0', audit: {sink: 'file://gone/out'}}", 3, "daemon.api.audit.sink: sink 'file://gone/out': stat gone: no such file"},
		{"an audit sink on the file of another", "state: {db: state}, output: {dlq: 'file://r/out'}, api: {addr: '127.0.0.1:0', audit: {sink: 'file://r/../r/out'}}", 3, "daemon.api.audit.sink: sinks 'file://r/out' and 'file://r/../r/out' write to the same file"},
		{"an audit sink with a policy nobody knows", "state: {db: state}, api: {addr: '127.0.0.1:0', audit: {sink: 'stdout?on_full=drp'}}", 0, "daemon.api.audit.sink: sink 'stdout?on_full=drp': unknown on_full"},
		{"an audit sink without a database", "api: {addr: '127.0.0.1:0', audit: {sink: 'stdout'}}", 0, "daemon.api.audit.sink: has no effect without the audit trail"},
		{"a certificate for syslog that is taken in clear", "input: {source: 'syslog+tcp://127.0.0.1:5514', syslog: {tls: {cert: gone.pem, key: gone.pem}}}", 0, "warning: ./sluice.yaml:1: daemon.input.syslog.tls.cert: has no effect without an input syslog+tls://"},
		{"an input nobody knows", "input: {source: stdinn}", 3, "(did you mean 'stdin'?)"},
		{"an input without its subject's server", "input: {source: 'nats://h/s'}", 3, "is no host:port"},
		{"a feature that is not in this build", "risk: r.yml", 3, "./sluice.yaml:1: daemon.risk: not in this build (the risk layer)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inEmptyDir(t)
			write(t, "r/a.yml", goodRule)
			api := ", api: {addr: '127.0.0.1:0'}"
			if strings.Contains(tc.file, "api:") {
				api = "" // the row has its own
			}
			write(t, "sluice.yaml", "daemon: {rules: r, "+tc.file+api+"}")
			before := tree(t)
			got := sluice(t, "", "config", "validate")
			got.wantCode(t, tc.code)
			got.wantErr(t, tc.err)
			if after := tree(t); after != before {
				t.Errorf("the files were\n%s\nand are\n%s", before, after)
			}
		})
	}
}

// tree lists the files below the working directory.
func tree(t *testing.T) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(".", func(name string, _ os.DirEntry, err error) error {
		names = append(names, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, "\n")
}

func TestConfigShowTellsWhereValuesComeFrom(t *testing.T) {
	inEmptyDir(t)
	write(t, "sluice.yaml", "daemon: {api: {addr: 127.0.0.1:7000}}")
	t.Setenv("SLUICE_DAEMON__INPUT__BUFFER_BYTES", "1GiB")
	got := sluice(t, "", "config", "show", "--for", "daemon", "--format", "json")
	got.wantCode(t, 0)
	var shown struct {
		Config struct {
			Daemon struct {
				Input struct {
					BufferBytes int64 `json:"buffer_bytes"`
				}
			}
		}
		Sources map[string]string
	}
	if err := json.Unmarshal([]byte(got.out), &shown); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"daemon.api.addr": "file", "daemon.input.batch_size": "default", "daemon.input.buffer_bytes": "env",
	} {
		if shown.Sources[path] != want {
			t.Errorf("%s comes from %q, want %q", path, shown.Sources[path], want)
		}
	}
	if got := shown.Config.Daemon.Input.BufferBytes; got != 1<<30 {
		t.Errorf("buffer_bytes %d, want %d", got, 1<<30)
	}
	global := sluice(t, "", "config", "show", "--for", "global", "--output-format", "json", "--color", "never")
	if want := `{"config":{"global":{"color":"auto","log_format":null,"output_format":null}},"sources":{"global.color":"default","global.log_format":"default","global.output_format":"default"}}` + "\n"; global.out != want {
		t.Errorf("the flags of the command itself are shown:\n%s", global.out)
	}
}

func TestConfigShowGolden(t *testing.T) {
	inEmptyDir(t)
	write(t, "sluice.yaml", `
daemon:
  rules: [a, b.yml]
  api:
    auth:
      tokens: [{name: ci, token_env: CI_TOKEN, role: ingest}]
      roles: {watcher: ["status:read"]}
  mailboxes: {parse: 500, "sink:file:/x.y": 7}
`)
	for _, format := range []string{"text", "yaml", "json"} {
		got := sluice(t, "", "config", "show", "--format", format)
		got.wantCode(t, 0)
		wantGolden(t, "config-show-"+format, got.out)
	}
	got := sluice(t, "", "config", "show", "--for", "nope")
	got.wantCode(t, 3)
	got.wantErr(t, "daemon, eval")
}

func TestConfigPath(t *testing.T) {
	dir := inEmptyDir(t)
	got := sluice(t, "", "config", "path")
	got.wantCode(t, 0)
	if got.out != "none\n" {
		t.Errorf("got %q, want none", got.out)
	}
	write(t, "xdg/sluice/config.yml", "")
	write(t, ".sluicerc", "")
	write(t, "sluice.yaml", "")
	if err := os.Mkdir("sluice.yml", 0o755); err != nil { // no regular file
		t.Fatal(err)
	}
	got = sluice(t, "", "config", "path")
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(dir, "xdg/sluice/config.yml") + "\n" + filepath.Join(real, ".sluicerc") + "\n./sluice.yaml\n"
	if got.out != want {
		t.Errorf("got\n%swant\n%s", got.out, want)
	}
}

func TestConfigSchemaCoversTheTemplatesSections(t *testing.T) {
	inEmptyDir(t)
	got := sluice(t, "", "config", "schema")
	got.wantCode(t, 0)
	var schema struct {
		Properties map[string]struct{ Properties map[string]any }
	}
	if err := json.Unmarshal([]byte(got.out), &schema); err != nil {
		t.Fatal(err)
	}
	for _, section := range []string{"global", "daemon", "eval", "backtest", "coverage", "scorecard", "hygiene", "doc"} {
		if len(schema.Properties[section].Properties) == 0 {
			t.Errorf("the schema lacks section %s", section)
		}
	}
}

// api is a daemon's control plane as far as clients look.
func api(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func TestClientCommandsReportWhatTheDaemonSays(t *testing.T) {
	inEmptyDir(t)
	t.Setenv("SLUICE_API_TOKEN", "secret")
	t.Setenv("OTHER", " ")
	addr := api(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/api/v1/reload" && r.Method == http.MethodPost && r.Header.Get("Authorization") == "Bearer secret":
			_, _ = w.Write([]byte(`{"status":"reload_triggered"}`))
		case r.Header.Get("Authorization") == "":
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"error":"unauthorized","hint":"send a token"}`))
		}
	})
	got := sluice(t, "", "config", "reload", "--addr", addr)
	got.wantCode(t, 0)
	got.wantErr(t, "reload requested: http://"+addr+"/api/v1/reload")
	got = sluice(t, "", "config", "reload", "--addr", addr, "--auth-token-env", "OTHER")
	got.wantCode(t, 3)
	got.wantErr(t, "http://"+addr+"/api/v1/reload: 401 Unauthorized: unauthorized (send a token)")
}

func TestStatusTriesLoopbackForAListenAddress(t *testing.T) {
	inEmptyDir(t)
	_, port, _ := net.SplitHostPort(api(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	got := sluice(t, "", "engine", "status", "--addr", "0.0.0.0:"+port)
	got.wantCode(t, 3)
	got.wantErr(t, "http://127.0.0.1:"+port+"/api/v1/status")
}

func TestStatusFormats(t *testing.T) {
	inEmptyDir(t)
	addr := api(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"status": "running", "detection_rules": 12, "correlation_rules": 0, "correlation_state_entries": 0,
 "events_processed": 1234567, "detection_matches": 7, "correlation_matches": 0, "uptime_seconds": 312.4,
 "dynamic_sources": {"total": 1, "cache_hits": 2}}`))
	})
	write(t, "sluice.yaml", "daemon: {api: {addr: "+addr+"}}")
	for _, format := range []string{"table", "csv", "tsv", "json"} {
		got := sluice(t, "", "engine", "status", "--output-format", format)
		got.wantCode(t, 0)
		wantGolden(t, "status-"+format, got.out)
	}
}

func TestStatusOverAUnixSocket(t *testing.T) {
	dir := inEmptyDir(t)
	path := filepath.Join(dir, "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Skipf("no unix sockets here: %v", err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"status":"running"}`))
	})}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	got := sluice(t, "", "engine", "status", "--addr", "unix://"+path)
	got.wantCode(t, 0)
	if want := `{"status":"running"}` + "\n"; got.out != want {
		t.Errorf("got %q, want %q", got.out, want)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	<-served
}

func TestTheLocalFormatWinsOverTheGlobalOne(t *testing.T) {
	inEmptyDir(t)
	write(t, "sluice.yaml", "global: {output_format: json}")
	for _, tc := range []struct {
		name string
		args []string
		want string
		err  string
	}{
		{"the file's counts", nil, `["./sluice.yaml"]` + "\n", ""},
		{"the local one wins", []string{"--format", "text"}, "./sluice.yaml\n", ""},
		{"a format it does not have is said", []string{"--output-format", "csv"}, "./sluice.yaml\n", "config path has no csv output, it prints text"},
		{"unless told to be quiet", []string{"--output-format", "csv", "-q"}, "./sluice.yaml\n", ""},
	} {
		got := sluice(t, "", append([]string{"config", "path"}, tc.args...)...)
		got.wantCode(t, 0)
		got.wantErr(t, tc.err)
		if got.out != tc.want || tc.err == "" && got.err != "" {
			t.Errorf("%s: got %q with %q, want %q", tc.name, got.out, got.err, tc.want)
		}
	}
}
