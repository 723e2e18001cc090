package command

import (
	"bytes"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// outcome is what a run of the program left behind.
type outcome struct {
	code     int
	out, err string
}

// sluice runs the program in this process.
func sluice(t *testing.T, stdin string, args ...string) outcome {
	t.Helper()
	return sluiceWith(t, Program{}, stdin, args...)
}

func sluiceWith(t *testing.T, p Program, stdin string, args ...string) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	code := p.Run(nil, append([]string{"sluice"}, args...), strings.NewReader(stdin), &out, &errs)
	return outcome{code, out.String(), errs.String()}
}

// inEmptyDir runs the rest of the test in a directory of its own, without any
// configuration around it.
func inEmptyDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "xdg"))
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "SLUICE_") || strings.HasPrefix(name, "NATS_") || strings.HasPrefix(name, "KAFKA_") {
			t.Setenv(name, "") // restores it afterwards
			if err := os.Unsetenv(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// wantGolden compares with testdata/name.golden.
func wantGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join(packageDir(t), "testdata", name+".golden")
	if *update {
		write(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s\nwant:\n%s", name, got, want)
	}
}

// home is the package's directory, which tests leave for one of their own.
var home, _ = os.Getwd()

func packageDir(t *testing.T) string {
	t.Helper()
	return home
}

func (o outcome) wantCode(t *testing.T, want int) {
	t.Helper()
	if o.code != want {
		t.Errorf("exit code %d, want %d; stderr:\n%s", o.code, want, o.err)
	}
}

func (o outcome) wantErr(t *testing.T, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(o.err, p) {
			t.Errorf("stderr lacks %q:\n%s", p, o.err)
		}
	}
}

func TestCommandLineFaultsEndWithCodeThree(t *testing.T) {
	inEmptyDir(t)
	for _, tc := range []struct {
		name string
		args []string
		want string
	}{
		{"an unknown command", []string{"engin"}, `unknown command "engin", did you mean "engine"?`},
		{"an unknown command below a group", []string{"config", "shwo", "--for", "daemon"}, `did you mean "show"?`},
		{"an unknown flag", []string{"daemon", "--rule", "x"}, "unknown flag --rule, did you mean --rules?"},
		{"a flag without its value", []string{"daemon", "--rules"}, "flag needs an argument"},
		{"a wrong word", []string{"engine", "status", "--output-format", "xml"}, `--output-format: "xml" is not allowed (json, ndjson, table, csv, tsv)`},
		{"a wrong log level", []string{"engine", "status", "--log-level", "loud"}, `--log-level: "loud" is not allowed`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := sluice(t, "", tc.args...)
			got.wantCode(t, 3)
			got.wantErr(t, tc.want)
			if got.out != "" {
				t.Errorf("stdout got %q, want nothing", got.out)
			}
		})
	}
}

func TestFlagsMayStandAnywhere(t *testing.T) {
	inEmptyDir(t)
	for _, args := range [][]string{
		{"engine", "daemon", "--dry-run", "--rules", "r", "--syslog-tz", "-05:00"},
		{"--dry-run", "engine", "--rules", "r", "daemon", "--syslog-tz=-05:00"},
		{"daemon", "-r=r", "--syslog-tz", "-05:00", "-dry-run"},
	} {
		got := sluice(t, "", args...)
		got.wantCode(t, 0)
		if !strings.Contains(got.out, "- r\n") || !strings.Contains(got.out, `syslog_tz: "-05:00"`) {
			t.Errorf("%q did not understand its flags:\n%s", args, got.out)
		}
	}
}

func TestListsAreNotSplitAtCommas(t *testing.T) {
	inEmptyDir(t)
	got := sluice(t, "", "daemon", "--dry-run", "-r", "a,b", "--rules", "c", "--output", "stdout?a=1,2")
	got.wantCode(t, 0)
	for _, want := range []string{"rules:\n    - a,b\n    - c\n  ", "- stdout?a=1,2\n"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("dry run lacks %q:\n%s", want, got.out)
		}
	}
}

// Each command's help is in a golden file, with examples.
func TestHelp(t *testing.T) {
	inEmptyDir(t)
	check := func(path ...string) {
		got := sluice(t, "", append(path, "--help")...)
		got.wantCode(t, 0)
		wantGolden(t, strings.Join(append([]string{"help"}, path...), "-"), got.out)
		_, after, found := strings.Cut(got.out, "\nExamples:\n  sluice ")
		if !found || !strings.HasPrefix("sluice "+after, "sluice "+strings.Join(path, " ")) && len(path) > 1 {
			t.Errorf("the help of %q has no example of it", path)
		}
	}
	check()
	for _, c := range (&env{}).app().Commands {
		check(c.Name)
		for _, sub := range c.Subcommands {
			check(c.Name, sub.Name)
		}
	}
}

