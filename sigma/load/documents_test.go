package load

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/packed"
)

// hard has a document of every kind and fault.
const hard = `action: global
level: high
---
` + "title: Kept\nid: kept\nstatus: odd\ndetection: {s: {a|contains: x, n: 123456789012345678901234567890}, condition: s}\nown: {list: [1, two, null]}\n" + `---
title: Dropped
id: dropped
detection: {s: {a: x}, condition: s}
---
title: Faulty
id: faulty
detection: {s: {a|re|contains: '['}, condition: s or t}
---
title: Count
correlation: {type: temporal, rules: [kept, faulty], timespan: 1h}
---
title: F
logsource: {}
filter: {rules: [kept], s: {U: admin}, condition: not s}
---
- no mapping
---
title: T
x: [
`

var excluding = Options{ExcludeRules: []string{"dropped", "nobody"}}

// read reads the rule files of a directory.
func read(tb testing.TB, dir string, o Options, known *Documents) *Documents {
	tb.Helper()
	found, err := Find(tb.Context(), []string{dir})
	if err != nil {
		tb.Fatal(err)
	}
	o.Now = time.Now()
	docs, err := Read(tb.Context(), found, o, known)
	if err != nil {
		tb.Fatal(err)
	}
	return docs
}

// sealed reads the rule files of a directory to keep their documents.
func sealed(tb testing.TB, dir string, o Options, known *Documents) *Documents {
	tb.Helper()
	docs := read(tb, dir, o, known)
	docs.Seal()
	return docs
}

// unpacked writes documents and reads them back.
func unpacked(tb testing.TB, docs *Documents) *Documents {
	tb.Helper()
	data, err := docs.Append(nil)
	if err != nil {
		tb.Fatal(err)
	}
	out, err := Unpack(string(data), docs.Files())
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// writeAt makes a file of some age.
func writeAt(tb testing.TB, dir, name, text string, at time.Time) {
	tb.Helper()
	name = filepath.Join(dir, name)
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
	if err := os.Chtimes(name, at, at); err != nil {
		tb.Fatal(err)
	}
}

func wantSame(t *testing.T, got, want *Documents) {
	t.Helper()
	for i, f := range want.files {
		if g := got.files[i]; !reflect.DeepEqual(g.File, f.File) || !reflect.DeepEqual(g.documents(), f.documents()) {
			t.Errorf("%s: the documents are others", f.Name)
		}
	}
	if !got.Same(want) {
		t.Error("the files are others")
	}
}

func TestDocumentsComeBackAsTheyWere(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "corpus"), sigmatest.RuleArchive(t)); err != nil {
		t.Fatal(err)
	}
	writeAt(t, dir, "hard.yml", hard, time.Now().Add(-time.Hour))
	if err := os.Symlink("nowhere", filepath.Join(dir, "gone.yml")); err != nil {
		t.Fatal(err)
	}
	docs := sealed(t, dir, excluding, nil)
	got := unpacked(t, docs)
	wantSame(t, got, docs)
	got.Seal()
	wantSame(t, got, docs)
	wantSame(t, unpacked(t, got), docs)
}

func TestDocumentsMayBeCollectedAgain(t *testing.T) {
	dir := t.TempDir()
	writeAt(t, dir, "hard.yml", hard, time.Now())
	docs := read(t, dir, excluding, nil)
	fresh := docs.Collect(excluding)
	docs.Seal()
	before := unpacked(t, docs)
	rewriting := excluding
	rewriting.Transform = func(r *ast.Rule) (*ast.Rule, Outcome, error) {
		out := *r
		out.Title, out.Logsource.Product = "rewritten", "p"
		return &out, Outcome{Applied: []string{"i"}}, nil
	}
	want := docs.Collect(excluding)
	wantReasons(t, want, "conflicting modifiers", "unknown detection identifier: t", "carries that name and is rejected", "must be a mapping", "invalid YAML")
	if !reflect.DeepEqual(fresh, want) {
		t.Errorf("before they were sealed: got %+v, want %+v", fresh, want)
	}
	if got := docs.Collect(rewriting); got.Rules[0].Title != "rewritten" || len(got.Rules[0].Filters) != 1 {
		t.Errorf("got %+v, want the rule rewritten", got.Rules[0])
	}
	if got := docs.Collect(excluding); !reflect.DeepEqual(got, want) {
		t.Errorf("collected again: got %+v, want %+v", got, want)
	}
	wantSame(t, docs, before)
}

