package acceptance

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/sluicehq/sluice/internal/natsconn/natstest"
)

// hush begins every secret of these tests, and nothing else does.
const hush = "hush-"

// wantNoSecret fails when a text shows a secret, and says which.
func wantNoSecret(t *testing.T, where, text string) {
	t.Helper()
	if i := strings.Index(text, hush); i >= 0 {
		t.Errorf("%s shows a secret: ...%s...", where, text[max(0, i-200):min(len(text), i+100)])
	}
}

// hushedHooks is a file of webhooks with a secret wherever one can stand: one webhook
// whose host is away, one whose host does not exist, and one that is refused.
func hushedHooks(away, refusing string) string {
	const entry = `
  - id: %s
    kind: detection
    url: %s
    headers:
      Authorization: Bearer ${HOOK_TOKEN}
      X-Api-Key: hush-header
    retry: {attempts: 2, backoff: 1ms}
    signing: {secret_env: HOOK_SECRET, rotate_secret_env: HOOK_ROTATED}
    body: '{"token": "${HOOK_TOKEN}", "text": ${detection.rule.title}}'
`
	return "webhooks:" + fmt.Sprintf(entry, "away", "http://u:hush-password@"+away+"/x?api_key=hush-query") +
		fmt.Sprintf(entry, "nowhere", "http://hush-user@nowhere.invalid/x?sig=hush-query") +
		fmt.Sprintf(entry, "refusing", "${HOOK_URL}") + fmt.Sprintf(entry, "path", refusing+"/hush-path/${HOOK_TOKEN}")
}

func hushedEnv(refusing string) []string {
	return []string{
		"HOOK_TOKEN=hush-token", "HOOK_SECRET=hush-signing", "HOOK_ROTATED=hush-rotated",
		"HOOK_URL=" + strings.Replace(refusing, "http://", "http://u:hush-url@", 1) + "/y?token=hush-parameter",
	}
}

// A daemon that fails at everything it has secrets for tells them nowhere.
func TestNothingThatADaemonPrintsOrServesShowsASecret(t *testing.T) {
	away := httptest.NewServer(nil)
	away.Close()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest) // and shows it all, as careless services do
		fmt.Fprint(w, r.URL, r.Header)
	}))
	defer refusing.Close()
	for _, format := range []string{"json", "text"} {
		t.Run(format, func(t *testing.T) {
			nats := natstest.Start(t, func(o *server.Options) { o.Username, o.Password = "u", "hush-nats" })
			dir := t.TempDir()
			write(t, dir, "rules/a.yml", rule("A", "evil"))
			write(t, dir, "hooks.yml", hushedHooks(away.Listener.Addr().String(), refusing.URL))
			cmd := command(t, "engine", "daemon", "-r", dir+"/rules", "--input", "http", "--api-addr", "127.0.0.1:0", "--enable-pprof",
				"--log-level", "trace", "--log-format", format, "--state-db", dir+"/state", "--dlq", "file://"+dir+"/dead", "--webhook", dir+"/hooks.yml",
				"--output", "nats://"+nats.Target("alerts"), "--nats-user", "u", "--nats-password=hush-nats", "--output", "stdout")
			cmd.Env = append(cmd.Env, hushedEnv(refusing.URL)...)
			d := launchCommand(t, dir, cmd)
			d.awaitLog("API server listening")
			d.push(event("evil"), event("evil"))
			d.await("dead letters of every webhook", func() bool { return d.metric("svc_dlq_events_total") == 8 })
			nats.Down()
			d.do("POST", "/api/v1/events", event("evil"))
			d.await("a failing connection", func() bool { return d.metric(`svc_sink_retries_total{sink="nats"}`) > 0 })
			d.do("POST", "/api/v1/reload?token=hush-asked", "hush-body", "Authorization", "Bearer hush-bearer")
			d.do("PUT", "/hush-path?x=hush-asked", "hush-body", "Authorization", "Basic hush-basic", "Cookie", "hush-cookie")
			nats.Up()
			d.await("a new connection", func() bool { return len(d.stdout.lines()) == 3 && d.metric(`svc_sink_queue_depth{sink="nats"}`) == 0 })
			for _, path := range []string{
				"/metrics", "/healthz", "/readyz", "/api/v1/status", "/api/v1/rules", "/api/v1/rules/list", "/api/v1/log-level", "/api/v1/actors",
				"/api/v1/actors/sink:nats", "/api/v1/actors/sink:away", "/api/v1/actors/sink:refusing", "/api/v1/actors/sink:path", "/api/v1/actors/dlq",
				"/api/v1/correlations/state", "/debug/pprof/", "/debug/pprof/cmdline", "/debug/pprof/goroutine?debug=2", "/debug/pprof/heap?debug=1", "/debug/pprof/allocs",
				"/debug/pprof/goroutine?seconds=hush", "/api/v1/tap", "/api/v1/sources",
			} {
				wantNoSecret(t, "GET "+path, d.get(path).body)
			}
			if got := d.get("/debug/pprof/cmdline").body; !strings.Contains(got, "--nats-password=xxxxx\x00") {
				t.Errorf("arguments %q, want them without the password", got)
			}
			d.stop()
			wantNoSecret(t, "the log", d.stderr.String())
			wantNoSecret(t, "standard output", d.stdout.String())
			wantNoSecretBelow(t, dir+"/state")
			wantNoSecretBelow(t, dir+"/dead")
			if dead := output(dir + "/dead").String(); strings.Count(dead, "\n") < 8 {
				t.Errorf("dead letters are missing:\n%s", dead)
			}
		})
	}
}

