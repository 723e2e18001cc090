package sources

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/sluicehq/sluice/sources/fetch"
)

// What the watching says of single changes is told by concerned, which knows the sources.
func TestWhichSourcesAChangeConcerns(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(path("v1"), 0o755))
	must(os.WriteFile(path("v1/a"), nil, 0o600))
	must(os.WriteFile(path("b"), nil, 0o600))
	must(os.Symlink("v1", path("data")))
	at := func(name string) func(*fetch.Declaration) {
		return func(d *fetch.Declaration) { d.Path, d.Refresh = path(name), fetch.Refresh{Policy: fetch.Watch} }
	}
	s := spawnless([]*fetch.Declaration{declared("a", at("data/a")), declared("b", at("b")), declared("late", at("no/where/f")), declared("once")})
	t.Cleanup(s.cancel)
	s.watch()
	if s.watcher == nil {
		t.Skip("files cannot be watched here")
	}
	s.watcher.Close()
	for _, tc := range []struct {
		name, changed string
		before        func()
		want          string
	}{
		{"a file", "b", nil, "b"},
		{"a file behind a link", "v1/a", nil, "a"},
		{"a link on the way", "data", nil, "a"},
		{"a neighbour", "v1/other", nil, ""},
		{"a directory that came late", "no", func() { must(os.MkdirAll(path("no/where"), 0o755)); must(os.WriteFile(path("no/where/f"), nil, 0o600)) }, "late"},
		{"anything", "", nil, "a b late"},
		{"a link that became a directory", "data", func() {
			must(os.Remove(path("data")))
			must(os.Mkdir(path("data"), 0o755))
			must(os.WriteFile(path("data/a"), nil, 0o600))
		}, "a"},
		{"a file that was removed", "b", func() { must(os.Remove(path("b"))) }, ""},
	} {
		if tc.before != nil {
			tc.before()
		}
		changed := tc.changed
		if changed != "" {
			changed = path(changed)
		}
		got := ""
		for _, e := range s.files.concerned(changed) {
			if got != "" {
				got += " "
			}
			got += e.ID
		}
		if got != tc.want {
			t.Errorf("%s: concerns %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestNothingIsWatchedWithoutNeed(t *testing.T) {
	s := New(Options{Declarations: manyDeclared(3), Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(s.cancel)
	s.watch()
	if s.watcher != nil {
		t.Error("files are watched that no source wants watched")
	}
}
