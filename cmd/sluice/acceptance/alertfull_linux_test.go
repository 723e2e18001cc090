package acceptance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

// ownDisk is a command that sees a disk of its own, of so many MiB, in place of a directory.
func ownDisk(t *testing.T, dir string, size int, args ...string) *exec.Cmd {
	t.Helper()
	unshare := sigmatest.Tool(t, "unshare", "util-linux")
	mount := fmt.Sprintf("mount -t tmpfs -o size=%dm none '%s'", size, dir)
	flags := []string{"--user", "--map-root-user", "--mount"}
	if os.Getuid() == 0 {
		flags = []string{"--mount"}
	}
	if got := finish(t, exec.Command(unshare, append(flags, "sh", "-c", mount)...), ""); got.code != 0 {
		t.Skip("a disk of its own cannot be made here: " + got.stderr)
	}
	cmd := command(t, args...)
	cmd.Path = unshare
	cmd.Args = append(append([]string{"unshare"}, flags...), append([]string{"sh", "-c", mount + ` && exec "$@"`, "sh", binary}, args...)...)
	return cmd
}

// A silence that cannot be stored is not made, and one that cannot be deleted goes on. Both
// are told, and go as soon as there is room again.
func TestSilencesThatADatabaseDoesNotTake(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	rules := write(t, dir, "r.yml", rule("A", "evil"))
	file := write(t, dir, "alerts.yml", "{}")
	d := launchCommand(t, dir, ownDisk(t, state, 128, "engine", "daemon", "-r", rules, "--input", "http", "--api-addr", "127.0.0.1:0",
		"--state-db", state, "--state-save-interval", "3600", "--alert-pipeline", file))
	d.awaitLog("API server listening")
	kept := d.silence("id-A")

	// The disk is the daemon's: others find it beyond the process.
	filler := filepath.Join("/proc", fmt.Sprint(d.cmd.Process.Pid), "root", state, "filler")
	var disk syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(filler), &disk); err != nil {
		t.Fatal(err)
	}
	fill, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	defer fill.Close()
	if err := syscall.Fallocate(int(fill.Fd()), 0, 0, int64(disk.Bavail)*disk.Bsize-20<<20); err != nil {
		t.Fatal(err)
	}

	const refused = `"error":"silence could not be stored"`
	for _, tc := range []struct{ method, path, body string }{
		{"POST", "/api/v1/silences", `{"matchers":[{"selector":"rule","value":"id-B"}]}`},
		{"DELETE", "/api/v1/silences/" + kept, ""},
	} {
		if a := d.do(tc.method, tc.path, tc.body); a.status != 503 || !strings.Contains(a.body, refused) || a.json(t)["hint"] == nil {
			t.Errorf("%s: %d %s, want 503 with %s and a hint", tc.method, a.status, a.body, refused)
		}
	}
	for _, message := range []string{"silence not made", "silence not deleted"} {
		if err, _ := d.awaitLog(message)["err"].(string); !strings.Contains(err, "too little space is left on the disk") {
			t.Errorf("%s because of %q, want the full disk", message, err)
		}
	}
	if d.logged("may be stored all the same") != nil {
		t.Errorf("the log fears for a silence that was never written:\n%s", d.stderr)
	}
	d.wantSilences("api id-A active")
	d.push(event("evil"))
	d.wantWritten("")

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if err := fill.Close(); err != nil {
		t.Fatal(err)
	}
	d.silence("id-C")
	d.unsilence(kept)
	d.wantSilences("api id-C active")
	d.push(event("evil"))
	d.wantWritten("A")
	d.stop()
}