// wantNoSecretBelow looks into every file below a path.
func wantNoSecretBelow(t *testing.T, path string) {
	t.Helper()
	err := filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		wantNoSecret(t, name, string(text))
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Commands and starts that refuse a setting with a secret say what is wrong without it.
func TestNoRefusalShowsASecret(t *testing.T) {
	dir := t.TempDir()
	rules := write(t, dir, "rules/a.yml", rule("A", "evil"))
	hooks := func(name, entry string) string {
		return write(t, dir, name+".yml", "webhooks:\n  - id: a\n    kind: detection\n"+entry)
	}
	const url = "    url: http://h.invalid/x\n"
	for _, tc := range []struct {
		name string
		args []string
		env  []string
		runs bool // the daemon starts all the same, and ends with its input
	}{
		{"a scheme that nobody knows", []string{"--output", "amqp://u:hush-a@h:1/s?token=hush-b"}, nil, false},
		{"a parameter that nobody knows", []string{"--output", "stdout?token=hush-a"}, nil, false},
		{"a parameter that is wrong", []string{"--output", "stdout?on_full=maybe&password=hush-a"}, nil, false},
		{"a password for NATS in a URL", []string{"--output", "nats://u:hush-a@h:1/s"}, nil, false},
		{"a token for NATS in a URL", []string{"--dlq", "nats://hush-a@h:1/s"}, nil, false},
		{"a token with a slash", []string{"--output", "nats://hush-a/b@h:1/s"}, nil, false},
		{"a password for a collector in a URL", []string{"--output", "otlp+http://u:hush-a@h:4318"}, nil, false},
		{"a subject that is none", []string{"--output", "nats://u:hush-a@h:1/"}, nil, false},
		{"an input that nobody knows", []string{"--input", "amqp://u:hush-a@h:1/s?secret=hush-b"}, nil, false},
		{"an input that this build does not have", []string{"--input", "nats://u:hush-a@h:1/s"}, nil, false},
		{"two ways to log in", []string{"--nats-token", "hush-a", "--nats-user", "u", "--nats-password", "hush-b"}, nil, false},
		{"a user without a password", []string{"--nats-password", "hush-a"}, []string{"NATS_USER="}, false},
		{"a seed that is none", []string{"--output", "nats://127.0.0.1:1/s", "--nats-nkey", "hush-a"}, nil, false},
		{"variables", nil, []string{"NATS_TOKEN=hush-a", "NATS_NKEY=hush-b"}, false},
		{"a variable of a setting", nil, []string{`SLUICE_DAEMON__OUTPUT__SINKS=["amqp://u:hush-a@h:1/s"]`}, false},
		{"a variable of the wrong type", nil, []string{"SLUICE_DAEMON__INPUT__BUFFER_SIZE=https://u:hush-a@h:1/?key=hush-b"}, true},
		{"the password of a key", []string{"--tls-key-password", "hush-a"}, nil, false},
		{"the password of a key in a variable", nil, []string{"SLUICE_TLS_KEY_PASSWORD=hush-a"}, false},
		{"a webhook with a port that is none", []string{"--webhook", hooks("port", "    url: http://u:hush-a@h:99999999/x?token=hush-b\n")}, nil, true},
		{"a webhook with an odd URL", []string{"--webhook", hooks("odd", "    url: 'ht tp://u:hush-a@h/%zz?token=hush-b'\n")}, nil, false},
		{"a webhook of another scheme", []string{"--webhook", hooks("scheme", "    url: ftp://u:hush-a@h/x\n")}, nil, false},
		{"a webhook whose URL a variable makes unusable", []string{"--webhook", hooks("variable", "    url: ${HOOK_URL}/x\n")}, []string{"HOOK_URL=http://u:hush-a@h:b/%zz"}, false},
		{"a header that cannot be sent", []string{"--webhook", hooks("header", url+"    headers: {X-Key: \"hush-a\\nb\"}\n")}, nil, false},
		{"a header that a variable breaks", []string{"--webhook", hooks("broken", url+"    headers: {X-Key: \"${HOOK_TOKEN}\"}\n")}, []string{"HOOK_TOKEN=hush-a\nb"}, true},
		{"a secret that is no base64", []string{"--webhook", hooks("base64", url+"    signing: {secret_env: HOOK_SECRET, secret_encoding: base64}\n")}, []string{"HOOK_SECRET=hush-a!"}, false},
		{"a body that is no JSON", []string{"--webhook", hooks("body", url+"    body: '{\"token\": \"hush-a\", ${nope}}'\n")}, nil, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for _, args := range [][]string{
				append([]string{"engine", "daemon", "-r", rules, "--api-addr", "127.0.0.1:0"}, tc.args...),
				append([]string{"engine", "daemon", "--dry-run", "-r", rules, "--api-addr", "127.0.0.1:0"}, tc.args...),
				append([]string{"config", "validate", "--format", "json"}, files(t, rules, tc.args)...),
				append([]string{"config", "validate"}, files(t, rules, tc.args)...),
				append([]string{"config", "show", "--for", "daemon"}, files(t, rules, tc.args)...),
			} {
				cmd := command(t, args...)
				cmd.Env = append(cmd.Env, tc.env...)
				got := finish(t, cmd, event("evil")+"\n")
				if args[0] == "engine" && args[2] != "--dry-run" && (got.code == 0) != tc.runs {
					t.Errorf("%v: exit code %d:\n%s", args, got.code, got.stderr)
				}
				wantNoSecret(t, strings.Join(args[:3], " "), got.stdout+got.stderr)
			}
		})
	}
}

// files makes a configuration file of what flags say, for commands that take none of
// them.
func files(t *testing.T, rules string, args []string) []string {
	t.Helper()
	text := "daemon:\n  rules: " + rules + "\n"
	sections := map[string]string{"--output": "  output: {sinks: [%q]}\n", "--dlq": "  output: {dlq: %q}\n", "--input": "  input: {source: %q}\n", "--webhook": "  output: {webhooks: [%q]}\n"}
	for i := 0; i+1 < len(args); i += 2 {
		if form := sections[args[i]]; form != "" {
			text += fmt.Sprintf(form, args[i+1])
		}
	}
	return []string{"-c", write(t, t.TempDir(), "sluice.yaml", text)}
}
