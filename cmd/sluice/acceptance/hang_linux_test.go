package acceptance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

// tracer is the process that traces another, 0 when none does.
func tracer(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\nTracerPid:")
	line, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A disk that does not answer when the file of a sink is synced at the end costs neither the
// last save, nor what was delivered, nor the exit code. strace holds the sync until it is
// ended, which is when the daemon has done all that it does.
func TestADiskThatHangsAtTheEndCostsNothing(t *testing.T) {
	t.Parallel()
	strace := sigmatest.Tool(t, "strace", "strace")
	if out, err := exec.Command(strace, "-f", "--seccomp-bpf", "-qq", "-o", os.DevNull, "-e", "trace=fsync", "-e", "inject=fsync:delay_enter=1", os.Args[0], "-test.list=^$").CombinedOutput(); err != nil {
		t.Skipf("processes cannot be traced here: %v: %s", err, out)
	}
	dir := t.TempDir()
	rules, out := write(t, dir, "rules.yml", countingRules), write(t, dir, "out", "")
	args := []string{"engine", "daemon", "-r", rules, "--input", "http", "--api-addr", "127.0.0.1:0", "--state-db", filepath.Join(dir, "state"), "--output", "file://" + out}
	cmd := command(t, args...)
	cmd.Args = append([]string{strace, "-D", "-f", "--seccomp-bpf", "-qq", "-o", os.DevNull, "-e", "trace=fsync", "-e", "inject=fsync:delay_enter=3600s", "-P", out, cmd.Path}, args...)
	cmd.Path = strace
	d := launchCommand(t, dir, cmd)
	d.awaitLog("API server listening")
	by := tracer(t, cmd.Process.Pid)
	if by == 0 {
		t.Fatal("nobody traces the daemon")
	}
	release := func() { _ = syscall.Kill(by, syscall.SIGKILL) }
	t.Cleanup(release)
	d.push(evilOnes(0, 20)...)
	d.signal(syscall.SIGTERM)
	d.awaitLog("stopped")
	log := d.stderr.String()
	release()
	if code := d.wait(); code != 0 || !strings.Contains(log, "not closed in time: file") {
		t.Errorf("exit code %d, want 0 and a word about the file:\n%s", code, log)
	}
	found := 0
	for _, line := range output(out).lines() {
		if strings.Contains(line, `"rule_title":"Base"`) {
			found++
		}
	}
	if found != 20 {
		t.Errorf("the file holds %d detections, want 20", found)
	}
	next := startWithState(t, rules, filepath.Join(dir, "state"))
	if count, distinct := next.windows(); count != 20 || distinct != 20 {
		t.Errorf("the last save holds %d events, %d different ones, want 20", count, distinct)
	}
	next.stop()
}
