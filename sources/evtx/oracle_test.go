package evtx

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sources/evtx/evtxtest"
)

// other returns the interpreter that has another reader of the format: the one that the
// environment names, else python3.
func other(t *testing.T) string {
	t.Helper()
	name := os.Getenv("SLUICE_EVTX_PYTHON")
	if name == "" {
		name = "python3"
	}
	ok := exec.Command(name, "-c", "import evtx").Run() == nil
	sigmatest.Need(t, ok, name+" has no other reader of event logs to compare with: install the Python package evtx, and name the interpreter in SLUICE_EVTX_PYTHON")
	return name
}

// rendered returns what the other reader makes of a file, a line for each record.
func rendered(t *testing.T, python, path string) []string {
	t.Helper()
	out, err := exec.Command(python, "testdata/render.py", path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

func writeLog(t *testing.T, file []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.evtx")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Where a shape says that it differs, it must, so that the list of differences stays true.
func TestAnotherReaderRendersTheSame(t *testing.T) {
	python := other(t)
	l := evtxtest.New()
	for _, s := range shapes {
		l.Add(when, &s.record, s.values...)
	}
	ours, _ := readAll(t, l.Bytes())
	theirs := rendered(t, python, writeLog(t, l.Bytes()))
	if len(ours) != len(shapes) || len(theirs) != len(shapes) {
		t.Fatalf("%d shapes, %d records, the other reader has %d", len(shapes), len(ours), len(theirs))
	}
	for i, s := range shapes {
		if same := ours[i] == theirs[i]; same != (s.differs == "") {
			t.Errorf("%s: differs is %q\nours   %s\ntheirs %s", s.name, s.differs, ours[i], theirs[i])
		}
	}
}

// Real files are not part of the project: whoever has some names their directory.
func TestAnotherReaderRendersRealFilesTheSame(t *testing.T) {
	dir := os.Getenv("SLUICE_EVTX_FILES")
	if dir == "" {
		t.Skip("SLUICE_EVTX_FILES names no directory of .evtx files")
	}
	python := other(t)
	paths, err := filepath.Glob(filepath.Join(dir, "*.evtx"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no .evtx file in %s: %v", dir, err)
	}
	records := 0
	for _, path := range paths {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		ours, faults := readAll(t, file)
		theirs := rendered(t, python, path)
		records += len(ours)
		if len(ours) != len(theirs) || len(faults) > 0 {
			t.Errorf("%s: %d records, the other reader has %d; faults %v", path, len(ours), len(theirs), faults)
			continue
		}
		for i := range ours {
			if ours[i] != theirs[i] {
				t.Errorf("%s record %d\nours   %s\ntheirs %s", path, i+1, ours[i], theirs[i])
				break
			}
		}
	}
	t.Logf("%d files, %d records", len(paths), records)
}
