package command

import (
	"strings"
	"testing"
)

const goodRule = `title: Whoami
id: 11111111-1111-1111-1111-111111111111
level: high
tags: [attack.t1033]
logsource: {product: windows, category: process_creation}
detection:
  sel: {CommandLine|contains: whoami}
  condition: sel
`

const linuxRule = `title: Shell
level: low
logsource: {product: linux}
detection:
  sel: {Image|endswith: /sh}
  condition: sel
`

const brokenRule = `title: Broken
logsource: {product: windows}
detection:
  sel: {Image|nosuch: x, Other|re: '('}
  condition: sel and missing
`

func TestRuleValidate(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files map[string]string
		args  []string
		code  int
		out   []string
		err   []string
	}{
		{
			"good rules",
			map[string]string{"r/a.yml": goodRule, "r/b.yml": linuxRule},
			[]string{"r"},
			0,
			[]string{"detection rules:   2\n", "compiled:          2\n", "parse errors:      0\n"},
			nil,
		},
		{
			"every problem of a broken document",
			map[string]string{"r/a.yml": goodRule, "r/b.yml": brokenRule},
			[]string{"r"},
			2,
			[]string{"detection rules:   1\n", "parse errors:      1\n"},
			[]string{"b.yml:4: document 1 (\"Broken\"): ", "nosuch", "invalid regex", "missing"},
		},
		{
			"every document counts once",
			map[string]string{
				"r/a.yml": goodRule, "r/b.yml": brokenRule,
				"r/c.yml": "title: No Regex\nid: n\ndetection: {s: {a|re: '(?<=x)y'}, condition: s}\n---\ntitle: Of It\ncorrelation: {type: event_count, rules: [n], timespan: 1h, condition: {gte: 2}}\n",
				"r/d.yml": "title: F\nfilter: {rules: [T], condition: k, k: {a: 1}}\n---\ntitle: G\nfilter: {rules: [T], condition: k, k: {a|re: '('}}\n", "r/e.yml": "title: [\n",
			},
			[]string{"r"},
			2,
			[]string{"detection rules:   2\ncorrelation rules: 1\nfilter rules:      2\nparse errors:      2\ncompiled:          2\ncompile errors:    3\n"},
			[]string{
				"compile error: r/c.yml:3: document 1 (\"No Regex\", n): invalid regex: look-behind `(?<=` is not in RE2: ",
				"parse error: r/b.yml:4: document 1 (\"Broken\"): invalid regex", // of a document that cannot be read
			},
		},
		{
			"a misspelt name, with the one that was probably meant",
			map[string]string{"r/a.yml": "title: T\nlevle: high\nsluice.acton: reset\ndetection:\n  selection: {Image|contians: x}\n  condition: selektion\n"},
			[]string{"r"},
			2,
			nil,
			[]string{
				"a.yml:5: document 1 (\"T\"): Unknown modifier 'contians' (did you mean 'contains'?)\n",
				"unknown detection identifier: selektion (did you mean 'selection'?)\n",
				"unknown attribute 'sluice.acton' (did you mean 'sluice.action'?)\n",
			},
		},
		{
			"what to know of the others is no summary, so being quiet does not hide it",
			map[string]string{"r/a.yml": goodRule, "r/b.yml": goodRule},
			[]string{"r", "-q"},
			0,
			[]string{"compiled:          2\n"},
			[]string{"warning: ", "is also that of r/"},
		},
		{
			"as a table",
			map[string]string{"r/a.yml": goodRule},
			[]string{"r", "--output-format", "csv"},
			0,
			[]string{"METRIC,VALUE\ndetection rules,1\n"},
			nil,
		},
		{
			"as JSON",
			map[string]string{"r/a.yml": goodRule},
			[]string{"r", "--output-format", "json"},
			0,
			[]string{`{"detection_rules":1,"correlation_rules":0,"filter_rules":0,"parse_errors":0,"compiled":1,"compile_errors":0,"problems":[]}`},
			nil,
		},
		{"with -v behind the path", map[string]string{"r/a.yml": goodRule}, []string{"r", "-v"}, 0, nil, []string{"ok: r/a.yml: document 1: Whoami"}},
		{"a path that is missing", nil, []string{"r"}, 2, nil, []string{"r"}},
		{"no path", nil, nil, 3, nil, []string{"needs a path"}},
		{"a pipeline that is missing", map[string]string{"r/a.yml": goodRule}, []string{"r", "-p", "nope.yml"}, 3, nil, []string{"nope.yml"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inEmptyDir(t)
			for name, text := range tc.files {
				write(t, name, text)
			}
			got := sluice(t, "", append([]string{"rule", "validate"}, tc.args...)...)
			got.wantCode(t, tc.code)
			got.wantErr(t, tc.err...)
			for _, want := range tc.out {
				if !strings.Contains(got.out, want) {
					t.Errorf("stdout lacks %q:\n%s", want, got.out)
				}
			}
		})
	}
}

