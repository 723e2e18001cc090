package ruleset

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

func TestFilesOfProblemsCanBeOpened(t *testing.T) {
	dir := t.TempDir()
	const broken = "title: B\n"
	for _, name := range []string{"rules/deep/b.yml", "rules/b.yml", "other/b.yml", "here/x.yml"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(broken), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("rules", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(dir, "here"))
	for _, tc := range []struct {
		name  string
		roots []string
		want  []string
	}{
		{"a directory", []string{"../rules"}, []string{"../rules/b.yml", "../rules/deep/b.yml"}},
		{"a directory with a slash at its end", []string{"../rules/"}, []string{"../rules/b.yml", "../rules/deep/b.yml"}},
		{"an absolute directory", []string{filepath.Join(dir, "other")}, []string{filepath.Join(dir, "other/b.yml")}},
		{"the working directory", []string{"."}, []string{"x.yml"}},
		{"a file", []string{"../rules/deep/b.yml"}, []string{"../rules/deep/b.yml"}},
		{"a link to a directory", []string{"../link"}, []string{"../link/b.yml", "../link/deep/b.yml"}},
		{"several roots", []string{"../other", "../rules/deep"}, []string{"../other/b.yml", "../rules/deep/b.yml"}},
		{"a directory and a file", []string{"../other", "../rules/b.yml"}, []string{"../other/b.yml", "../rules/b.yml"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rules, err := Load(context.Background(), Options{Roots: tc.roots})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range rules.Problems() {
				place := Placed(rules.Roots, p).File
				if _, err := os.Stat(place); err != nil {
					t.Error(err)
				}
				if len(got) == 0 || got[len(got)-1] != place {
					got = append(got, place)
				}
			}
			if len(got) != len(tc.want) {
				t.Fatalf("got %q, want %q", got, tc.want)
			}
			for i := range got {
				if got[i] != tc.want[i] {
					t.Errorf("got %q, want %q", got[i], tc.want[i])
				}
			}
		})
	}
}
