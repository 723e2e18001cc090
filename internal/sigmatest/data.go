// Package sigmatest reads the corpus, which is not part of the repository, for tests and
// benchmarks, finds the tools of the machine, and measures rates.
package sigmatest

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// DataDir returns the directory of the corpus: the environment's SLUICE_DATA,
// else ../shared/data beside the repository. The test is skipped without one.
func DataDir(tb testing.TB) string {
	tb.Helper()
	dir, err := FindData()
	if err != nil {
		tb.Skipf("no corpus: %v", err)
	}
	return dir
}

// FindData is DataDir for programs.
func FindData() (string, error) {
	if dir := os.Getenv("SLUICE_DATA"); dir != "" {
		_, err := os.Stat(dir)
		return dir, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			data := filepath.Join(filepath.Dir(dir), "shared", "data")
			_, err := os.Stat(data)
			return data, err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("set SLUICE_DATA: no go.mod above the working directory")
		}
		dir = parent
	}
}

// RuleArchive returns the rule files of the corpus: the directories rules,
// rules-placeholder and rules-compliance.
func RuleArchive(tb testing.TB) fs.FS {
	tb.Helper()
	archive, err := ReadRuleArchive(DataDir(tb))
	check(tb, err)
	return archive
}

// RuleDir writes one directory of the rule archive to disk and returns its path.
func RuleDir(tb testing.TB, name string) string {
	tb.Helper()
	sub, err := fs.Sub(RuleArchive(tb), name)
	check(tb, err)
	dir := filepath.Join(tb.TempDir(), name)
	check(tb, os.CopyFS(dir, sub))
	return dir
}

// ReadRuleArchive is RuleArchive for programs.
func ReadRuleArchive(dir string) (fs.FS, error) {
	f, err := os.Open(filepath.Join(dir, "sigmahq-rules.tar.gz"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	out := fstest.MapFS{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", f.Name(), err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", f.Name(), err)
		}
		out[strings.TrimPrefix(h.Name, "./")] = &fstest.MapFile{Data: data, Mode: 0o644}
	}
}

// Telemetry is the lane of real events, the others are generated.
const Telemetry = "windows-attack-telemetry"

// Lanes lists the lanes that expected hits speak of.
func Lanes() []string {
	return []string{"raw_windows", "structured_windows", "sysmon_file_event", "cisco_syslog", Telemetry}
}

// Lane returns the lines of a lane.
func Lane(tb testing.TB, name string) [][]byte {
	tb.Helper()
	lines, err := ReadLane(DataDir(tb), name)
	check(tb, err)
	return lines
}

// ReadLane is Lane for programs. The lines share one array.
func ReadLane(dir, name string) ([][]byte, error) {
	path := filepath.Join(dir, "lanes", name+".ndjson.gz")
	if name == Telemetry {
		path = filepath.Join(dir, name+".ndjson.gz")
	}
	return readLines(path)
}

func readLines(path string) ([][]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")), nil
}

// Hits is one row of the expected hits: on how many events of a lane a rule
// fires. Routed rows hold under logsource routing.
type Hits struct {
	Lane   string
	Routed bool
	RuleID string
	Count  int
}

// ExpectedHits reads what the whole of rules/ finds in the lanes.
func ExpectedHits(tb testing.TB) []Hits {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(DataDir(tb), "expected-hits.tsv"))
	check(tb, err)
	var out []Hits
	for row := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSpace(row), "\t")
		if len(f) != 4 || f[0] == "lane" {
			continue
		}
		n, err := strconv.Atoi(f[3])
		check(tb, err)
		out = append(out, Hits{f[0], f[1] == "routed", f[2], n})
	}
	return out
}

// Regression is a published case: the rule fires on at least one of the events
// in Raw.
type Regression struct {
	RuleID string `json:"rule_id"`
	Case   string `json:"case"`
	File   string `json:"file"`
	Raw    string `json:"raw"`
}

// Regressions reads the published cases.
func Regressions(tb testing.TB) []Regression {
	tb.Helper()
	lines, err := readLines(filepath.Join(DataDir(tb), "sigmahq-regression.ndjson.gz"))
	check(tb, err)
	out := make([]Regression, len(lines))
	for i, line := range lines {
		check(tb, json.Unmarshal(line, &out[i]))
	}
	return out
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
