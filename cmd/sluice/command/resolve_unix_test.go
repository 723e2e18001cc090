//go:build unix

package command

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A signal ends what a source has started before the command ends.
func TestASignalEndsTheProgramsOfSources(t *testing.T) {
	writeLists(t)
	write(t, "r/a.yml", ruleOfValues)
	write(t, "sleep.yml", "sources: [{id: good, type: command, format: lines, command: [sh, -c, 'echo $$ > pid; exec sleep 600']}]\n")
	if err := syscall.Mkfifo("pid", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"pipeline resolve -p p.yml --source-file sleep.yml", "rule validate r -p plain.yml --source sleep.yml --resolve-sources"} {
		signals, done := make(chan os.Signal), make(chan outcome, 1)
		go func() {
			var out, errs strings.Builder
			code := Program{}.Run(signals, append([]string{"sluice"}, strings.Fields(args)...), strings.NewReader(""), &out, &errs)
			done <- outcome{code, out.String(), errs.String()}
		}()
		text, err := os.ReadFile("pid") // which waits for the program
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		signals <- syscall.SIGINT
		got := <-done
		if got.code != 130 || got.out != "" || strings.Contains(got.err, "sluice:") {
			t.Errorf("%s: code %d, %q with %q, want 130 and no more", args, got.code, got.out, got.err)
		}
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("%s: the program %d goes on: %v", args, pid, err)
		}
	}
}
