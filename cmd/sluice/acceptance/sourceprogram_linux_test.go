package acceptance

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A program that hangs is ended with its children.
func TestAProgramThatHangsIsEndedWithItsChildren(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "p.yml", "vars: {bad: '${source.a}'}\n")
	write(t, dir, "sources.yml", "sources:\n  - {id: a, type: command, command: [sh, -c, 'echo $$ > pids; sleep 600 & echo $! >> pids; sleep 600'], format: json, timeout: 2s}\n")
	cmd := command(t, "pipeline", "resolve", "-p", "p.yml", "--source-file", "sources.yml")
	cmd.Dir = dir
	const want = `{"pipeline":"external:sources.yml","source_id":"a","status":"error","error":"source 'a': timed out"}` + "\n"
	if got := finish(t, cmd, ""); got.code != 1 || got.stdout != want {
		t.Errorf("code %d, %s, want 1 and %s\n%s", got.code, got.stdout, want, got.stderr)
	}
	text, err := os.ReadFile(filepath.Join(dir, "pids"))
	if err != nil || strings.Count(string(text), "\n") != 2 {
		t.Fatalf("%q, %v", text, err)
	}
	for pid := range strings.FieldsSeq(string(text)) {
		n, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(n, 0); err == nil && !zombie(n) {
			t.Errorf("the process %d goes on", n)
		} else if err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Error(err)
		}
	}
}

// zombie reports whether a process has ended and nobody has asked how.
func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true // it is gone
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z")
}
