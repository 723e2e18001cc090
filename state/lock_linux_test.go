package state

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// Between fork and exec a child has every file of its parent.
func TestADirectoryIsFreeAlthoughAChildIsBeingStarted(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	release, err := hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	inherited := -1
	names, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if to, err := os.Readlink(name); err == nil && to == dir {
			fd, err := strconv.Atoi(filepath.Base(name))
			if err != nil {
				t.Fatal(err)
			}
			if inherited, err = unix.Dup(fd); err != nil {
				t.Fatal(err)
			}
			defer unix.Close(inherited)
			break
		}
	}
	if inherited < 0 {
		t.Fatalf("no descriptor of %s among %v", dir, names)
	}
	release()
	release, err = hold(dir)
	if err != nil {
		t.Fatalf("hold again: %v, want nil", err)
	}
	release()
}
