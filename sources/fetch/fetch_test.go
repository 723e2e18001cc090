package fetch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicehq/sluice/sources/fetch"
)

func TestSourcesOfFiles(t *testing.T) {
	dir := t.TempDir()
	good := write(t, "good.json", "\xef\xbb\xbf[1, 2]")
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, path, keys, want, err string }{
		{"a file", good, "", "[1,2]", ""},
		{"a file of as many bytes as there may be", good, "max_body_size: 9", "[1,2]", ""},
		{"one of more", good, "max_body_size: 8", "", "ResourceLimit|resource limit exceeded: " + good + " exceeds 8 byte limit"},
		{"a file without end", "/dev/zero", "", "", "Fetch|fetch failed: failed to read /dev/zero: it is no regular file"},
		{"a file that does not tell its size", "/proc/self/status", "max_body_size: 10", "", "ResourceLimit|"},
		{"a file that is missing", filepath.Join(dir, "no"), "", "", "Fetch|fetch failed: failed to read " + filepath.Join(dir, "no") + ": no such file or directory"},
		{"a directory", dir, "", "", "Fetch|fetch failed: failed to read " + dir + ": it is a directory"},
		{"a named pipe", fifo, "", "", "Fetch|it is no regular file"},
		{"another format", good, "format: lines", `["[1, 2]"]`, ""},
		{"what the format is not", good, "format: csv", "[]", ""},
		{"what is no JSON", write(t, "bad", "{"), "", "", "Parse|parse failed: invalid JSON: unexpected end of JSON input (line 1)"},
	} {
		if !strings.HasPrefix(tc.keys, "format") {
			tc.keys = strings.TrimPrefix(tc.keys+", format: json", ", ")
		}
		got, err := get(t, fmt.Sprintf("{id: a, type: file, path: %q, %s}", tc.path, tc.keys))
		if got != tc.want || !fails(t, err, tc.err) {
			t.Errorf("%s: got %s, %v, want %s, %s", tc.name, got, err, tc.want, tc.err)
		}
	}
}

