package acceptance

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Whatever can be written into a record stands on the page about records, which makes up
// no keys of its own.
func TestThePageAboutRecordsIsComplete(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, "docs", "records.md"))
	if err != nil {
		t.Fatal(err)
	}
	sections := make(map[string]string)
	for _, part := range strings.Split(string(raw), "\n## ")[1:] {
		title, text, _ := strings.Cut(part, "\n")
		sections[title] = outsideFences(text)
	}
	results := writtenKeys(t, "sigma/result", "sigma/correlation/result.go", "sigma/correlation/internal/program")
	letters := writtenKeys(t, "actors/sink/deadletter.go")
	fields := syslogFields(t)
	d := startIn(t, root, "-r", "examples/demo/rules", "--input", "http")
	status := slices.Sorted(maps.Keys(d.get("/api/v1/status").json(t)))
	for _, tc := range []struct {
		sections []string
		keys     []string // that are written
		other    []string // that are not, and may stand there
	}{
		{[]string{"Detections", "Correlation results"}, results, nil},
		{[]string{"Findings of OCSF"}, writtenKeys(t, "graph/ocsf"), nil},
		{[]string{"Dead letters"}, letters, nil},
		{[]string{"Status"}, status, []string{"reload_pending", "last_reload", "inputs"}},
		{[]string{"Fields of lines that are not JSON"}, fields, nil},
	} {
		var text string
		for _, s := range tc.sections {
			if sections[s] == "" {
				t.Errorf("there is no section %q", s)
			}
			text += sections[s]
		}
		if len(tc.keys) < 5 {
			t.Errorf("%q: only the keys %q were found in the code", tc.sections, tc.keys)
		}
		for _, key := range tc.keys {
			if !strings.Contains(text, "`"+key+"`") {
				t.Errorf("%q: the key %s is missing", tc.sections, key)
			}
		}
		for _, row := range firstCells.FindAllStringSubmatch(text, -1) {
			for _, m := range marked.FindAllStringSubmatch(row[1], -1) {
				if !slices.Contains(tc.keys, m[1]) && !slices.Contains(tc.other, m[1]) && tc.sections[0] != "Fields of lines that are not JSON" {
					t.Errorf("%q: nothing writes the key %s", tc.sections, m[1])
				}
			}
		}
	}
}

var (
	memberKey  = regexp.MustCompile(`[{,]"([a-z_]+)":`)
	firstCells = regexp.MustCompile("(?m)^\\| (`[^|]+) \\|")
	marked     = regexp.MustCompile("`([^`]+)`")
)

// writtenKeys are the keys of objects in the texts that code writes. Places are files,
// or directories of them.
func writtenKeys(t *testing.T, places ...string) []string {
	t.Helper()
	keys := make(map[string]bool)
	for _, place := range places {
		files := []string{filepath.Join(root, place)}
		if !strings.HasSuffix(place, ".go") {
			var err error
			if files, err = filepath.Glob(filepath.Join(root, place, "*.go")); err != nil || len(files) == 0 {
				t.Fatalf("%s: no files, %v", place, err)
			}
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					text, err := strconv.Unquote(lit.Value)
					if err != nil {
						t.Fatal(err)
					}
					for _, m := range memberKey.FindAllStringSubmatch(text, -1) {
						keys[m[1]] = true
					}
				}
				return true
			})
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// syslogFields are the fields of lines that have every part there is.
func syslogFields(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "k.yml", "title: K\ndetection: {w: [evil], condition: w}\n")
	keys := make(map[string]bool)
	for line, format := range map[string]string{
		`<165>1 2026-03-01T10:00:00.003Z gw1 sshd 991 ID47 - evil`:            "syslog",
		`<165>1 2026-03-01T10:00:00.003Z gw1 sshd 991 ID47 - {"user":"evil"}`: "syslog",
		`CEF:0|Acme|Gate|1.2|100|evil|7|`:                                     "cef",
	} {
		got := sluice(t, line+"\n", "engine", "eval", "-r", filepath.Join(dir, "k.yml"), "--input-format", format, "--include-event")
		var r struct{ Event map[string]any }
		if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
			t.Fatalf("%s: %v\n%s%s", line, err, got.stdout, got.stderr)
		}
		for key := range r.Event {
			keys[key] = true
		}
	}
	delete(keys, "user")
	return slices.Sorted(maps.Keys(keys))
}
