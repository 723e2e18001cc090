package acceptance

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// without builds a program without what tags leave out.
func without(t *testing.T, tags string) string {
	t.Helper()
	if watched {
		t.Skip("such a program has no detector for races; the tests without one run this")
	}
	left := filepath.Join(t.TempDir(), "sluice")
	build := exec.Command("go", "build", "-tags", tags, "-o", left, "github.com/sluicehq/sluice/cmd/sluice")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return left
}

// A program that was built without features says so where somebody asks for one.
func TestABuildSaysWhatWasLeftOut(t *testing.T) {
	left := without(t, "no_daemon,no_nats,no_otlp,no_tls")
	deps, err := exec.Command("go", "list", "-deps", "-tags", "no_nats", "github.com/sluicehq/sluice/cmd/sluice").Output()
	if err != nil || strings.Contains(string(deps), "nats-io") {
		t.Errorf("a build without NATS has its client library (%v):\n%s", err, deps)
	}
	run := func(args ...string) outcome {
		cmd := command(t, args...)
		cmd.Path = left
		write(t, cmd.Dir, "nats.yaml", "daemon: {rules: r, api: {addr: '127.0.0.1:0'}, output: {sinks: ['nats://127.0.0.1/found']}}\n")
		write(t, cmd.Dir, "otlp.yaml", "daemon: {rules: r, api: {addr: '127.0.0.1:0'}, output: {dlq: 'otlphttps://127.0.0.1'}}\n")
		write(t, cmd.Dir, "dead", "")
		write(t, cmd.Dir, "r/a.yml", rule("A", "evil"))
		return finish(t, cmd, event("evil")+"\n")
	}
	for _, tc := range []struct {
		name, args string
		code       int
		want       string
	}{
		{"the daemon", "engine daemon -r r --api-addr 127.0.0.1:0", 3, "sluice: engine daemon is left out of this build, which was made with the tag no_daemon\n"},
		{"its short name", "daemon", 3, "engine daemon is left out of this build"},
		{
			"a NATS sink", "dlq replay dead --to nats://127.0.0.1/found", 3,
			"--to: output sink 'nats://127.0.0.1/found' is left out of this build, which was made with the tag no_nats (supported: stdout, ",
		},
		{"an OTLP sink", "dlq replay dead --to otlp://127.0.0.1", 3, "output sink 'otlp://127.0.0.1' is left out of this build, which was made with the tag no_otlp"},
		{"validation of a sink", "config validate -c nats.yaml", 3, "daemon.output.sinks: output sink 'nats://127.0.0.1/found' is left out of this build"},
		{"validation of dead letters", "config validate -c otlp.yaml", 3, "daemon.output.dlq: output sink 'otlphttps://127.0.0.1' is left out of this build"},
		{"help", "dlq replay --help", 0, "(left out of this build: nats, otlp)"},
		{"a flag of NATS", "dlq replay dead --nats-token secret", 3, "sluice: unknown flag --nats-token (see sluice dlq replay --help)"},
		{"what remains", "engine eval -r r", 0, "Processed 1 event, 1 match."},
		{"commands that ask a daemon", "engine status --addr 127.0.0.1:1", 3, "connection refused"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := run(strings.Fields(tc.args)...)
			text := strings.Join(strings.Fields(got.stdout+got.stderr), " ") // help breaks lines
			if got.code != tc.code || !strings.Contains(text, strings.TrimSpace(tc.want)) {
				t.Errorf("exit code %d, %s%s", got.code, got.stdout, got.stderr)
			}
		})
	}
	if help := run("dlq", "replay", "--help").stdout; strings.Contains(help, "--nats-") || !strings.Contains(help, "--addr") {
		t.Errorf("flags of NATS are in the help:\n%s", help)
	}
	if help := run("engine", "--help").stdout; strings.Contains(help, "daemon ") && strings.Contains(help, "run the service") {
		t.Errorf("the daemon is in the help:\n%s", help)
	}
}

// Settings of indexes are accepted without effect, wherever they are made, and told once.
func TestSettingsOfIndexesAreAcceptedWithoutEffect(t *testing.T) {
	plainly(t)
	const told = "no effect: the engine's own index selects the rules of an event"
	dir := t.TempDir()
	write(t, dir, "r/a.yml", rule("A", "evil"))
	write(t, dir, "keys.yaml", "daemon: {rules: r, api: {addr: '127.0.0.1:0'}, engine: {bloom_prefilter: true, bloom_max_bytes: 2MiB, cross_rule_ac: true}}\n")
	write(t, dir, "plain.yaml", "daemon: {rules: r, api: {addr: '127.0.0.1:0'}}\n")
	for _, tc := range []struct {
		name, args, env string
		settings        string // that are named; empty for none
	}{
		{"flags", "engine daemon --config plain.yaml --bloom-prefilter --bloom-max-bytes 2MiB --cross-rule-ac", "", "--bloom-prefilter, --bloom-max-bytes, --cross-rule-ac"},
		{"keys", "engine daemon --config keys.yaml", "", "--bloom-prefilter, --bloom-max-bytes, --cross-rule-ac"},
		{"a variable", "engine daemon --config plain.yaml", "SLUICE_DAEMON__ENGINE__CROSS_RULE_AC=true", "--cross-rule-ac"},
		{"defaults", "engine daemon --config plain.yaml --bloom-max-bytes 1MiB", "", ""},
		{"an evaluation", "engine eval -r r --bloom-prefilter --cross-rule-ac", "", "--bloom-prefilter, --cross-rule-ac"},
		{"validation", "config validate -c keys.yaml", "", "--bloom-prefilter, --bloom-max-bytes, --cross-rule-ac"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := command(t, strings.Fields(tc.args)...)
			cmd.Dir = dir
			if tc.env != "" {
				cmd.Env = append(cmd.Env, tc.env)
			}
			got := finish(t, cmd, event("evil")+"\n")
			want := 1
			if tc.settings == "" {
				want = 0
			}
			all := got.stdout + got.stderr
			if n := strings.Count(all, told); got.code != 0 || n != want || !strings.Contains(all, tc.settings) || strings.Contains(all, "not in this build") {
				t.Errorf("exit code %d, told %d times:\n%s", got.code, n, all)
			}
			if strings.HasPrefix(tc.args, "engine") && !strings.Contains(got.stdout, resultLine("A", "evil")) {
				t.Errorf("the results are %s", got.stdout)
			}
			if strings.HasPrefix(tc.args, "engine daemon") && want == 1 && !strings.Contains(got.stderr, `"level":"WARN","target":"sluice.engine","fields":{"message":"settings have no effect`) {
				t.Errorf("the log does not say so:\n%s", got.stderr)
			}
		})
	}
}
