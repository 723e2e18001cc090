package acceptance

import (
	"path/filepath"
	"strings"
	"testing"
)

// Sinks whose queues hold next to nothing slow the dataflow down, and cost nothing else.
func TestSinksWithNextToNoRoom(t *testing.T) {
	const events = 20_000
	dir := t.TempDir()
	rules := write(t, dir, "r.yml", rule("A", "evil"))
	native, findings := filepath.Join(dir, "native"), filepath.Join(dir, "findings")
	got := sluice(t, strings.Repeat(event("evil "+strings.Repeat("x", 200))+"\n", events),
		"engine", "daemon", "-r", rules, "--api-addr", "127.0.0.1:0", "--log-format", "json", "--buffer-size", "1",
		"--output", "file://"+native, "--output", "file://"+findings+"?format=ocsf")
	if got.code != 0 || strings.Contains(got.stderr, "panic") || !strings.Contains(got.stderr, `"undelivered":0`) {
		t.Errorf("exit code %d:\n%s", got.code, got.stderr)
	}
	for _, path := range []string{native, findings} {
		if n := strings.Count(output(path).String(), "\n"); n != events {
			t.Errorf("%s has %d lines, want %d", filepath.Base(path), n, events)
		}
	}
}
