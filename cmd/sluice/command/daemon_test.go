package command

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/cmd/sluice/config"
)

// capture is a daemon that only keeps what it was given.
type capture struct {
	cfg *config.Loaded
	log *slog.Logger
}

func (c *capture) run(_ <-chan os.Signal, cfg *config.Loaded, log *slog.Logger, _ Streams) int {
	c.cfg, c.log = cfg, log
	log.Debug("started")
	return 0
}

func TestDaemonRefusesContradictions(t *testing.T) {
	for _, tc := range []struct {
		name, file string
		args       []string
		want       string
	}{
		{"no rules anywhere", "", []string{"--api-addr", "127.0.0.1:0"}, "daemon.rules"},
		{"plaintext on all addresses", "", []string{"-r", "x"}, "refusing to bind plaintext"},
		{"TLS on a socket file", "", []string{"-r", "x", "--api-addr", "unix:///run/s.sock", "--tls-cert", "c", "--tls-key", "k"}, "cannot be combined"},
		{"one token beside an auth block", `daemon: {api: {auth: {anonymous_permissions: ["metrics:read"]}}}`, []string{"--api-token-env", "HOME"}, "--api-token-env: cannot be combined with daemon.api.auth"},
		{"the token's variable is unset", "", []string{"--api-token-env", "UNSET_TOKEN"}, `--api-token-env: token "default": the variable "UNSET_TOKEN" is unset or empty`},
		{"clear and keep", "", []string{"--clear-state", "--keep-state"}, "excludes --keep-state"},
		{"a save interval of zero in a file", "daemon: {state: {save_interval: 0}}", nil, "daemon.state.save_interval: 0"},
		{"audit without a state database", "daemon: {api: {audit: {enabled: true}}}", nil, "needs a state database"},
		{"an audit sink with a format", "daemon: {api: {audit: {sink: 'stdout?format=ocsf'}}}", nil, "daemon.api.audit.sink: sink 'stdout?format=ocsf': format= is only supported on findings sinks"},
		{"an age of audit entries in no unit", "daemon: {api: {audit: {max_age: 720}}}", nil, "daemon.api.audit.max_age"},
		{"a negative number of audit entries", "daemon: {api: {audit: {max_entries: -1}}}", nil, "daemon.api.audit.max_entries: -1"},
		{"a suppression in no unit", "", []string{"--suppress", "5x"}, "--suppress: \"5x\""},
		{"a mailbox without a number", "", []string{"--mailbox-size", "parse"}, "NAME=N"},
		{"a restart window of zero", "daemon: {actors: {restart_window: 0}}", nil, "daemon.actors.restart_window: 0"},
		{"a buffer too large", "", []string{"--buffer-size", "1000001"}, "--buffer-size: 1000001 is not allowed (1 to 1000000)"},
		{"a body too small", "daemon: {input: {http: {max_body_bytes: 1000}}}", nil, "daemon.input.http.max_body_bytes: 1000"},
		{"a lane too small", "", []string{"--buffer-bytes", "64KiB"}, "--buffer-bytes: 65536"},
		{"a save interval beyond what clocks count", "", []string{"--state-save-interval", "10000000000"}, "--state-save-interval: 10000000000 is not allowed (1 to 1000000000)"},
		{"a pause beyond what clocks count", "daemon: {output: {backoff_max_ms: 10000000000000}}", nil, "daemon.output.backoff_max_ms: 10000000000000"},
		{"an empty auth block", "daemon: {api: {auth: {}}}", nil, "daemon.api.auth: neither tokens nor anonymous permissions: everything but the probes would be unreachable"},
		{"a built-in role redefined", `daemon: {api: {auth: {anonymous_permissions: ["*"], roles: {admin: ["*:*"]}}}}`, nil, `daemon.api.auth: role "admin": a built-in role cannot be redefined`},
		{"a format for the dead-letter queue", "", []string{"--dlq", "file:///x?format=ndjson"}, "format= is only supported on findings sinks"},
		{"snapshot without a state database", "", []string{"--nats-ack-mode", "snapshot"}, "--nats-ack-mode: snapshot needs"},
		{"two ways to log in", "", []string{"--nats-token", "a", "--nats-creds", "b"}, "--nats-creds: excludes --nats-token"},
		{"two replays", "", []string{"--replay-from-latest", "--replay-from-sequence", "4"}, "excludes --replay-from-sequence"},
		{"two event filters from two layers", "daemon: {input: {jq: .}}", []string{"--jsonpath", "$"}, "daemon.input.jq: excludes --jsonpath"},
		{"an offset without a colon", "", []string{"--syslog-tz", "+0530"}, "--syslog-tz"},
		{"an unknown input", "", []string{"--input", "pulsar://x"}, `"pulsar://x" is no input (stdin, http, `},
		{"a host name to listen on", "", []string{"--api-addr", "localhost:9090"}, "localhost:9090"},
		{"an encrypted key", "", []string{"--tls-key-password", "x"}, "encrypted keys are not supported"},
		{"an exclusion of nothing", "", []string{"--exclude-rule", "tag:"}, "--exclude-rule"},
		{"a positional argument", "", []string{"rules/"}, "takes no argument"},
		{"a dimension nobody knows", "", []string{"--event-logsource", "vendor=x"}, "unknown dimension"},
		{"capture without its directory", "daemon: {capture: {enabled: true}, dispositions: {enabled: true}}", nil, "daemon.capture.spool_dir"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inEmptyDir(t)
			if tc.file != "" {
				write(t, "sluice.yaml", tc.file)
			}
			args := append([]string{"engine", "daemon"}, tc.args...)
			got := sluiceWith(t, Program{Daemon: new(capture).run}, "", args...)
			got.wantCode(t, 3)
			got.wantErr(t, tc.want)
		})
	}
}

