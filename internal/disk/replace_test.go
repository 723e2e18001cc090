package disk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFileIsReplacedWithItsMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, tc := range []struct {
		name, content string
		mode          os.FileMode
	}{
		{"a file that was not there", "one", 0o600},
		{"other content", "two", 0o600},
		{"another mode", "two", 0o640},
		{"less than before", "", 0o600},
	} {
		if err := Replace(path, []byte(tc.content), tc.mode); err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != tc.content {
			t.Errorf("%s: got %q, %v, want %q", tc.name, got, err, tc.content)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != tc.mode && filepath.Separator == '/' {
			t.Errorf("%s: got %v, %v, want mode %v", tc.name, info.Mode(), err, tc.mode)
		}
	}
	if err := Replace(filepath.Dir(path), nil, 0o600); err == nil {
		t.Error("a directory was replaced")
	}
	gone := filepath.Join(filepath.Dir(path), "gone", "f")
	if err := Replace(gone, nil, 0o600); err == nil || !strings.Contains(err.Error(), gone+":") {
		t.Errorf("a directory that is not there: got %v, want an error of %s", err, gone)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("%d files are left, %v, want the one", len(entries), err)
	}
}

func TestDirectoriesAreMadeWithWhatLeadsToThem(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, path string
		ok         bool
	}{
		{"one with two above it", "a/b/c", true},
		{"one that is there", "a/b", true},
		{"one beside it", "a/b/d/", true},
		{"the working directory", ".", true},
		{"below a file", "file/a", false},
	} {
		if err := MakeDirectory(tc.path, 0o755); (err == nil) != tc.ok {
			t.Errorf("%s: got %v", tc.name, err)
		}
		if info, err := os.Stat(tc.path); tc.ok && (err != nil || !info.IsDir()) {
			t.Errorf("%s: is not there: %v", tc.name, err)
		}
	}
}
