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

	"github.com/sluicehq/sluice/cmd/sluice/config"
)

func TestConfigInitRefusesToOverwrite(t *testing.T) { // case 10
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
	sluice(t, "", "config", "init").wantCode(t, 0)
	sluice(t, "", "config", "validate", "--strict").wantCode(t, 0)
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
	sluice(t, "", "config", "validate", "--strict").wantCode(t, 0)
	got := sluice(t, "", "config", "show")
	got.wantCode(t, 0)
	defaults, err := config.Load(config.Options{Dir: t.TempDir(), SystemDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	want, err := defaults.ShowText("")
	if err != nil {
		t.Fatal(err)
	}
	unlabelled := strings.NewReplacer("  (file)", "", "  (default)", "")
	for line := range strings.SplitSeq(unlabelled.Replace(got.out), "\n") {
		// Writing out an empty auth block is a change: it closes the API.
		if !strings.HasPrefix(line, "daemon.api.auth.") && !strings.Contains(unlabelled.Replace(string(want)), line) {
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
		{"case 7: unknown keys are warnings", "bogus: 1\ndaemon:\n  nope: 1\n", nil, 0, []string{
			"unknown config key 'bogus' in ./sluice.yaml", "unknown config key 'daemon.nope' in ./sluice.yaml", "Config is valid.",
		}},
		{"case 7: unknown keys are errors when asked", "bogus: 1\n", []string{"--strict"}, 3, []string{"'bogus'"}},
		{"case 8: a list is no configuration", "- a\n", nil, 3, []string{"./sluice.yaml", "mapping"}},
		{"case 9: a named file must be there", "", []string{"--config", "/missing.yaml"}, 3, []string{"/missing.yaml"}},
		{"a device is no file", "", []string{"--config", "/dev/null"}, 3, []string{"/dev/null is no regular file"}},
		{"a path that is empty", "daemon: {rules: [a, '']}", nil, 3, []string{"daemon.rules: a path is empty"}},
		{"case 19: a value that is not allowed", "daemon: {state: {save_interval: 0}}", nil, 3, []string{"daemon.state.save_interval: 0"}},
		{"a duplicate key", "daemon: {rules: a, rules: b}", nil, 3, []string{`"rules" occurs twice`}},
		{"a wrong type", "daemon:\n  input:\n    buffer_size: many\n", nil, 3, []string{`line 3: daemon.input.buffer_size: want an integer, got "many"`}},
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

func TestConfigValidateAsJSON(t *testing.T) {
	inEmptyDir(t)
	write(t, "sluice.yaml", "bogus: 1\ndaemon: {tap: {enabled: true}}\n")
	got := sluice(t, "", "config", "validate", "--format", "json")
	got.wantCode(t, 0)
	want := `{"ok":true,"sources":["./sluice.yaml"],"unknown_keys":[{"file":"./sluice.yaml","key":"bogus"}],"inactive_sections":["daemon.tap"]}` + "\n"
	if got.out != want {
		t.Errorf("got  %swant %s", got.out, want)
	}
	write(t, "sluice.yaml", "- a")
	got = sluice(t, "", "config", "validate", "--format", "json")
	got.wantCode(t, 3)
	if !strings.HasPrefix(got.out, `{"ok":false,"error":"config file ./sluice.yaml: `) {
		t.Errorf("got %s", got.out)
	}
}

func TestConfigShowTellsWhereValuesComeFrom(t *testing.T) { // case 11
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
	if got := shown.Config.Daemon.Input.BufferBytes; got != 1<<30 { // case 47
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
	got := sluice(t, "", "config", "path") // case 12
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

func TestStatusTriesLoopbackForAListenAddress(t *testing.T) { // case 39
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
