package disk

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWhatADiskWouldRefuseIsFound(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, target := range map[string]string{
		"to-a-file-to-be": "new.ndjson", "to-no-directory": at("none/new.ndjson"), "to-nothing": at("none"),
		"to-itself": "to-itself", "to-a-link": "to-no-directory",
	} {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Skip("no symlinks here:", err)
		}
	}
	if err := os.WriteFile(at("file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name  string
		check func(string) error
		path  string
		ok    bool
	}{
		{"a file that is there can be written", CheckFile, "file", true},
		{"a file in a directory that is there can be made", CheckFile, "new", true},
		{"a directory is no file", CheckFile, "", false},
		{"a file needs its directory", CheckFile, "none/new", false},
		{"a file can be made behind a symlink", CheckFile, "to-a-file-to-be", true},
		{"but not when its directory is missing there", CheckFile, "to-no-directory", false},
		{"nor behind two symlinks", CheckFile, "to-a-link", false},
		{"nor behind one that leads to itself", CheckFile, "to-itself", false},
		{"a directory can be made with all that leads to it", CheckDirectory, "a/b/c", true},
		{"a file is no directory", CheckDirectory, "file", false},
		{"no directory is made where a symlink leads nowhere", CheckDirectory, "to-nothing", false},
		{"nor below it", CheckDirectory, "to-nothing/state", false},
	} {
		if err := tc.check(at(tc.path)); (err == nil) != tc.ok {
			t.Errorf("%s: got %v", tc.name, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 6 {
		t.Errorf("%d entries, %v: want the 6 there were", len(entries), err)
	}
}
