package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const feedPipeline = "name: x\n# feeds\nsources:\n  - id: feed # the id\n    type: http\n    headers: {A: '1'}\n    url: https://h/\n"

const feedSources = "sources:\n  # feeds\n  - id: feed # the id\n    type: http\n    format: json\n    headers: {A: '1'}\n    url: https://h/\n"

func TestSourcesAreMigrated(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files map[string]string
		args  string
		code  int
		out   string
		err   string // exactly, or as a part behind "..."
		want  map[string]string
	}{
		{
			"to one file",
			map[string]string{"p/a.yml": feedPipeline, "p/b.yml": "name: b\n"},
			"-p p -o sources.yml", 0, "",
			"Found 1 source(s) across 1 pipeline(s) (1 without sources).\nwrote sources.yml\n",
			map[string]string{"sources.yml": feedSources, "p/a.yml": "name: x\n", "p/b.yml": "name: b\n"},
		},
		{
			"to one file, by name",
			map[string]string{"p/a.yml": feedPipeline},
			"-p p/a.yml --output sources.yml --strategy single", 0, "",
			"Found 1 source(s) across 1 pipeline(s) (0 without sources).\nwrote sources.yml\n",
			map[string]string{"sources.yml": feedSources, "p/a.yml": "name: x\n"},
		},
		{
			"to a file for each pipeline",
			map[string]string{"p/a.yml": feedPipeline, "p/b.yaml": "sources: [{id: b}]\n"},
			"-p p -o s --strategy per-pipeline", 0, "",
			"Found 2 source(s) across 2 pipeline(s) (0 without sources).\nwrote s/a-sources.yml\nwrote s/b-sources.yml\n",
			map[string]string{"s/a-sources.yml": feedSources, "s/b-sources.yml": "sources:\n  - {id: b, format: json}\n", "p/a.yml": "name: x\n", "p/b.yaml": "{}\n"},
		},
		{
			"not yet",
			map[string]string{"p/a.yml": feedPipeline},
			"-p p -o sources.yml --dry-run", 0, feedSources,
			"Found 1 source(s) across 1 pipeline(s) (0 without sources).\n",
			map[string]string{"p/a.yml": feedPipeline, "sources.yml": ""},
		},
		{
			"not yet, for each pipeline",
			map[string]string{"p/a.yml": feedPipeline, "p/b.yaml": "sources: [{id: b}]\n"},
			"-p p --dry-run --strategy per-pipeline -o s", 0,
			"---\n# s/a-sources.yml\n" + feedSources + "---\n# s/b-sources.yml\nsources:\n  - {id: b, format: json}\n",
			"Found 2 source(s) across 2 pipeline(s) (0 without sources).\n",
			map[string]string{"s/a-sources.yml": "", "p/a.yml": feedPipeline},
		},
		{"there are none", map[string]string{"p/a.yml": "name: x\n"}, "-p p -o sources.yml", 0, "", "No sources found in any pipeline file.\n", map[string]string{"sources.yml": ""}},
		{"no pipeline", map[string]string{"p/a.txt": ""}, "-p p -o sources.yml", 3, "", "... no pipeline file is named or found (--pipeline)", nil},
		{"no pipeline is named", nil, "-o sources.yml", 3, "", "... no pipeline file is named or found (--pipeline)", nil},
		{"no file to write", map[string]string{"p/a.yml": feedPipeline}, "-p p", 3, "", "... no file to write is named (--output)", map[string]string{"p/a.yml": feedPipeline}},
		{"a pipeline that is not there", nil, "-p none.yml -o sources.yml", 2, "", "... cannot read pipeline file: stat none.yml: no such file", nil},
		{"a pipeline that is no YAML", map[string]string{"p/a.yml": "a: [", "p/b.yml": feedPipeline}, "-p p -o sources.yml", 2, "", "... p/a.yml: yaml: line 1", map[string]string{"p/b.yml": feedPipeline, "sources.yml": ""}},
		{
			"one id in two pipelines",
			map[string]string{"p/a.yml": feedPipeline, "p/b.yml": feedPipeline},
			"-p p -o sources.yml", 3, "",
			"sluice: source ID 'feed' declared in both p/a.yml and p/b.yml\n",
			map[string]string{"p/a.yml": feedPipeline, "sources.yml": ""},
		},
		{
			"a file that is there",
			map[string]string{"p/a.yml": feedPipeline, "sources.yml": "kept"},
			"-p p -o sources.yml", 3, "",
			"... cannot write sources file: sources.yml exists already; name another file or remove it",
			map[string]string{"p/a.yml": feedPipeline, "sources.yml": "kept"},
		},
		{"the pipeline itself", map[string]string{"p/a.yml": feedPipeline}, "-p p -o p/a.yml", 3, "", "... exists already", map[string]string{"p/a.yml": feedPipeline}},
		{"a directory that cannot be made", map[string]string{"p/a.yml": feedPipeline, "s": ""}, "-p p -o s --strategy per-pipeline", 3, "", "... cannot write sources file: ", map[string]string{"p/a.yml": feedPipeline}},
		{
			"a pipeline that needs its block",
			map[string]string{"p/a.yml": "sources: [{id: &a feed}]\nvars: {b: *a}\n"},
			"-p p -o sources.yml", 0, "",
			"... warning: p/a.yml still has its sources, remove them by hand: ",
			map[string]string{"sources.yml": "sources:\n  - {id: &a feed, format: json}\n", "p/a.yml": "sources: [{id: &a feed}]\nvars: {b: *a}\n"},
		},
		{"another strategy", map[string]string{"p/a.yml": feedPipeline}, "-p p -o s --strategy both", 3, "", "... --strategy: \"both\" is not allowed (single, per-pipeline)", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inEmptyDir(t)
			for name, text := range tc.files {
				write(t, name, text)
			}
			got := sluice(t, "", append([]string{"rule", "migrate-sources"}, strings.Fields(tc.args)...)...)
			got.wantCode(t, tc.code)
			if got.out != tc.out {
				t.Errorf("stdout got\n%s\nwant\n%s", got.out, tc.out)
			}
			if part, ok := strings.CutPrefix(tc.err, "... "); ok && !strings.Contains(got.err, part) || !ok && got.err != tc.err {
				t.Errorf("stderr got\n%s\nwant\n%s", got.err, tc.err)
			}
			for name, want := range tc.want { // empty: there is none
				data, err := os.ReadFile(filepath.FromSlash(name))
				if string(data) != want || (err != nil) != (want == "") {
					t.Errorf("%s holds\n%s\nwant\n%s (%v)", name, data, want, err)
				}
			}
		})
	}
}
