package migrate_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/cmd/sluice/migrate"
	"github.com/sluicehq/sluice/sigma/pipeline"
)

// place puts files into a directory of the test and returns their paths.
func place(t *testing.T, dir string, files map[string]string) (paths []string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// whole is a pipeline with about everything that a block may have.
const whole = `# pipeline of the team
name: a   # the name

# feeds of the team
# kept by ana
sources: # of all kinds
  # first
  - id: feed      # the id
    type: http
    url: "https://example.com/feed"   # where
    headers:
      # secret
      Authorization: 'Bearer ${TOKEN}'
      X-B: "2"
      X-A: 1
    extract:
      expr: |
        .items[]
        | .ip
      type: jq
    # after extract

  # second
  - type: command
    format: lines
    command: [sh, -c, "echo # x"]
    id: cmd
    default: {b: 1, a: [~, 0x10, 1.50, "no"]}
  # last words
# about vars
vars:
  bad:   "${source.feed}"   # kept


transformations: []
`

const wholeSources = `sources:
  # feeds of the team
  # kept by ana
  # of all kinds
  # first
  - id: feed # the id
    type: http
    format: json
    url: "https://example.com/feed" # where
    headers:
      # secret
      Authorization: 'Bearer ${TOKEN}'
      X-B: "2"
      X-A: 1
    extract:
      expr: |
        .items[]
        | .ip
      type: jq
    # after extract
  # second
  - type: command
    format: lines
    command: [sh, -c, "echo # x"]
    id: cmd
    default: {b: 1, a: [~, 0x10, 1.50, "no"]}
    # last words
`

const wholeRest = `# pipeline of the team
name: a   # the name

# about vars
vars:
  bad:   "${source.feed}"   # kept


transformations: []
`

func TestSourcesMoveToAFile(t *testing.T) {
	for _, tc := range []struct{ name, pipeline, sources, rest string }{
		{"comments, order, style and nested mappings survive", whole, wholeSources, wholeRest},
		{
			"the block is the first key, and what stands at the top is about the pipeline",
			"# Copyright\nsources:\n  - id: a\n    type: file\n    path: a.json\nname: x\n",
			"sources:\n  - id: a\n    type: file\n    format: json\n    path: a.json\n",
			"# Copyright\nname: x\n",
		},
		{
			"the block is the last key",
			"name: x\n\nsources:\n  - {id: a, type: file, format: yaml, path: a.yml}\n\n# the end\n",
			"sources:\n  - {id: a, type: file, format: yaml, path: a.yml}\n",
			"name: x\n\n# the end\n",
		},
		{
			"a list that is not indented",
			"name: x\nsources:\n- id: a\n  type: file\n  path: a.json\n- id: b\n  path: |-\n    # b\n  type: file\nvars: {}\n",
			"sources:\n  - id: a\n    type: file\n    format: json\n    path: a.json\n  - id: b\n    path: |-\n      # b\n    type: file\n    format: json\n",
			"name: x\nvars: {}\n",
		},
		{
			"the first key is not the id, and the id is quoted",
			"name: x\nsources:\n  - type: file\n    path: a.json\n    'id': \"a\"\n",
			"sources:\n  - type: file\n    format: json\n    path: a.json\n    'id': \"a\"\n",
			"name: x\n",
		},
		{
			"a source without a type has its format at the end",
			"name: x\nsources:\n  - id: a\n    path: a.json\n",
			"sources:\n  - id: a\n    path: a.json\n    format: json\n",
			"name: x\n",
		},
		{
			"the block on one line",
			"name: x\nsources: [{id: a, type: file, path: a.json}]\nvars: {}\n",
			"sources:\n  - {id: a, type: file, format: json, path: a.json}\n",
			"name: x\nvars: {}\n",
		},
		{
			"a pipeline on one line",
			"{name: x, sources: [{id: a, type: file, path: a.json}], vars: {a: 'b'}}\n",
			"sources:\n  - {id: a, type: file, format: json, path: a.json}\n",
			"{name: x, vars: {a: 'b'}}\n",
		},
		{
			"a pipeline of nothing but sources",
			"# feeds\nsources:\n  - {id: a, type: file, path: a.json}\n",
			"sources:\n  - {id: a, type: file, format: json, path: a.json}\n",
			"# feeds\n{}\n",
		},
		{
			"anchors in the block",
			"name: x\nsources:\n  - &a {id: a, type: file, path: a.json}\n  - {<<: *a, id: b}\n",
			"sources:\n  - &a {id: a, type: file, format: json, path: a.json}\n  - {<<: *a, id: b, format: json}\n",
			"name: x\n",
		},
		{
			"a format that is merged is not missing",
			"name: x\nsources:\n  - &a {id: a, type: file, format: lines, path: a.json}\n  - {<<: *a, id: b}\n",
			"sources:\n  - &a {id: a, type: file, format: lines, path: a.json}\n  - {<<: *a, id: b}\n",
			"name: x\n",
		},
		{
			"an anchor of the part that stays",
			"name: x\nx-headers: &h\n  A: '1'\nsources:\n  - id: a\n    type: http\n    headers: *h\n    url: http://h/\nvars: {}\n",
			"sources:\n  - id: a\n    type: http\n    format: json\n    headers:\n      A: '1'\n    url: http://h/\n",
			"name: x\nx-headers: &h\n  A: '1'\nvars: {}\n",
		},
		{
			"a long text stays on its line",
			"name: x\nsources:\n  - id: a\n    type: http\n    url: https://example.com/" + strings.Repeat("abcdefghij/", 30) + "\n    body: word " + strings.Repeat("word ", 60) + "end\n",
			"sources:\n  - id: a\n    type: http\n    format: json\n    url: https://example.com/" + strings.Repeat("abcdefghij/", 30) + "\n    body: word " + strings.Repeat("word ", 60) + "end\n",
			"name: x\n",
		},
		{
			"a document with its marks and lines that end with CR LF",
			"---\r\nname: x\r\nsources:\r\n  - id: a\r\n    type: file\r\n    path: a.json\r\nvars: {}\r\n...\r\n",
			"sources:\n  - id: a\n    type: file\n    format: json\n    path: a.json\n",
			"---\r\nname: x\r\nvars: {}\r\n...\r\n",
		},
		{
			"a mark behind the block",
			"name: x\nsources:\n  - {id: a, type: file, path: a.json}\n...\n",
			"sources:\n  - {id: a, type: file, format: json, path: a.json}\n",
			"name: x\n...\n",
		},
		{
			"no line end at the end",
			"name: x\nsources:\n  - {id: a, type: file, path: a.json}",
			"sources:\n  - {id: a, type: file, format: json, path: a.json}\n",
			"name: x\n",
		},
		{
			"a byte order mark",
			"\ufeffsources:\n  - {id: a, type: file, path: a.json}\nname: x\n",
			"sources:\n  - {id: a, type: file, format: json, path: a.json}\n",
			"name: x\n",
		},
		{
			"a name of another alphabet",
			"name: x\nsources:\n  - {id: a, type: file, path: \"données/été.json\"} # café\nvars: {}\n",
			"sources:\n  - {id: a, type: file, format: json, path: \"données/été.json\"} # café\n",
			"name: x\nvars: {}\n",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			paths := place(t, dir, map[string]string{"p.yml": tc.pipeline})
			set, err := migrate.Read(paths)
			if err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(dir, "out", "sources.yml")
			files, err := set.Files(out, migrate.Single)
			if err != nil {
				t.Fatal(err)
			}
			if err := migrate.Write(files); err != nil {
				t.Fatal(err)
			}
			if errs := set.Strip(); len(errs) > 0 {
				t.Fatal(errs)
			}
			if got := content(t, out); got != tc.sources {
				t.Errorf("sources: got\n%s\nwant\n%s", got, tc.sources)
			}
			if got := content(t, paths[0]); got != tc.rest {
				t.Errorf("pipeline: got\n%q\nwant\n%q", got, tc.rest)
			}
			if _, err := pipeline.Parse([]byte(content(t, paths[0]))); err != nil {
				t.Errorf("the pipeline does not load: %v", err)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
				t.Errorf("the directory holds %v, %v", left, err)
			}
		})
	}
}