func TestOnlyChangedFilesAreParsedAgain(t *testing.T) {
	dir, hourAgo := t.TempDir(), time.Now().Add(-time.Hour)
	for _, name := range []string{"a.yml", "b.yml", "c.yml", "d.yml"} {
		writeAt(t, dir, name, named(name), hourAgo)
	}
	first := sealed(t, dir, Options{}, nil)
	if again := sealed(t, dir, Options{}, first); !again.Same(first) {
		t.Error("files that nobody changed are others")
	}
	writeAt(t, dir, "b.yml", named("other"), hourAgo)
	writeAt(t, dir, "c.yml", named("c.yml"), time.Now()) // touched
	writeAt(t, dir, "aa.yml", named("aa.yml"), hourAgo)
	if err := os.Remove(filepath.Join(dir, "d.yml")); err != nil {
		t.Fatal(err)
	}
	next := sealed(t, dir, Options{}, first)
	if next.Same(first) {
		t.Error("files that were changed are the same")
	}
	was := first.byPath()
	for _, f := range next.files {
		before := was[f.Path]
		kept := before != nil && &before.docs[0] == &f.docs[0]
		if want := f.Name == "a.yml" || f.Name == "c.yml"; kept != want {
			t.Errorf("%s: documents taken over %v, want %v", f.Name, kept, want)
		}
	}
	if got := next.Collect(Options{}).Rules; len(got) != 4 || got[1].Title != "aa.yml" || got[2].Title != "other" {
		t.Errorf("got %d rules, want a.yml, aa.yml, other and c.yml", len(got))
	}
}

// A file that was written a moment ago may be written again without its time
// saying so.
func TestAYoungFileIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	look := func(known []File) ([]File, bool) {
		t.Helper()
		found, err := Find(t.Context(), []string{dir})
		if err != nil {
			t.Fatal(err)
		}
		files, read, err := Survey(t.Context(), found, known, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return files, read
	}
	writeAt(t, dir, "a.yml", "one", time.Now())
	first, _ := look([]File{{}})
	writeAt(t, dir, "a.yml", "two", time.Now().Add(-time.Hour))
	second, read := look(first)
	if !read || first[0].Same(&second[0]) {
		t.Error("the change was not seen")
	}
	if _, read := look(second); runtime.GOOS == "linux" && read {
		t.Error("a file that has been left alone is read again")
	}
}

func TestDamagedDocumentsAreRefused(t *testing.T) {
	dir := t.TempDir()
	writeAt(t, dir, "hard.yml", hard, time.Now())
	docs := sealed(t, dir, Options{}, nil)
	data, err := docs.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := range data {
		if _, err := Unpack(string(data[:n]), docs.Files()); !errors.Is(err, packed.ErrDamaged) {
			t.Fatalf("the first %d of %d bytes: %v, want ErrDamaged", n, len(data), err)
		}
	}
}

func BenchmarkUnpack(b *testing.B) {
	dir := b.TempDir()
	corpus, err := fs.Sub(sigmatest.RuleArchive(b), "rules")
	if err == nil {
		err = os.CopyFS(filepath.Join(dir, "rules"), corpus)
	}
	if err != nil {
		b.Fatal(err)
	}
	docs := sealed(b, dir, Options{}, nil)
	raw, err := docs.Append(nil)
	if err != nil {
		b.Fatal(err)
	}
	data, files := string(raw), docs.Files()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Unpack(data, files); err != nil {
			b.Fatal(err)
		}
	}
}

func TestWhatATemplateMultipliesIsNotWrittenOut(t *testing.T) {
	dir := t.TempDir()
	write := func(collections, values, documents int) *Documents {
		one := "action: global\ndetection: {s: {a: [" + strings.Repeat("'some value', ", values) + "x]}, condition: s}\n" + strings.Repeat("---\ntitle: T\n", documents)
		text := strings.Repeat(one+"---\naction: reset\n---\n", collections)
		if err := os.WriteFile(filepath.Join(dir, "r.yml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := Find(t.Context(), []string{dir})
		if err != nil {
			t.Fatal(err)
		}
		docs, err := Read(t.Context(), found, Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		docs.Seal()
		return docs
	}
	if _, err := write(1, 2000, 20).Append(nil); err != nil {
		t.Errorf("a few documents: %v", err)
	}
	if data, err := write(500, 20, 10).Append(nil); err != nil || len(data) > maxWritten {
		t.Errorf("many small collections: %d bytes, %v", len(data), err)
	}
	if data, err := write(1, 2000, 5000).Append(nil); err == nil || !strings.Contains(err.Error(), "r.yml") {
		t.Errorf("%d bytes are written, error %v, want one that names the file", len(data), err)
	}
}
