//go:build unix

package watch

import (
	"syscall"
	"testing"
)

// Whoever opens a pipe that nobody writes to waits for ever.
func TestAPipeAmongTheRulesHoldsNothingUp(t *testing.T) {
	w := newWatchedTree(t)
	w.write("rules/a.yml")
	if err := syscall.Mkfifo(w.path("rules/before.yml"), 0o600); err != nil {
		t.Skip(err)
	}
	w.watch(w.path("rules"))
	if err := syscall.Mkfifo(w.path("rules/pipe.yml"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.want("file rules/pipe.yml")
	w.chmod("rules/pipe.yml", 0o640)
	w.write("rules/z.yml")
	w.want("file rules/z.yml")
}
