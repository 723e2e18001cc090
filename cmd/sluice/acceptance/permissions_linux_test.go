package acceptance

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

// bounded is a command that permissions of files bind, also when root runs it.
func bounded(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, args...)
	if os.Getuid() == 0 {
		cmd.Path = sigmatest.Tool(t, "setpriv", "util-linux")
		cmd.Args = append([]string{"setpriv", "--bounding-set=-dac_override,-dac_read_search", binary}, args...)
	}
	return cmd
}

// Rule files and directories that could not be read are loaded as soon as they can be:
// nobody has to touch them for it.
func TestRulesThatMayBeReadAtLastAreLoaded(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	write(t, dir, "rules/shut/b.yml", rule("B", "evil"))
	write(t, dir, "rules/c.yml", rule("C", "evil"))
	file, shut := filepath.Join(dir, "rules", "c.yml"), filepath.Join(dir, "rules", "shut")
	chmod := func(path string, mode os.FileMode) {
		t.Helper()
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	chmod(file, 0)
	chmod(shut, 0)
	t.Cleanup(func() { chmod(shut, 0o700) })
	d := launchCommand(t, dir, bounded(t, "engine", "daemon", "-r", "rules", "--input", "http", "--api-addr", "127.0.0.1:0"))
	d.awaitLog("API server listening")
	loaded := func(want float64) {
		t.Helper()
		d.await("rules to be loaded", func() bool { return d.metric("svc_detection_rules_loaded") == want })
	}
	loaded(1)
	if got := d.metric("svc_rules_rejected"); got != 2 {
		t.Fatalf("%v rules are rejected, want the file and the directory that cannot be read", got)
	}
	chmod(file, 0o600)
	loaded(2)
	chmod(shut, 0o700)
	loaded(3)
	if got := d.metric("svc_rules_rejected"); got != 0 {
		t.Errorf("%v rules are rejected, want none", got)
	}
	d.stop()
}
