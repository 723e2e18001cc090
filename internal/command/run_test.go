package command_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/internal/command"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// soon is a deadline of programs that hang. Nothing that has to happen needs it.
const soon = 300 * time.Millisecond

// far bounds what takes no time on an idle machine.
const far = time.Minute

func shell(script string) []string { return []string{"sh", "-c", script} }

func run(t *testing.T, timeout time.Duration, o command.Options) (command.Output, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	if o.MaxStdout == 0 {
		o.MaxStdout = 1 << 20
	}
	return command.Run(ctx, o)
}

func TestHowProgramsEnd(t *testing.T) {
	for _, tc := range []struct {
		name, script string
		out, err     string
	}{
		{"a program that writes", "printf hello", "hello", ""},
		{"one that writes nothing", "true", "", ""},
		{"one that fails", "exit 3", "", "command exited with exit status 3"},
		{"one that says why", "echo ' no such feed ' >&2; exit 1", "", "command exited with exit status 1: no such feed"},
		{"one that a signal ends", "kill -TERM $$", "", "command exited with signal: terminated"},
		{"one that complains and succeeds", "echo careful >&2; printf x", "x", ""},
		{"one that fails behind its output", "printf x; exit 2", "x", "command exited with exit status 2"},
		{"garbage", `printf '\377\000\376'`, "\xff\x00\xfe", ""},
		{"one that reads gets nothing", "cat; printf end", "end", ""},
		{"a megabyte of complaints first", "head -c 1048576 /dev/zero >&2; printf '[]'", "[]", ""},
		{"both streams in turn", "for i in 1 2 3; do head -c 100000 /dev/zero >&2; printf $i; done", "123", ""},
		{"exactly what is allowed", "head -c 1048576 /dev/zero | tr '\\0' x", strings.Repeat("x", 1<<20), ""},
		{"one byte more", "head -c 1048577 /dev/zero | tr '\\0' x", strings.Repeat("x", 1<<20), "command stdout exceeds 1048576 byte limit"},
		{"a gigabyte", "head -c 1073741824 /dev/zero | tr '\\0' x", strings.Repeat("x", 1<<20), "command stdout exceeds 1048576 byte limit"},
		{"output without end", "yes x | tr -d '\\n'", strings.Repeat("x", 1<<20), "command stdout exceeds 1048576 byte limit"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, err := run(t, far, command.Options{Argv: shell(tc.script)})
			if got := fmt.Sprint(err); got != tc.err && (err != nil || tc.err != "") {
				t.Errorf("got error %s, want %s", got, tc.err)
			}
			if string(out.Stdout) != tc.out {
				t.Errorf("got %d bytes, %.40q, want %d, %.40q", len(out.Stdout), out.Stdout, len(tc.out), tc.out)
			}
			if len(out.Stderr) > command.MaxStderr {
				t.Errorf("%d bytes of standard error are kept", len(out.Stderr))
			}
		})
	}
}

func TestKindsOfErrors(t *testing.T) {
	var exit *command.ExitError
	if _, err := run(t, far, command.Options{Argv: shell("echo why >&2; exit 3")}); !errors.As(err, &exit) || exit.Status != "exit status 3" || exit.Stderr != "why" {
		t.Errorf("a program that fails: got %v", err)
	}
	var limit *command.LimitError
	if _, err := run(t, far, command.Options{Argv: shell("printf 123456"), MaxStdout: 5}); !errors.As(err, &limit) || limit.Limit != 5 {
		t.Errorf("a program that writes too much: got %v", err)
	}
	if _, err := run(t, soon, command.Options{Argv: []string{"sleep", "600"}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a program that hangs: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := command.Run(ctx, command.Options{Argv: shell("true"), MaxStdout: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that is called off before it begins: got %v", err)
	}
}

func TestWhatCannotBeStarted(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		argv []string
		want string
	}{
		{"nothing", nil, "no program is named"},
		{"an empty name", []string{"", "x"}, "no program is named"},
		{"a name that PATH does not have", []string{"no-such-program", "token=secret"}, `"no-such-program": executable file not found in $PATH`},
		{"a file that is no program", []string{plain, "token=secret"}, "permission denied"},
		{"a directory", []string{dir, "token=secret"}, "permission denied"},
		{"a path that is missing", []string{dir + "/no", "token=secret"}, "no such file or directory"},
	} {
		_, err := run(t, far, command.Options{Argv: tc.argv})
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
	}
}

func TestArgumentsAreNotExpanded(t *testing.T) {
	out, err := run(t, far, command.Options{Argv: []string{"printf", "%s|%s|%s", "$HOME", "a b", "*"}})
	if string(out.Stdout) != "$HOME|a b|*" || err != nil {
		t.Errorf("got %q, %v", out.Stdout, err)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("SLUICE_TEST_A", "1")
	t.Setenv("SLUICE_TEST_B", "2")
	const script = `printf %s "$SLUICE_TEST_A-$SLUICE_TEST_B-$SLUICE_TEST_C"`
	for _, tc := range []struct {
		name string
		env  []string
		want string
	}{
		{"all of it", nil, "1-2-"},
		{"an empty list of names", command.Environ(nil, os.LookupEnv), "--"},
		{"names", command.Environ([]string{"SLUICE_TEST_B", "SLUICE_TEST_C", "SLUICE_TEST_B"}, os.LookupEnv), "-2-"},
		{"names and more", append(command.Environ([]string{"SLUICE_TEST_B"}, os.LookupEnv), "SLUICE_TEST_C=3"), "-2-3"},
	} {
		if out, err := run(t, far, command.Options{Argv: shell(script), Env: tc.env}); string(out.Stdout) != tc.want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", tc.name, out.Stdout, err, tc.want)
		}
	}
	if got := command.Environ([]string{"A", "B", "A"}, func(name string) (string, bool) { return name + "!", name != "B" }); !slices.Equal(got, []string{"A=A!"}) {
		t.Errorf("got %q", got)
	}
}

func TestWorkingDirectory(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := run(t, far, command.Options{Argv: []string{"pwd"}, Dir: dir}); string(out.Stdout) != dir+"\n" || err != nil {
		t.Errorf("got %q, %v, want %q", out.Stdout, err, dir)
	}
}

// gone waits until a process has ended. One whose parent died is reaped by another.
func gone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(far); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		zombie := err == nil && strings.Contains(string(stat), ") Z ")
		if zombie || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return
		}
	}
	t.Errorf("process %d is left", pid)
}