func TestDaemonGetsTheMergedConfiguration(t *testing.T) {
	inEmptyDir(t)
	write(t, "sluice.yaml", `daemon: {rules: /f, api: {addr: "1.2.3.4:5", tls: {allow_plaintext: true}}, input: {buffer_size: 111}}`)
	var got capture
	run := sluiceWith(t, Program{Daemon: got.run}, "", "daemon", "--rules", "/c", "--buffer-size", "64")
	run.wantCode(t, 0)
	d := got.cfg.Config.Daemon
	if len(d.Rules) != 1 || d.Rules[0] != "/c" || d.Input.BufferSize != 64 || d.API.Addr != "1.2.3.4:5" {
		t.Errorf("got rules %v, buffer %d, addr %s", d.Rules, d.Input.BufferSize, d.API.Addr)
	}
}

func TestDaemonSaysWhichSettingsNothingComesOf(t *testing.T) {
	inEmptyDir(t)
	args := []string{"daemon", "-r", "x", "--api-addr", "127.0.0.1:0"}
	warned := sluiceWith(t, Program{Daemon: new(capture).run}, "", append(args, "--enable-tap")...)
	warned.wantCode(t, 0)
	warned.wantErr(t, `"level":"WARN","target":"sluice.config","fields":{"message":"not in this build (tap sessions); it has no effect","key":"--enable-tap"}`)
	write(t, "sluice.yaml", "daemon: {sources: [], output: {sinks: [], webhooks: []}, mailboxes: {}}")
	empty := sluiceWith(t, Program{Daemon: new(capture).run}, "", args...)
	empty.wantCode(t, 0)
	if strings.Contains(empty.err, "WARN") {
		t.Errorf("empty lists: stderr got %q, want no warning", empty.err)
	}
	t.Setenv("NATS_TOKEN", "of another program")
	foreign := sluiceWith(t, Program{Daemon: new(capture).run}, "", args...)
	foreign.wantCode(t, 0)
	if strings.Contains(foreign.err, "warning") || strings.Contains(foreign.err, "another program") {
		t.Errorf("a variable of another program: stderr got %s, want neither a warning nor its value", foreign.err)
	}
	refused := sluiceWith(t, Program{Daemon: new(capture).run}, "", append(args, "--risk", "r.yml")...)
	refused.wantCode(t, 3)
	refused.wantErr(t, "--risk: not in this build (the risk layer)")
}

