package sources

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sources/fetch"
)

func TestWhichSourcesAChangeConcerns(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(path(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(id, name string) *entry {
		return &entry{Declaration: declared(id, func(d *fetch.Declaration) { d.Path = path(name) })}
	}
	watched := []*entry{at("a", "a"), at("same", "a"), at("b", "b"), at("gone", "c")}
	for _, tc := range []struct {
		name    string
		changed []string
		want    string
	}{
		{"a file", []string{path("b")}, "b"},
		{"a file of two sources", []string{path("a")}, "a same"},
		{"a file that was removed", []string{path("c")}, ""},
		{"anything", []string{path("a"), path("b"), path("c")}, "a same b"},
		{"a file of no source", []string{path("d")}, ""},
	} {
		var got []string
		for _, e := range concerned(watched, tc.changed) {
			got = append(got, e.ID)
		}
		if ids := strings.Join(got, " "); ids != tc.want {
			t.Errorf("%s: concerns %q, want %q", tc.name, ids, tc.want)
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