// pids reads the numbers that a script has put into a file.
func pids(t *testing.T, file string) (all []int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range strings.Fields(string(text)) {
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}

func TestNobodyIsLeft(t *testing.T) {
	for _, tc := range []struct {
		name, script string // which writes the numbers of its processes to $F
		hangs        bool   // until it is called off
		out          string
		want         func(error) bool
	}{
		{
			"a program that hangs", `echo $$ >$F; exec sleep 600`, true, "",
			func(err error) bool { return errors.Is(err, context.Canceled) },
		},
		{
			"one that forks and hangs", `sleep 600 & echo $! $$ >$F; sleep 600`, true, "",
			func(err error) bool { return errors.Is(err, context.Canceled) },
		},
		{
			"one that asks not to be ended", `trap '' TERM INT HUP; echo $$ >$F; while :; do sleep 1; done`, true, "",
			func(err error) bool { return errors.Is(err, context.Canceled) },
		},
		{
			"one that writes without end, and its children", `sleep 600 & echo $! $$ >$F; yes`, false, strings.Repeat("y\n", 1<<19),
			func(err error) bool { var limit *command.LimitError; return errors.As(err, &limit) },
		},
		{
			"a child that holds the output when its parent has exited", `sleep 600 & echo $! $$ >$F; printf done`, false, "done",
			func(err error) bool { return err == nil },
		},
		{
			"a child that holds the complaints alone", `sleep 600 >/dev/null & echo $! $$ >$F; printf done`, false, "done",
			func(err error) bool { return err == nil },
		},
		{
			"a child that holds the output of a parent that failed", `sleep 600 & echo $! $$ >$F; exit 4`, false, "",
			func(err error) bool { var exit *command.ExitError; return errors.As(err, &exit) },
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pids")
			ctx, cancel := context.WithTimeout(t.Context(), far)
			defer cancel()
			if tc.hangs {
				go func() {
					for ctx.Err() == nil {
						if text, _ := os.ReadFile(file); strings.HasSuffix(string(text), "\n") {
							cancel()
						}
						time.Sleep(time.Millisecond)
					}
				}()
			}
			out, err := command.Run(ctx, command.Options{Argv: shell("F=" + file + "; " + tc.script), MaxStdout: 1 << 20})
			if !tc.want(err) || string(out.Stdout) != tc.out {
				t.Errorf("got %d bytes %.40q, %v", len(out.Stdout), out.Stdout, err)
			}
			for _, pid := range pids(t, file) {
				gone(t, pid)
			}
		})
	}
}

// However late the machine lets it.
func TestAChildMayWriteSoonAfterItsParentHasExited(t *testing.T) {
	command.SetGrace(t, far)
	gate := filepath.Join(t.TempDir(), "gate")
	// The end of the parent closes the pipe that the child waits at.
	out, err := run(t, 2*far, command.Options{Argv: shell("mkfifo " + gate + "; { read -r _; printf late; } <" + gate + " & exec 3>" + gate + "; printf done,")})
	if string(out.Stdout) != "done,late" || err != nil {
		t.Errorf("got %q, %v, want what both have written", out.Stdout, err)
	}
}

// A descendant that has left the group cannot be killed with it, but it cannot hold up the
// caller either.
func TestADescendantThatLeftTheGroupIsNotWaitedFor(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	out, err := run(t, far, command.Options{Argv: shell(`setsid sh -c 'echo $$ >` + file + `.new; mv ` + file + `.new ` + file + `; exec sleep 600' & while [ ! -e ` + file + ` ]; do sleep 0.01; done; printf done`)})
	if string(out.Stdout) != "done" || err != nil {
		t.Errorf("got %q, %v", out.Stdout, err)
	}
	for _, pid := range pids(t, file) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Errorf("process %d: %v", pid, err)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	const many = 16
	errs := make(chan error, many)
	for i := range many {
		go func() {
			out, err := command.Run(t.Context(), command.Options{Argv: shell(fmt.Sprintf("printf %d; exit %d", i, i%2)), MaxStdout: 10})
			if want := strconv.Itoa(i); string(out.Stdout) != want || (err != nil) != (i%2 == 1) {
				err = fmt.Errorf("run %d: got %q, %w", i, out.Stdout, err)
			} else {
				err = nil
			}
			errs <- err
		}()
	}
	for range many {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
