package watch

import (
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// watchedTree is a directory of rules under watch.
type watchedTree struct {
	t       *testing.T
	dir     string // holds the root "rules" and places to move things to
	reasons chan string
	last    string // reason that was wanted
}

func newWatchedTree(t *testing.T) *watchedTree {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &watchedTree{t: t, dir: dir, reasons: make(chan string, 64)}
}

// watch watches to the end of the test.
func (w *watchedTree) watch(paths ...string) {
	w.t.Helper()
	watching, err := New(func() []string { return paths }, func(_ []string, reason string) { w.reasons <- reason }, slog.New(slog.DiscardHandler))
	if err != nil {
		w.t.Skipf("files cannot be watched here: %v", err)
	}
	w.t.Cleanup(watching.Close)
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

func (w *watchedTree) chmod(name string, mode os.FileMode) {
	w.t.Helper()
	if err := os.Chmod(w.path(name), mode); err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
}

// readByMode makes permissions count in tests that run as root, too: what its owner may
// not read cannot be read.
func readByMode(t *testing.T) {
	t.Helper()
	before := readable
	readable = func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || info.Mode()&0o400 != 0
	}
	t.Cleanup(func() { readable = before })
}

func (w *watchedTree) link(to, name string) {
	w.t.Helper()
	if err := os.Symlink(to, w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *watchedTree) remove(name string) {
	w.t.Helper()
	if err := os.RemoveAll(w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

// want waits for a trigger with this reason. One change may have several triggers, so
// those like the one before it are passed over.
func (w *watchedTree) want(reason string) {
	w.t.Helper()
	for {
		select {
		case got := <-w.reasons:
			got = strings.Replace(got, w.dir+string(filepath.Separator), "", 1)
			if got != w.last && got != reason {
				w.t.Fatalf("the trigger is %q, want %q", got, reason)
			}
			w.last = got
			if got == reason {
				return
			}
		case <-time.After(2 * time.Minute):
			w.t.Fatalf("no trigger came, want %q", reason)
		}
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
		{"a single file of any name", func(w *watchedTree) { w.write("pipes/tls.crt") }, "file pipes/tls.crt"},
		{"no other file", func(w *watchedTree) { w.write("rules/README.md"); w.write("rules/z.yml") }, "file rules/z.yml"},
		{"no hidden file", func(w *watchedTree) { w.write("rules/.b.yml.swp"); w.write("rules/.b.yml"); w.write("rules/z.yml") }, "file rules/z.yml"},
		{"no hidden directory", func(w *watchedTree) { w.write("new/d.yml"); w.rename("new", "rules/.new"); w.write("rules/z.yml") }, "file rules/z.yml"},
		{"no neighbour of a single file", func(w *watchedTree) { w.write("pipes/other.yml"); w.write("rules/z.yml") }, "file rules/z.yml"},
		{"a file that may be read now", func(w *watchedTree) { w.chmod("rules/closed.yml", 0o600) }, "file rules/closed.yml"},
		{"a file that was closed for a while", func(w *watchedTree) {
			w.chmod("rules/a.yml", 0)
			w.write("rules/mark.yml")
			w.want("file rules/mark.yml")
			w.chmod("rules/a.yml", 0o600)
		}, "file rules/a.yml"},
		{"a new file that nobody may read yet", func(w *watchedTree) {
			w.write("new")
			w.chmod("new", 0)
			w.rename("new", "rules/new.yml")
			w.want("file rules/new.yml")
			w.write("rules/mark.yml")
			w.want("file rules/mark.yml")
			w.chmod("rules/new.yml", 0o600)
		}, "file rules/new.yml"},
		{"a single file that may be read now", func(w *watchedTree) { w.chmod("pipes/closed.yml", 0o600) }, "file pipes/closed.yml"},
		{"a directory that may be read now", func(w *watchedTree) { w.chmod("rules/shut", 0o700) }, "directory rules/shut"},
		{"permissions of what could be read no more than before", func(w *watchedTree) {
			w.chmod("rules/a.yml", 0o640)
			w.chmod("rules/sub", 0o750)
			w.chmod("rules", 0o750)
			w.chmod("rules/closed.yml", 0o040)
			w.write("rules/z.yml")
		}, "file rules/z.yml"},
		{"no permissions", func(w *watchedTree) { _ = os.Chmod(w.path("rules/a.yml"), 0o600); w.write("rules/z.yml") }, "file rules/z.yml"},
	} {
		t.Run("watches "+tc.name, func(t *testing.T) {
			w := newWatchedTree(t)
			w.write("rules/a.yml")
			w.write("rules/sub/b.yml")
			w.write("pipes/p.yml")
			readByMode(t)
			w.write("rules/closed.yml")
			w.chmod("rules/closed.yml", 0)
			w.write("pipes/closed.yml")
			w.chmod("pipes/closed.yml", 0)
			w.write("rules/shut/s.yml")
			w.chmod("rules/shut", 0o300)
			t.Cleanup(func() { w.chmod("rules/shut", 0o700) })
			t.Chdir(w.dir)
			w.watch("rules/", "./pipes/p.yml", "pipes/tls.crt", "pipes/closed.yml")
			tc.change(w)
			w.want(tc.want)
		})
	}
}

func TestADirectoryThatTookAnothersPlaceIsWatched(t *testing.T) {
	w := newWatchedTree(t)
	w.write("rules/sub/a.yml")
	w.write("new/a.yml")
	w.watch(w.path("rules"))
	w.rename("rules", "old")
	w.want("directory rules")
	w.rename("new", "rules")
	w.want("directory rules")
	w.write("rules/b.yml")
	w.want("file rules/b.yml")
}

// What leads to a root or a file may be replaced without a change in it.
func TestWhatPathsLeadToIsWatched(t *testing.T) {
	for _, tc := range []struct {
		name   string
		path   string
		build  func(*watchedTree)
		change func(*watchedTree)
		first  string // trigger of the change
		file   string // that is loaded from then on
		old    string // that is not any more
	}{
		{
			"a root that is replaced much later", "rules",
			func(w *watchedTree) { w.write("rules/a.yml"); w.write("new/sub/a.yml") },
			func(w *watchedTree) { w.rename("rules", "old"); w.want("directory rules"); w.rename("new", "rules") },
			"directory rules", "rules/sub/a.yml", "old/a.yml",
		},
		{
			"a root that goes and comes with what holds it", "conf/rules",
			func(w *watchedTree) { w.write("conf/rules/a.yml"); w.write("new/rules/a.yml") },
			func(w *watchedTree) {
				w.rename("conf/rules", "old")
				w.want("directory conf/rules")
				w.rename("conf", "empty")
				w.want("directory conf")
				w.rename("new", "conf")
			},
			"directory conf", "conf/rules/a.yml", "old/a.yml",
		},
		{
			"a root that is a link", "rules",
			func(w *watchedTree) { w.write("v1/a.yml"); w.write("v2/a.yml"); w.link("v1", "rules") },
			func(w *watchedTree) { w.link("v2", "link"); w.rename("link", "rules") },
			"directory rules", "v2/a.yml", "v1/a.yml",
		},
		{
			"a root that is a link to a link elsewhere", "rules",
			func(w *watchedTree) {
				w.write("far/v1/a.yml")
				w.write("far/v2/a.yml")
				w.link("v1", "far/current")
				w.link("far/current", "rules")
			},
			func(w *watchedTree) { w.link("v2", "link"); w.rename("link", "far/current") },
			"directory far/current", "far/v2/a.yml", "far/v1/a.yml",
		},
		{
			"a link on the way to a root", "current/rules",
			func(w *watchedTree) { w.write("v1/rules/a.yml"); w.write("v2/rules/a.yml"); w.link("v1", "current") },
			func(w *watchedTree) { w.remove("current"); w.want("file current"); w.link("v2", "current") },
			"directory current", "v2/rules/a.yml", "v1/rules/a.yml",
		},
		{
			"a root that is a link to nothing for a while", "rules",
			func(w *watchedTree) { w.write("v1/a.yml"); w.write("new/a.yml"); w.link("v1", "rules") },
			func(w *watchedTree) {
				w.link("v2", "link")
				w.rename("link", "rules")
				w.want("file rules")
				w.rename("new", "v2")
			},
			"directory v2", "v2/a.yml", "v1/a.yml",
		},
		{
			"a link below a root to a link elsewhere", "rules",
			func(w *watchedTree) {
				w.write("rules/a.yml")
				w.write("far/v1/a.yml")
				w.write("far/v2/a.yml")
				w.link("v1", "far/current")
				w.link("../far/current", "rules/more")
			},
			func(w *watchedTree) { w.link("v2", "link"); w.rename("link", "far/current") },
			"directory far/current", "far/v2/a.yml", "far/v1/a.yml",
		},
		{
			"a file that is a link", "p.yml",
			func(w *watchedTree) { w.write("v1/p.yml"); w.write("v2/p.yml"); w.link("v1/p.yml", "p.yml") },
			func(w *watchedTree) { w.link("v2/p.yml", "link"); w.rename("link", "p.yml") },
			"file p.yml", "v2/p.yml", "v1/p.yml",
		},
		{
			"a link on the way to a file", "current/p.yml",
			func(w *watchedTree) { w.write("v1/p.yml"); w.write("v2/p.yml"); w.link("v1", "current") },
			func(w *watchedTree) { w.link("v2", "link"); w.rename("link", "current") },
			"directory current", "v2/p.yml", "v1/p.yml",
		},
	} {
		t.Run("watches "+tc.name, func(t *testing.T) {
			w := newWatchedTree(t)
			tc.build(w)
			w.write("z/z.yml")
			w.watch(w.path(tc.path), w.path("z"))
			tc.change(w)
			w.want(tc.first)
			w.write(tc.old)
			w.write("z/z.yml") // shows that what came before it was passed over
			w.want("file z/z.yml")
			w.write(tc.file)
			w.want("file " + tc.file)
		})
	}
}

func TestLinksInCirclesAreNotFollowedForEver(t *testing.T) {
	w := newWatchedTree(t)
	w.write("rules/a.yml")
	w.link("b", "a")
	w.link("a", "b")
	w.link("..", "rules/up")
	w.watch(w.path("rules"), w.path("a"))
	w.write("rules/b.yml")
	w.want("file rules/b.yml")
}

func TestWhatLeadsToAPath(t *testing.T) {
	w := newWatchedTree(t)
	w.write("v1/p.yml")
	w.link("v1", "current")
	w.link("current/p.yml", "p.yml")
	for _, tc := range []struct {
		name, path string
		want       []string
	}{
		{"a file", "v1/p.yml", []string{"v1/p.yml"}},
		{"a file behind links", "p.yml", []string{"current", "p.yml", "v1/p.yml"}},
		{"a name that is missing", "v1/no.yml", []string{"v1/no.yml"}},
		{"a directory that is missing", "no/p.yml", []string{"no"}},
	} {
		want := make(map[string][]string)
		for _, name := range tc.want {
			want[w.path(name)] = []string{w.path(tc.path)}
		}
		if got := resolve([]string{w.path(tc.path)}).names; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, want %q", tc.name, got, want)
		}
	}
}

// A change comes with the given paths that it concerns, and no others.
func TestWhichPathsAChangeConcerns(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(w *watchedTree)
		want   string // the paths of the first change
	}{
		{"a file", func(w *watchedTree) { w.write("b") }, "b"},
		{"a file behind a link", func(w *watchedTree) { w.write("v1/a") }, "data/a"},
		{"a link on the way", func(w *watchedTree) { w.link("v2", "link"); w.rename("link", "data") }, "data/a"},
		{"a link that becomes a directory", func(w *watchedTree) { w.write("new/a"); w.remove("data"); w.rename("new", "data") }, "data/a"},
		{"a neighbour, and then a file", func(w *watchedTree) { w.write("v1/other"); w.write("b") }, "b"},
		{"a directory that comes late", func(w *watchedTree) { w.write("new/where/f"); w.rename("new", "no") }, "no/where/f"},
		{"a file that goes", func(w *watchedTree) { w.remove("b") }, "b"},
		{"a directory that goes", func(w *watchedTree) { w.rename("tree/sub", "old") }, "tree tree/sub tree/sub/x.yml"},
		{"a YAML file of a directory within another", func(w *watchedTree) { w.write("tree/sub/y.yml") }, "tree tree/sub"},
		{"a YAML file of one directory", func(w *watchedTree) { w.write("tree/y.yml") }, "tree"},
		{"a volume that is exchanged", func(w *watchedTree) { w.link("v2", "link"); w.rename("link", "volume/..data") }, "volume/f"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWatchedTree(t)
			for _, name := range []string{"v1/a", "v2/a", "b", "tree/x.yml", "tree/sub/x.yml", "volume/f"} {
				w.write(name)
			}
			w.link("v1", "data")
			var paths []string
			for _, name := range []string{"data/a", "b", "no/where/f", "tree", "tree/sub", "tree/sub/x.yml", "volume/f"} {
				paths = append(paths, w.path(name))
			}
			changes := make(chan []string, 64)
			watching, err := New(func() []string { return paths }, func(given []string, _ string) { changes <- given }, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Skipf("files cannot be watched here: %v", err)
			}
			t.Cleanup(watching.Close)
			tc.change(w)
			got := strings.ReplaceAll(strings.Join(<-changes, " "), w.dir+string(filepath.Separator), "")
			if got != tc.want {
				t.Errorf("concerns %q, want %q", got, tc.want)
			}
		})
	}
}