func TestRelativePathsBeginInTheWorkingDirectory(t *testing.T) {
	t.Chdir(filepath.Dir(write(t, "here.json", "5")))
	if got, err := get(t, "{id: a, type: file, path: here.json, format: json}"); got != "5" || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestAFileThatIsReplacedAsKubernetesDoes(t *testing.T) {
	dir := t.TempDir()
	swap := func(version string) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(dir, version), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, version, "list"), []byte(version), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(version, filepath.Join(dir, "new")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	swap("v1")
	if err := os.Symlink("..data/list", filepath.Join(dir, "list")); err != nil {
		t.Fatal(err)
	}
	c, _ := client(t, fetch.Options{})
	d := declared(t, fmt.Sprintf("{id: a, type: file, path: %q, format: lines}", filepath.Join(dir, "list")))
	for _, version := range []string{"v1", "v2", "v3"} {
		if version != "v1" {
			swap(version)
		}
		if v, err := c.Fetch(t.Context(), d, nil); string(v.JSON) != `["`+version+`"]` || err != nil {
			t.Errorf("got %s, %v, want %s", v.JSON, err, version)
		}
	}
}

const sample = `{"i":[{"ip":"x","s":9},{"ip":"y","s":2}]}`

func TestExpressions(t *testing.T) {
	path := write(t, "j", sample)
	for _, tc := range []struct{ name, extract, want, err string }{
		{"jq with several outputs", `".i[].ip"`, `["x","y"]`, ""},
		{"jq with one output", `{expr: ".i[0].s"}`, `9`, ""},
		{"JSONPath with one node", `{expr: "$.i[0].ip", type: jsonpath}`, `"x"`, ""},
		{"JSONPath with several nodes", `{expr: "$.i[*].ip", type: jsonpath}`, `["x","y"]`, ""},
		{"CEL", `{expr: "data.i.filter(e, e.s > 7).map(e, e.ip)", type: cel}`, `["x"]`, ""},
		{"null", `.missing`, "", "Extract|extract failed: extract expression produced no data"},
		{"no output", `".i[] | select(.s > 50)"`, "", "Extract|extract failed: extract expression produced no data"},
		{"no node", `{expr: "$.missing", type: jsonpath}`, "", "Extract|extract expression produced no data"},
		{"null in CEL", `{expr: "null", type: cel}`, "", "Extract|extract expression produced no data"},
		{"an empty array is data", `"[.i[] | select(.s > 50)]"`, `[]`, ""},
		{"an empty object is data", `"{}"`, `{}`, ""},
		{"false is data", `"false"`, `false`, ""},
		{"halt", `halt`, "", "Extract|extract failed: "},
		{"what asks for more input", `input`, "", "Extract|"},
		{"the environment", `$ENV`, "", "Extract|"},
		{"what is no jq", `".["`, "", "Extract|"},
		{"what is no JSONPath", `{expr: "i", type: jsonpath}`, "", "Extract|"},
		{"CEL of the wrong type", `{expr: "1 + 'a'", type: cel}`, "", "Extract|"},
		{"what fails", `".i + 1"`, "", "Extract|"},
		{"what is larger than it may be", `'"x" * 1000000 as $x | [range(100)] | map($x)'`, "", "ResourceLimit|resource limit exceeded: "},
	} {
		got, err := get(t, fmt.Sprintf("{id: a, type: file, path: %q, format: json, extract: %s}", path, tc.extract))
		if got != tc.want || !fails(t, err, tc.err) {
			t.Errorf("%s: got %.200s, %.500v, want %s, %s", tc.name, got, err, tc.want, tc.err)
		}
	}
}

func TestSourcesOfCommands(t *testing.T) {
	t.Setenv("SLUICE_TEST_TOKEN", "hidden")
	for _, tc := range []struct{ name, argv, keys, want, err string }{
		{"a program", `[printf, "[1, 2]"]`, "", "[1,2]", ""},
		{"one that exits with a code", `[sh, -c, "exit 3"]`, "", "", "Fetch|fetch failed: command exited with exit status 3"},
		{"one that would steer a terminal", `[sh, -c, "printf 'a\\033[31mRED\\rb\\342\\200\\250\\nc' >&2; exit 3"]`, "", "", "Fetch|fetch failed: command exited with exit status 3: a\uFFFD[31mRED\uFFFDb\uFFFD\nc"},
		{"one that says why", `[sh, -c, "echo no feed >&2; exit 3"]`, "", "", "Fetch|fetch failed: command exited with exit status 3: no feed"},
		{"one that a signal ends", `[sh, -c, "kill -9 $$"]`, "", "", "Fetch|fetch failed: command exited with signal: killed"},
		{"one that hangs with a child", `[sh, -c, "sleep 60 & sleep 60"]`, "timeout: 100ms", "", "Timeout|timed out"},
		{"an expression that does not end", `[printf, "1"]`, `timeout: 100ms, extract: "def f: f; f"`, "", "Timeout|timed out"},
		{"one that writes too much", `[sh, -c, "head -c 200 /dev/zero"]`, "max_stdout: 100", "", "ResourceLimit|resource limit exceeded: command stdout exceeds 100 byte limit"},
		{"one that writes a gigabyte", `[sh, -c, "head -c 1073741824 /dev/zero"]`, "", "", "ResourceLimit|resource limit exceeded: command stdout exceeds 10485760 byte limit"},
		{"a megabyte of complaints first", `[sh, -c, "head -c 1048576 /dev/zero >&2; printf '[]'"]`, "", "[]", ""},
		{"garbage", `[sh, -c, "printf '\\377\\000'"]`, "", "", "Parse|parse failed: not UTF-8 (line 1)"},
		{"nothing", `["true"]`, "", "", "Parse|unexpected end of JSON input"},
		{"the environment is inherited", `[sh, -c, 'printf "\"$SLUICE_TEST_TOKEN\""']`, "", `"hidden"`, ""},
		{"nothing to read", `[cat]`, "format: lines", "[]", ""},
		{"arguments are not expanded", `[printf, '"%s"', "$SLUICE_TEST_TOKEN"]`, "", `"$SLUICE_TEST_TOKEN"`, ""},
		{"a program that is not there", `[no-such-program, --token=secret]`, "", "", `Fetch|fetch failed: exec: "no-such-program": executable file not found in $PATH`},
		{"a text is no shell command", `"printf 5"`, "", "", `Fetch|exec: "printf 5": executable file not found in $PATH`},
	} {
		if !strings.HasPrefix(tc.keys, "format") {
			tc.keys = strings.TrimPrefix(tc.keys+", format: json", ", ")
		}
		got, err := get(t, fmt.Sprintf("{id: a, type: command, command: %s, %s}", tc.argv, tc.keys))
		if got != tc.want || !fails(t, err, tc.err) || strings.Contains(fmt.Sprint(err), "secret") {
			t.Errorf("%s: got %s, %v, want %s, %s", tc.name, got, err, tc.want, tc.err)
		}
	}
}

func TestWhatASuccessfulCommandComplainsOfIsLogged(t *testing.T) {
	c, log := client(t, fetch.Options{})
	d := declared(t, `{id: a, type: command, command: [sh, -c, "echo careful >&2; echo 5", secret], format: json}`)
	if v, err := c.Fetch(t.Context(), d, nil); string(v.JSON) != "5" || err != nil {
		t.Fatalf("got %s, %v", v.JSON, err)
	}
	if got := log.String(); !strings.Contains(got, `level=DEBUG msg="the command wrote to standard error" source=a command=sh stderr=careful`) || strings.Contains(got, "secret") {
		t.Errorf("logged %s", got)
	}
}

func TestAFetchThatIsCalledOff(t *testing.T) {
	c, _ := client(t, fetch.Options{})
	started := filepath.Join(t.TempDir(), "started")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for {
			if _, err := os.Stat(started); err == nil {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	_, err := c.Fetch(ctx, declared(t, fmt.Sprintf(`{id: a, type: command, command: [sh, -c, "echo >%s; sleep 600"], format: json}`, started)), nil)
	if !fails(t, err, "Fetch|fetch failed: it was called off") || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestValuesOfManyAtOnce(t *testing.T) {
	c, _ := client(t, fetch.Options{})
	d := declared(t, fmt.Sprintf("{id: a, type: file, path: %q, format: json, extract: '.i | map(.s) | add'}", write(t, "j", sample)))
	errs := make(chan error, 32)
	for range cap(errs) {
		go func() {
			v, err := c.Fetch(t.Context(), d, nil)
			if err == nil && string(v.JSON) != "11" {
				err = errors.New(string(v.JSON))
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func TestALargeList(t *testing.T) {
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, "10.%d.%d.%d\n", i>>16, i>>8&255, i&255)
	}
	got, err := get(t, fmt.Sprintf("{id: a, type: file, path: %q, format: lines}", write(t, "list", b.String())))
	var list []string
	if err != nil || json.Unmarshal([]byte(got), &list) != nil || len(list) != 100_000 || list[99_999] != "10.1.134.159" {
		t.Errorf("got %d entries, %v", len(list), err)
	}
}
