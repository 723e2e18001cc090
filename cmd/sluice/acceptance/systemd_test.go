package acceptance

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

// installed lays the files for systemd out below a directory, as their comments say.
func installed(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, to := range map[string]string{
		"sluice.service": "etc/systemd/system/sluice.service", "sluice.sysusers": "etc/sysusers.d/sluice.conf",
		"sluice.yaml": "etc/sluice/sluice.yaml", "sluice.logrotate": "etc/logrotate.d/sluice",
	} {
		raw, err := os.ReadFile(filepath.Join(root, "examples", "systemd", name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, to, string(raw))
	}
	for _, program := range []string{"usr/local/bin/sluice", "bin/kill"} {
		if err := os.Chmod(write(t, dir, program, "#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// maxExposure is ten times what systemd-analyze calls the exposure level: 0 to 100.
const maxExposure = "15"

func TestTheUnitIsUnderstoodAndHardened(t *testing.T) {
	analyze, dir := sigmatest.Tool(t, "systemd-analyze", "systemd"), installed(t)
	got := finish(t, exec.Command(analyze, "--root="+dir, "--recursive-errors=no", "--man=no", "verify", filepath.Join(dir, "etc/systemd/system/sluice.service")), "")
	if got.code != 0 || strings.Contains(got.stderr, "sluice.service") {
		t.Errorf("verify: exit code %d\n%s", got.code, got.stderr)
	}
	got = finish(t, exec.Command(analyze, "--root="+dir, "--offline=true", "--threshold="+maxExposure, "--no-pager", "security", "sluice.service"), "")
	if got.code != 0 {
		t.Errorf("security: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

func TestTheUserOfTheUnitIsMade(t *testing.T) {
	sysusers, dir := sigmatest.Tool(t, "systemd-sysusers", "systemd"), installed(t)
	if got := finish(t, exec.Command(sysusers, "--root="+dir), ""); got.code != 0 {
		t.Fatalf("exit code %d\n%s", got.code, got.stderr)
	}
	passwd, err := os.ReadFile(filepath.Join(dir, "etc", "passwd"))
	if err != nil || !strings.HasPrefix(string(passwd), "sluice:") || !strings.Contains(string(passwd), "/var/lib/sluice:") {
		t.Errorf("passwd is %q (%v)", passwd, err)
	}
}

// unitLines are the settings of the unit.
func unitLines(t *testing.T) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "examples", "systemd", "sluice.service"))
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]string)
	for line := range strings.Lines(string(raw)) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(k, "#") {
			out[k] = v
		}
	}
	return out
}

// The files fit each other and the program: what the unit runs, how long it waits, and
// where it lets the daemon write.
func TestTheUnitFitsTheProgram(t *testing.T) {
	unit := unitLines(t)
	args := strings.Fields(unit["ExecStart"])
	dir := installed(t)
	for i := range args {
		args[i] = strings.Replace(args[i], "/etc/", dir+"/etc/", 1)
	}
	got := sluice(t, "", append(args[1:], "--dry-run")...)
	if got.code != 0 || strings.Contains(got.stderr, "warning") {
		t.Fatalf("exit code %d\n%s", got.code, got.stderr)
	}
	var settings struct {
		Daemon struct {
			Output struct {
				Sinks []string `yaml:"sinks"`
				DLQ   string   `yaml:"dlq"`
				Drain int      `yaml:"drain_timeout"`
			} `yaml:"output"`
			State struct {
				DB string `yaml:"db"`
			} `yaml:"state"`
		} `yaml:"daemon"`
	}
	if err := yaml.Unmarshal([]byte(got.stdout), &settings); err != nil {
		t.Fatal(err)
	}
	d := settings.Daemon
	stop, err := strconv.Atoi(strings.TrimSuffix(unit["TimeoutStopSec"], "s"))
	if err != nil || stop < d.Output.Drain+15 {
		t.Errorf("the unit waits %s for the end, want at least %d s", unit["TimeoutStopSec"], d.Output.Drain+15)
	}
	if want := "/var/lib/" + unit["StateDirectory"] + "/"; !strings.HasPrefix(d.State.DB, want) {
		t.Errorf("the state is in %s, want it below %s", d.State.DB, want)
	}
	for _, sink := range append(d.Output.Sinks, d.Output.DLQ) {
		if want := "file:///var/log/" + unit["LogsDirectory"] + "/"; !strings.HasPrefix(sink, want) {
			t.Errorf("the sink %s is not below %s", sink, want)
		}
	}
}

// Results go on in a new file, and none is lost, when logrotate has done its work.
func TestRotationLosesNothing(t *testing.T) {
	logrotate := sigmatest.Tool(t, "logrotate", "logrotate")
	sigmatest.Tool(t, "gzip", "gzip")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	group, err := user.LookupGroupId(me.Gid)
	if err != nil {
		t.Fatal(err)
	}
	dir := installed(t)
	log := filepath.Join(dir, "var", "log", "sluice")
	state := filepath.Join(dir, "var", "lib", "sluice")
	for _, d := range []string{log, state} {
		if err := os.MkdirAll(d, 0o750); err != nil {
			t.Fatal(err)
		}
	}
	paths := strings.NewReplacer("/var/log/sluice", log, "/var/lib/sluice", state, "/etc/sluice", filepath.Join(dir, "etc", "sluice"))
	settings, err := os.ReadFile(filepath.Join(dir, "etc", "sluice", "sluice.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	file := write(t, dir, "etc/sluice/sluice.yaml", paths.Replace(string(settings)))
	write(t, dir, "etc/sluice/rules/a.yml", rule("A", "evil"))
	d := startIn(t, dir, "--config", file, "--api-addr", "127.0.0.1:0")

	recipe, err := os.ReadFile(filepath.Join(dir, "etc", "logrotate.d", "sluice"))
	if err != nil {
		t.Fatal(err)
	}
	config := write(t, dir, "etc/logrotate.d/sluice", strings.Replace(paths.Replace(string(recipe)), "su sluice sluice", "su "+me.Username+" "+group.Name, 1))
	// Stands for the service manager, and does what it would be asked to.
	bin := filepath.Join(dir, "bin")
	if err := os.Chmod(write(t, bin, "systemctl", "#!/bin/sh\n[ \"$*\" = 'kill --kill-whom=main --signal=HUP sluice.service' ] && kill -HUP "+strconv.Itoa(d.cmd.Process.Pid)+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	rotate := func() {
		t.Helper()
		cmd := exec.Command(logrotate, "--force", "--state", filepath.Join(dir, "rotations"), config)
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		if got := finish(t, cmd, ""); got.code != 0 {
			t.Fatalf("logrotate: exit code %d\n%s", got.code, got.stderr)
		}
	}
	results := filepath.Join(log, "results.ndjson")
	wantFile := func(name, want string) {
		t.Helper()
		raw, err := os.ReadFile(name)
		if err != nil || string(raw) != want {
			t.Errorf("%s holds %q (%v), want %q", filepath.Base(name), raw, err, want)
		}
	}
	for n := 1; n <= 3; n++ {
		d.push(event("evil " + strconv.Itoa(n)))
		rotate()
		d.await("a reload", func() bool { return strings.Count(d.stderr.String(), "reload finished") == n })
	}
	d.push(event("evil 4"))
	d.stop()
	wantFile(results, resultLine("A", "evil 4")+"\n")
	wantFile(results+".1", resultLine("A", "evil 3")+"\n")
	for name, want := range map[string]string{results + ".2.gz": "evil 2", results + ".3.gz": "evil 1"} {
		got := finish(t, exec.Command("gzip", "-dc", name), "")
		if got.stdout != resultLine("A", want)+"\n" {
			t.Errorf("%s holds %q, want the result of %s", filepath.Base(name), got.stdout, want)
		}
	}
}