// No line of help is wider than the terminal, and none lacks a word. Flags and examples
// stay whole.
func TestHelpFitsIntoTheTerminal(t *testing.T) {
	words := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	whole := leafHelp((&env{}).daemonCommand(), helpWidth)
	for _, columns := range []int{helpLeast, 60, 69, 70, 80, 100, helpWidth} {
		got := leafHelp((&env{}).daemonCommand(), columns)
		if words(got) != words(whole) {
			t.Errorf("%d columns: other words", columns)
		}
		for line := range strings.Lines(got) {
			line = strings.TrimRight(line, "\n")
			if n := len(line); n > columns && len(strings.Fields(line)) > 3 {
				t.Errorf("%d columns: a line of %d: %s", columns, n, line)
			}
		}
	}
}

func TestVersionIsPrintedEitherWay(t *testing.T) {
	inEmptyDir(t)
	for _, args := range [][]string{{"version"}, {"--version"}} {
		got := sluice(t, "", args...)
		got.wantCode(t, 0)
		if !strings.HasPrefix(got.out, "sluice ") {
			t.Errorf("%q printed %q", args, got.out)
		}
	}
}

func TestAProductThatCannotBeWrittenIsAFault(t *testing.T) {
	inEmptyDir(t)
	write(t, "r/a.yml", goodRule)
	for _, line := range []string{
		"version", "version --output-format json", "config show", "config show --format yaml", "config show --format json",
		"config path", "config schema", "config openapi", "rule validate r", "rule validate r --output-format json", "rule validate r --output-format table",
		"rule fields -r r", "rule fields -r r --output-format csv", "rule parse r/a.yml", "rule condition a", "eval -r r --dry-run",
		"pipeline list", "pipeline list --output-format table", "pipeline show sysmon", "pipeline show windows_evtx",
	} {
		var errs strings.Builder
		code := Run(nil, append([]string{"sluice"}, strings.Fields(line)...), strings.NewReader(""), brokenPipe{}, &errs)
		if code != 3 || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%s: exit code %d with %q", line, code, errs.String())
		}
		errs.Reset()
		code = Run(nil, append([]string{"sluice"}, strings.Fields(line)...), strings.NewReader(""), closedPipe{}, &errs)
		if code != 141 || strings.Contains(errs.String(), "pipe") {
			t.Errorf("%s into a closed pipe: exit code %d with %q", line, code, errs.String())
		}
	}
}

// A connection that is cut off is a fault of what it leads to, not the end of a pipe.
func TestACutConnectionIsNoClosedPipe(t *testing.T) {
	err := configFault(fmt.Errorf("GET /x: %w", &net.OpError{Op: "write", Err: os.NewSyscallError("write", syscall.EPIPE)}))
	if code, text := codeOf(err); code != exitConfig || text == "" {
		t.Errorf("exit code %d with %q, want %d and the error", code, text, exitConfig)
	}
}

func TestCommandsNameTheFormatTheyDoNotHave(t *testing.T) {
	inEmptyDir(t)
	write(t, "r/a.yml", goodRule)
	for line, want := range map[string]string{
		"version --output-format table":                        "warning: version has no table output, it prints text\n",
		"config schema --output-format csv":                    "warning: config schema has no csv output, it prints JSON\n",
		"config show --for doc --output-format tsv":            "warning: config show has no tsv output, it prints text\n",
		"rule condition a --output-format table":               "warning: rule condition has no table output, it prints JSON\n",
		"rule parse r/a.yml --output-format table":             "warning: rule parse has no table output, it prints JSON\n",
		"version --output-format json":                         "",
		"config schema --output-format json":                   "",
		"config openapi --output-format csv":                   "warning: config openapi has no csv output, it prints JSON\n",
		"config openapi --output-format json":                  "",
		"rule condition a --output-format table --quiet":       "",
		"version --quiet --output-format table":                "",
		"rule fields -r r --output-format csv":                 "",
		"config show --for doc --output-format tsv --no-stats": "warning: config show has no tsv output, it prints text\n",
	} {
		got := sluice(t, "", strings.Fields(line)...)
		got.wantCode(t, 0)
		if got.err != want {
			t.Errorf("%s: stderr got %q, want %q", line, got.err, want)
		}
	}
}