func TestRuleParsePrintsTheTree(t *testing.T) {
	inEmptyDir(t)
	write(t, "a.yml", goodRule)
	fromFile := sluice(t, "", "rule", "parse", "a.yml", "--pretty")
	fromFile.wantCode(t, 0)
	wantGolden(t, "rule-parse", fromFile.out)
	fromStdin := sluice(t, goodRule, "rule", "stdin", "--pretty")
	fromStdin.wantCode(t, 0)
	if want := strings.Replace(fromFile.out, `"file": "a.yml"`, `"file": "stdin"`, 1); fromStdin.out != want {
		t.Errorf("stdin gives\n%s\nwant\n%s", fromStdin.out, want)
	}
	filter := sluice(t, "title: F\nid: f1\nlogsource: {product: linux}\nfilter: {rules: [r1, r2], s: {U: root}, condition: not s}\n---\ntitle: G\nfilter: {rules: any, s: {U: x}, condition: s}\n", "rule", "stdin")
	filter.wantCode(t, 0)
	for _, part := range []string{
		`{"rules":[],"correlations":[],"filters":[{"title":"F","id":"f1","origin":{"file":"stdin","document":1,"line":1},"version":2,"logsource":{"product":"linux"},"rules":["r1","r2"],"detections":[{"name":"s",`,
		`"conditions":[{"text":"not s","expr":{"op":"not","args":[{"op":"ident","name":"s"}]},"line":4}]}`,
		`{"title":"G","origin":{"file":"stdin","document":2,"line":6},"version":2,"logsource":{},"any":true,"detections":[`,
	} {
		if !strings.Contains(filter.out, part) {
			t.Errorf("filters give\n%swant in it\n%s", filter.out, part)
		}
	}
	mixed := sluice(t, goodRule+"---\n"+brokenRule, "rule", "stdin")
	mixed.wantCode(t, 0)
	mixed.wantErr(t, "warning: stdin")
	sluice(t, brokenRule, "rule", "stdin").wantCode(t, 2)
	sluice(t, "", "rule", "parse", "missing.yml").wantCode(t, 2)
}

func TestRuleCondition(t *testing.T) {
	inEmptyDir(t)
	got := sluice(t, "", "rule", "condition", "a and not 1 of b*")
	got.wantCode(t, 0)
	want := `{"op":"and","args":[{"op":"ident","name":"a"},{"op":"not","args":[{"op":"quant","name":"b*","count":1}]}]}` + "\n"
	if got.out != want {
		t.Errorf("got  %swant %s", got.out, want)
	}
	bad := sluice(t, "", "rule", "condition", "a and")
	bad.wantCode(t, 2)
	bad.wantErr(t, "invalid condition")
}

func TestRuleFields(t *testing.T) {
	inEmptyDir(t)
	write(t, "r/a.yml", goodRule)
	write(t, "r/b.yml", linuxRule)
	got := sluice(t, "", "rule", "fields", "-r", "r", "--output-format", "table")
	got.wantCode(t, 0)
	want := "FIELD        RULES\n-----------  -----\nCommandLine      1\nImage            1\n"
	if got.out != want {
		t.Errorf("got\n%swant\n%s", got.out, want)
	}
	renamed := sluice(t, "", "rule", "fields", "r", "-p", "ecs_windows")
	renamed.wantCode(t, 0)
	if !strings.Contains(renamed.out, `{"field":"process.command_line","rules":1}`) {
		t.Errorf("pipelines were not applied:\n%s", renamed.out)
	}
}
