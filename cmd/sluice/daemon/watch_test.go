package daemon

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// watchedTree is a directory of rules under watch.
type watchedTree struct {
	t       *testing.T
	dir     string // holds the root "rules" and places to move things to
	reasons chan string
}

func (w *watchedTree) path(name string) string { return filepath.Join(w.dir, name) }

func (w *watchedTree) write(name string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte("title: x\n"), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *watchedTree) rename(from, to string) {
	w.t.Helper()
	if err := os.Rename(w.path(from), w.path(to)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *watchedTree) link(to, name string) {
	w.t.Helper()
	if err := os.Symlink(to, w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

// next is the reason of the next trigger, relative to the tree.
func (w *watchedTree) next() string {
	w.t.Helper()
	select {
	case reason := <-w.reasons:
		return reason
	case <-time.After(2 * time.Minute):
		w.t.Fatal("no trigger came")
		return ""
	}
}

func TestWhatIsLoadedIsWatched(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*watchedTree)
		want   string
	}{
		{"a new file", func(w *watchedTree) { w.write("rules/b.yml") }, "file rules/b.yml"},
		{"a file below", func(w *watchedTree) { w.write("rules/sub/b.yaml") }, "file rules/sub/b.yaml"},
		{"a file that is gone", func(w *watchedTree) { w.rename("rules/a.yml", "away") }, "file rules/a.yml"},
		{"a file that came by a rename", func(w *watchedTree) { w.write("new"); w.rename("new", "rules/c.yml") }, "file rules/c.yml"},
		{"a new directory", func(w *watchedTree) { w.write("new/d.yml"); w.rename("new", "rules/new") }, "directory rules/new"},
		{"a directory that is moved away", func(w *watchedTree) { w.rename("rules/sub", "away") }, "directory rules/sub"},
		{"a root that is moved away", func(w *watchedTree) { w.rename("rules", "away") }, "directory rules"},
		{"the swap of a mounted volume", func(w *watchedTree) { w.link("sub", "link"); w.rename("link", "rules/..data") }, "file rules/..data"},
		{"a single file by its name", func(w *watchedTree) { w.write("pipes/p.yml") }, "file pipes/p.yml"},
		// What comes first in these is nothing of ours, and what follows shows that it was passed over.
		{"no other file", func(w *watchedTree) { w.write("rules/README.md"); w.write("rules/z.yml") }, "file rules/z.yml"},
		{"no hidden file", func(w *watchedTree) { w.write("rules/.b.yml.swp"); w.write("rules/.b.yml"); w.write("rules/z.yml") }, "file rules/z.yml"},
		{"no hidden directory", func(w *watchedTree) { w.write("new/d.yml"); w.rename("new", "rules/.new"); w.write("rules/z.yml") }, "file rules/z.yml"},
		{"no neighbour of a single file", func(w *watchedTree) { w.write("pipes/other.yml"); w.write("rules/z.yml") }, "file rules/z.yml"},
		{"no permissions", func(w *watchedTree) { _ = os.Chmod(w.path("rules/a.yml"), 0o600); w.write("rules/z.yml") }, "file rules/z.yml"},
	} {
		t.Run("watches "+tc.name, func(t *testing.T) {
			w := &watchedTree{t: t, dir: t.TempDir(), reasons: make(chan string, 64)}
			w.write("rules/a.yml")
			w.write("rules/sub/b.yml")
			w.write("pipes/p.yml")
			t.Chdir(w.dir)
			watching, err := watch([]string{"rules/"}, []string{"./pipes/p.yml"}, func(reason string) { w.reasons <- reason }, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Skipf("files cannot be watched here: %v", err)
			}
			defer watching.close()
			tc.change(w)
			if got := w.next(); got != tc.want {
				t.Errorf("the first trigger is %q, want %q", got, tc.want)
			}
		})
	}
}

func TestADirectoryThatTookAnothersPlaceIsWatched(t *testing.T) {
	w := &watchedTree{t: t, dir: t.TempDir(), reasons: make(chan string, 64)}
	w.write("rules/sub/a.yml")
	w.write("new/a.yml")
	watching, err := watch([]string{w.path("rules")}, nil, func(reason string) { w.reasons <- reason }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Skipf("files cannot be watched here: %v", err)
	}
	defer watching.close()
	w.rename("rules", "old")
	w.next()
	w.rename("new", "rules")
	watching.sync() // as every pass does
	w.write("rules/b.yml")
	if got, want := w.next(), "file "+w.path("rules/b.yml"); got != want {
		t.Errorf("the trigger is %q, want %q", got, want)
	}
}
