package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func named(title string) string { return strings.Replace(item("{a: b}"), "T", title, 1) }

func TestRoots(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"one/b.yml": named("b"), "one/a.yaml": named("a"), "one/sub/c.yml": named("c"), "one/sub.yml": named("sub"),
		"one/.hidden.yml": named("hidden"), "one/.git/d.yml": named("git"), "one/readme.md": "x", "one/e.YML": named("e"),
		"two/x.yml": named("x"), "two/rules.txt": named("text"),
	})
	for _, link := range [][2]string{{"..", "one/sub/loop"}, {"../two/x.yml", "one/z.yml"}, {"../two", "one/zz"}} {
		if err := os.Symlink(link[0], filepath.Join(dir, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	at := func(names ...string) []string {
		for i := range names {
			names[i] = filepath.Join(dir, names[i])
		}
		return names
	}
	for _, tc := range []struct {
		name  string
		roots []string
		want  []string
	}{
		{"byte order of paths, links followed, dots left out, nothing twice", at("one"), []string{"a", "b", "sub", "c", "x"}},
		{"roots in the order given; a link up is followed once", at("two/x.yml", "one/sub"), []string{"x", "c", "a", "b", "sub"}},
		{"an overlapping root adds nothing", at("one", "one/sub"), []string{"a", "b", "sub", "c", "x"}},
		{"a root inside comes first when given first", at("one/sub", "one"), []string{"c", "a", "b", "sub", "x"}},
		{"a file is read whatever its extension", at("two/rules.txt"), []string{"text"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := Load(t.Context(), tc.roots, Options{})
			if err != nil {
				t.Fatal(err)
			}
			wantTitles(t, c, tc.want...)
		})
	}
	if _, err := Load(t.Context(), at("one", "missing"), Options{}); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "missing")) {
		t.Errorf("got %v, want an error that names the missing root", err)
	}
	c, err := Load(t.Context(), at("one"), Options{})
	if err != nil || c.Rules[3].Origin.File != "sub/c.yml" {
		t.Errorf("one root: %v, file %q, want sub/c.yml", err, c.Rules[3].Origin.File)
	}
	c, err = Load(t.Context(), at("one", "two"), Options{})
	if want := filepath.Join(dir, "one") + "/sub/c.yml"; err != nil || c.Rules[3].Origin.File != want {
		t.Errorf("two roots: %v, file %q, want %s", err, c.Rules[3].Origin.File, want)
	}
}

func TestUnreadableFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.yml": named("a")})
	if err := os.Symlink("nowhere", filepath.Join(dir, "b.yml")); err != nil {
		t.Fatal(err)
	}
	c, err := Load(t.Context(), []string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	wantTitles(t, c, "a")
	wantReasons(t, c, "unreadable: no such file or directory")
	if r := c.Rejected[0]; r.File != "b.yml" || r.Document != 0 {
		t.Errorf("rejected %s document %d, want b.yml as a whole", r.File, r.Document)
	}
	// What never ends must not be read.
	device := filepath.Join(dir, "b.yml")
	if err := errors.Join(os.Remove(device), os.Symlink(os.DevNull, device)); err != nil {
		t.Fatal(err)
	}
	if c, err = Load(t.Context(), []string{dir}, Options{}); err != nil {
		t.Fatal(err)
	}
	wantTitles(t, c, "a")
	wantReasons(t, c, "unreadable: neither a regular file nor a directory")
	if _, err := Load(t.Context(), []string{os.DevNull}, Options{}); err == nil || !strings.Contains(err.Error(), os.DevNull) {
		t.Errorf("a device as root: %v, want an error that names it", err)
	}
}

// fading is a context that ends when it has been asked so many times.
type fading struct {
	context.Context
	left atomic.Int64
}

func (f *fading) Err() error {
	if f.left.Add(-1) < 0 {
		return context.Canceled
	}
	return f.Context.Err()
}

func TestALoadThatIsGivenUpEndsAtTheNextFile(t *testing.T) {
	const files = 20
	dir := t.TempDir()
	texts := map[string]string{}
	for i := range files {
		texts[fmt.Sprintf("%d/%d.yml", i/5, i)] = named(fmt.Sprint("n", i))
	}
	write(t, dir, texts)
	for asked := 0; ; asked++ {
		ctx := &fading{Context: t.Context()}
		ctx.left.Store(int64(asked))
		c, err := Load(ctx, []string{dir}, Options{})
		if errors.Is(err, context.Canceled) && c == nil {
			continue
		}
		if err != nil || len(c.Rules) != files {
			t.Fatalf("given up after %d questions: got %v, want what ended it", asked, err)
		}
		if asked < 2*files {
			t.Errorf("asked %d times, want before each of %d files, to find and to read it", asked, files)
		}
		return
	}
}

func TestReloadFailsOnNewlyRejectedDocuments(t *testing.T) {
	dir := t.TempDir()
	load := func() *Collection {
		t.Helper()
		c, err := Load(t.Context(), []string{dir}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	write(t, dir, map[string]string{"a.yml": named("A"), "b.yml": "detection: {s: {a: b}, condition: s}"})
	serving := load()
	if got := serving.Rejected; len(got) != 1 || got[0].File != "b.yml" || got[0].Document != 1 {
		t.Fatalf("rejected %+v, want document 1 of b.yml", got)
	}
	if got := load().NewlyRejected(serving); got != nil {
		t.Errorf("unchanged, but newly rejected %+v", got)
	}
	write(t, dir, map[string]string{"b.yml": "# a comment changes nothing\ndetection: {condition: s, s: {a: b}}"})
	if got := load().NewlyRejected(serving); got != nil {
		t.Errorf("the same content, but newly rejected %+v", got)
	}
	write(t, dir, map[string]string{"d.yml": item(`{C|re: '['}`)})
	if got := load().NewlyRejected(serving); len(got) != 1 || got[0].File != "d.yml" {
		t.Errorf("newly rejected %+v, want d.yml", got)
	}
	if err := os.Remove(filepath.Join(dir, "d.yml")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"b.yml": "detection: {s: {a: c}, condition: s}"})
	if got := load().NewlyRejected(serving); len(got) != 1 || got[0].File != "b.yml" {
		t.Errorf("newly rejected %+v, want the changed b.yml", got)
	}
}