// Programs read the log of a daemon from its first line to its last. A start that fails
// has no log yet.
func TestWarningsOfTheStartAreRecordsOfTheLog(t *testing.T) {
	const file = `daemon:
  rules: x
  nonsense: 3
  api: {addr: "127.0.0.1:0"}
  input:
    sourc: x
  mailboxes: {dlq: 5}
  tap: {enabled: true}
  output: {sinks: ["stdout?on_full=drp"]}
`
	inEmptyDir(t)
	write(t, "sluice.yaml", file)
	run := func(args ...string) outcome {
		t.Helper()
		return sluiceWith(t, Program{Daemon: new(capture).run}, "", append([]string{"daemon"}, args...)...)
	}
	got := run()
	got.wantCode(t, 0)
	var warned []string
	for _, line := range strings.Split(strings.TrimSpace(got.err), "\n") {
		var record struct {
			Level, Target string
			Fields        struct {
				Message, Key, File, Suggestion string
				Line                           int
			}
		}
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("not JSON: %s", line)
		}
		if f := record.Fields; record.Level == "WARN" && record.Target == "sluice.config" {
			warned = append(warned, fmt.Sprintf("%s:%d %s %s", f.File, f.Line, f.Key, f.Suggestion))
		}
	}
	want := []string{
		"./sluice.yaml:3 daemon.nonsense ",
		"./sluice.yaml:6 daemon.input.sourc did you mean 'daemon.input.source'?",
		"./sluice.yaml:7 daemon.mailboxes.dlq ",
		"./sluice.yaml:8 daemon.tap.enabled ",
		"./sluice.yaml:9 daemon.output.sinks ",
	}
	if !slices.Equal(warned, want) {
		t.Errorf("warnings %q, want %q", warned, want)
	}
	for name, got := range map[string]outcome{"in text": run("--log-format", "text"), "of a start that fails": run("--risk", "r.yml"), "of a dry run": run("--dry-run")} {
		if strings.Count(got.err, "daemon.input.sourc") < 1 || strings.Contains(got.err, "{") {
			t.Errorf("%s: %s", name, got.err)
		}
	}
}

func TestLogLevelFlagWinsOverTheVariable(t *testing.T) {
	inEmptyDir(t)
	t.Setenv("SLUICE_LOG", "error")
	args := []string{"daemon", "-r", "x", "--api-addr", "127.0.0.1:0"}
	quiet := sluiceWith(t, Program{Daemon: new(capture).run}, "", args...)
	if quiet.err != "" {
		t.Errorf("SLUICE_LOG=error wrote %q", quiet.err)
	}
	loud := sluiceWith(t, Program{Daemon: new(capture).run}, "", append(args, "--log-level", "debug")...)
	if !strings.Contains(loud.err, `"level":"DEBUG","target":"sluice","fields":{"message":"started"}`) {
		t.Errorf("--log-level debug wrote %q", loud.err)
	}
}

func TestDryRunShowsFlagsToo(t *testing.T) {
	inEmptyDir(t)
	got := sluiceWith(t, Program{Daemon: func(<-chan os.Signal, *config.Loaded, *slog.Logger, Streams) int {
		t.Error("a dry run started the daemon")
		return 4
	}}, "", "daemon", "--dry-run", "--batch-size", "7")
	got.wantCode(t, 0)
	got.wantErr(t, "# ")
	if !strings.Contains(got.out, "batch_size: 7\n") {
		t.Errorf("the flag is missing in\n%s", got.out)
	}
}

func TestAVariableBoundToAFlagRanksAsAFlag(t *testing.T) {
	inEmptyDir(t)
	write(t, "sluice.yaml", "daemon: {nats: {consumer_group: f}}")
	t.Setenv("SLUICE_CONSUMER_GROUP", "g")
	for _, tc := range []struct {
		name string
		args []string
		want string
	}{
		{"over the file", nil, "consumer_group: g\n"},
		{"but below the command line", []string{"--consumer-group", "h"}, "consumer_group: h\n"},
	} {
		got := sluice(t, "", append([]string{"daemon", "--dry-run"}, tc.args...)...)
		if !strings.Contains(got.out, tc.want) {
			t.Errorf("%s: want %q in\n%s", tc.name, tc.want, got.out)
		}
	}
	t.Setenv("SLUICE_CONSUMER_GROUP", "")
	if got := sluice(t, "", "daemon", "--dry-run"); !strings.Contains(got.out, "consumer_group: f\n") {
		t.Errorf("an empty variable hides the file:\n%s", got.out)
	}
}