func TestSourcesOfSeveralPipelines(t *testing.T) {
	source := func(id string) string { return "sources:\n  - {id: " + id + ", type: file, format: json, path: f}\n" }
	dir := t.TempDir()
	place(t, dir, map[string]string{
		"x/b.yml": "name: b\n# of b\n" + source("b"), "x/a.yaml": "name: a\n" + source("a"), "x/none.yml": "name: n\n", "x/ignored.txt": "]", "x/below/c.yml": "]",
		"y/b.yml": "name: b\n" + source("c"), "y/b.yaml": "name: b\n" + source("d"), "y/empty.yml": "name: e\nsources: []\n", "y/nothing.yml": "name: e\nsources:\nvars: {}\n",
	})
	paths, err := migrate.Collect([]string{filepath.Join(dir, "y"), filepath.Join(dir, "x"), filepath.Join(dir, "x", "b.yml")})
	if err != nil {
		t.Fatal(err)
	}
	set, err := migrate.Read(paths)
	if err != nil {
		t.Fatal(err)
	}
	if sources, with := set.Count(); sources != 4 || with != 4 || len(paths) != 7 {
		t.Errorf("got %d sources in %d of %d", sources, with, len(paths))
	}
	single, err := set.Files("o.yml", migrate.Single)
	if err != nil || len(single) != 1 {
		t.Fatal(single, err)
	}
	item := func(id string) string { return "  - {id: " + id + ", type: file, format: json, path: f}\n" }
	if got, want := string(single[0].Data), "sources:\n"+item("a")+"  # of b\n"+item("b")+item("d")+item("c"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	files, err := set.Files(filepath.Join(dir, "out"), migrate.PerPipeline)
	if err != nil {
		t.Fatal(err)
	}
	if err := migrate.Write(files); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"a-sources.yml": source("a"), "b-sources.yml": "sources:\n  # of b\n" + item("b"), "b-sources-2.yml": source("d"), "b-sources-3.yml": source("c"),
	} {
		if got := content(t, filepath.Join(dir, "out", name)); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
	if errs := set.Strip(); len(errs) > 0 {
		t.Fatal(errs)
	}
	for _, path := range paths {
		if _, err := pipeline.Load([]string{path}); err != nil {
			t.Errorf("%s does not load: %v", path, err)
		}
	}
	if err := migrate.Write(files); err == nil || !strings.Contains(err.Error(), "a-sources.yml exists already; name another file or remove it") {
		t.Errorf("the second time: %v", err)
	}
}

func TestPipelinesThatCannotBeMigrated(t *testing.T) {
	for _, tc := range []struct {
		name       string
		files      map[string]string
		unreadable bool
		want       string
	}{
		{"what is no YAML", map[string]string{"a.yml": "a: ["}, true, "yaml: line 1"},
		{"a list", map[string]string{"a.yml": "- a"}, true, "pipeline YAML must be a mapping"},
		{"nothing", map[string]string{"a.yml": ""}, true, "pipeline YAML must be a mapping"},
		{"several documents", map[string]string{"a.yml": "a: 1\n---\nb: 1\n"}, true, "holds more than one YAML document"},
		{"sources that are no list", map[string]string{"a.yml": "name: x\nsources: {a: 1}"}, true, "line 2: sources must be a sequence"},
		{"a source that is no mapping", map[string]string{"a.yml": "sources:\n- a\n"}, true, "line 2: source must be a mapping"},
		{"two blocks", map[string]string{"a.yml": "sources: []\nsources: []\n"}, true, "line 2: has a second key 'sources'"},
		{"an alias of itself", map[string]string{"a.yml": "x: &x {y: *x}\nsources: [{id: a, default: *x}]"}, true, ""},
		{"one id in two files", map[string]string{"a.yml": "sources: [{id: a}]", "b.yml": "sources: [{id: 'a'}]"}, false, "source ID 'a' declared in both DIR/a.yml and DIR/b.yml"},
		{"one id twice in a file", map[string]string{"a.yml": "sources: [{id: a}, {id: a}]"}, false, "source ID 'a' declared in both DIR/a.yml and DIR/a.yml"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			place(t, dir, tc.files)
			paths, err := migrate.Collect([]string{dir})
			if err != nil {
				t.Fatal(err)
			}
			set, err := migrate.Read(paths)
			if err == nil {
				_, err = set.Files("out.yml", migrate.Single)
			}
			if err == nil || errors.Is(err, migrate.ErrUnreadable) != tc.unreadable || !strings.Contains(err.Error(), strings.ReplaceAll(tc.want, "DIR", dir)) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
	if _, err := migrate.Collect([]string{filepath.Join(t.TempDir(), "none.yml")}); !errors.Is(err, migrate.ErrUnreadable) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// A pipeline that needs a part of its block keeps it.
func TestAPipelineThatNeedsItsBlockStays(t *testing.T) {
	const text = "name: x\nsources:\n  - {id: &a feed, type: file, path: f}\nvars: {a: *a}\n"
	paths := place(t, t.TempDir(), map[string]string{"p.yml": text})
	set, err := migrate.Read(paths)
	if err != nil {
		t.Fatal(err)
	}
	errs := set.Strip()
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "p.yml still has its sources, remove them by hand: ") {
		t.Errorf("got %v", errs)
	}
	if got := content(t, paths[0]); got != text {
		t.Errorf("it is now\n%s", got)
	}
}

// A pipeline keeps its mode, and a link to it stays one.
func TestAPipelineIsReplacedInItsPlace(t *testing.T) {
	dir := t.TempDir()
	paths := place(t, dir, map[string]string{"real/p.yml": "name: x\nsources:\n  - {id: a, type: file, path: f}\n"})
	if err := os.Chmod(paths[0], 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "p.yml")
	if err := os.Symlink(filepath.Join("real", "p.yml"), link); err != nil {
		t.Skip("no symlinks here:", err)
	}
	set, err := migrate.Read([]string{link})
	if err != nil {
		t.Fatal(err)
	}
	files, err := set.Files(filepath.Join(dir, "s.yml"), migrate.Single)
	if err != nil {
		t.Fatal(err)
	}
	if err := migrate.Write(files); err != nil {
		t.Fatal(err)
	}
	if errs := set.Strip(); len(errs) > 0 {
		t.Fatal(errs)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	for _, path := range []string{paths[0], files[0].Path} { // who may not read the one may not read the other
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v, %v", path, info.Mode(), err)
		}
	}
	if got := content(t, paths[0]); got != "name: x\n" {
		t.Errorf("it is now %q", got)
	}
}

// Whatever a pipeline looks like, nothing of it is lost.
func FuzzPipelines(f *testing.F) {
	for _, text := range []string{
		whole, "{name: x, sources: [{id: a}]}", "sources:\n- id: a\n# x\n\n# y\nname: x\n", "? sources\n: - id: a\n", "a: &a {b: c}\nsources: [*a]\n", "sources: \"x\"", "\"sources\": !!seq\n - {}\n",
		"%YAML 1.1\n---\nsources: [{}]\n...\n", "sources:\n  - body: |2\n      x\n    id: a\n  # c\n\nz: \"a\n\n  b\"\n", "a: 1\rsources:\r- id: b\rc: 2\r",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "p.yml")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		set, err := migrate.Read([]string{path})
		if err != nil {
			return
		}
		if n, _ := set.Count(); n > 0 {
			if _, err := set.Files("s.yml", migrate.Single); err != nil {
				return
			}
		}
		if errs := set.Strip(); len(errs) > 0 {
			return
		}
		again, err := migrate.Read([]string{path})
		if err != nil {
			t.Fatalf("%q became %q: %v", text, content(t, path), err)
		}
		if n, _ := again.Count(); n > 0 {
			t.Errorf("%q became %q, with sources", text, content(t, path))
		}
	})
}
