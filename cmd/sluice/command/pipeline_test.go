package command

import (
	"encoding/json"
	"strings"
	"testing"
)

const renamePipeline = `name: rename
transformations:
  - {id: names, type: field_name_mapping, mapping: {CommandLine: cmd}, rule_conditions: [{type: logsource, product: windows}]}
  - {id: mark, type: set_state, key: k, val: v}
`

const failingPipeline = `transformations:
  - {type: rule_failure, message: nope, rule_conditions: [{type: logsource, product: linux}]}
  - {type: field_name_suffix, suffix: _x}
`

const pipelineFilter = `title: Lab
filter: {rules: any, sel: {CommandLine|contains: lab}, condition: not sel}
`

func TestPipelineDiff(t *testing.T) {
	files := map[string]string{
		"r/a.yml": goodRule, "r/b.yml": linuxRule, "r/f.yml": pipelineFilter, "broken.yml": brokenRule,
		"rename.yml": renamePipeline, "failing.yml": failingPipeline, "bad.yml": "transformations: {}\n",
		"skip.yml":   strings.Replace(failingPipeline, "message: nope", "message: nope, action: skip", 1),
		"source.yml": "vars: {a: '${source.x}'}\n" + "transformations: [{type: set_value, value: '${source.x}'}]\n",
		"none.yml":   "title: C\ncorrelation: {type: event_count, rules: [x], timespan: 5m, condition: {gte: 2}}\n",
	}
	for _, tc := range []struct {
		name string
		args []string
		code int
		out  []string
		err  []string
	}{
		{
			"a change",
			[]string{"-r", "r", "-p", "rename.yml"},
			0,
			[]string{
				"Whoami (11111111-1111-1111-1111-111111111111)\n  transformations applied: mark, names\n  --- before\n  +++ after\n  @@ -",
				"  -            \"field\": \"CommandLine\",\n  +            \"field\": \"cmd\",\n",
				"\n\nShell\n  transformations applied: mark\n  (no change)\n",
			},
			nil,
		},
		{"a rule by its title", []string{"-r", "r", "-p", "failing.yml", "--rule-id", "Whoami"}, 0, []string{"  transformations applied (no ids recorded)\n"}, nil},
		{"an id that no rule has", []string{"-r", "r", "-p", "rename.yml", "--rule-id", "x"}, 2, nil, []string{`No rule matched --rule-id "x"`}},
		{"a part of a title is no title", []string{"-r", "r", "-p", "rename.yml", "--rule-id", "Who"}, 2, nil, []string{`No rule matched --rule-id "Who"`}},
		{"a pipeline that is not there", []string{"-r", "r", "-p", "no.yml"}, 3, nil, []string{"Error loading pipeline no.yml: "}},
		{"a pipeline with a fault", []string{"-r", "r", "-p", "bad.yml"}, 3, nil, []string{"Error loading pipeline bad.yml: transformations must be a sequence"}},
		{
			"a failing transformation",
			[]string{"-r", "r", "-p", "failing.yml"},
			2,
			[]string{"Whoami (11111111-1111-1111-1111-111111111111)\n  transformations applied (no ids recorded)\n"},
			[]string{`Pipeline error for rule "Shell": Pipeline rule failure: nope (rule: Shell)`},
		},
		{"a rule left out is a warning", []string{"-r", "r", "-p", "skip.yml"}, 0, nil, []string{"warning: ", "Pipeline rule failure: nope (rule: Shell)"}},
		{"other documents may be broken", []string{"-r", "r", "-r", "broken.yml", "-p", "rename.yml"}, 0, []string{"Whoami"}, []string{"broken.yml"}},
		{"no detection rule", []string{"-r", "none.yml", "-p", "rename.yml"}, 2, nil, []string{"no detection rule found in none.yml"}},
		{"no rules", []string{"-p", "rename.yml"}, 3, nil, []string{"--rules"}},
		{"no pipeline", []string{"-r", "r"}, 3, nil, []string{"--pipeline"}},
		{"an argument", []string{"-r", "r", "-p", "rename.yml", "x"}, 3, nil, []string{"takes no argument"}},
		{"rules that are not there", []string{"-r", "nowhere", "-p", "rename.yml"}, 2, nil, []string{"nowhere"}},
		{
			"comma-separated",
			[]string{"-r", "r/a.yml", "-p", "rename.yml", "--output-format", "csv"},
			0,
			[]string{"RULE_TITLE,RULE_ID,CHANGED,APPLIED_ITEMS,BEFORE,AFTER\nWhoami,11111111-1111-1111-1111-111111111111,true,\"mark,names\",\"{\"\"title"},
			nil,
		},
		{
			"tab-separated",
			[]string{"-r", "r/b.yml", "-p", "rename.yml", "--output-format", "tsv"},
			0,
			[]string{"RULE_TITLE\tRULE_ID\tCHANGED\tAPPLIED_ITEMS\tBEFORE\tAFTER\nShell\t\tfalse\tmark\t\"{\"\"title"},
			nil,
		},
		{
			"lines of JSON",
			[]string{"-r", "r/a.yml", "-r", "r/b.yml", "-p", "rename.yml", "--output-format", "ndjson"},
			0,
			[]string{
				`{"rule_title":"Whoami","rule_id":"11111111-1111-1111-1111-111111111111","changed":true,"applied_items":["mark","names"],"before":{"title":`,
				"\n" + `{"rule_title":"Shell","changed":false,"applied_items":["mark"],"before":{"title":`,
			},
			nil,
		},
		{
			"the table is the diff",
			[]string{"-r", "r/b.yml", "-p", "rename.yml", "--output-format", "table"},
			0,
			[]string{"Shell\n  transformations applied: mark\n  (no change)\n"},
			nil,
		},
		{"nothing applied", []string{"-r", "r/b.yml", "-p", "ecs_windows"}, 0, []string{"Shell\n  no transformations applied\n  (no change)\n"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inEmptyDir(t)
			for name, text := range files {
				write(t, name, text)
			}
			got := sluice(t, "", append([]string{"pipeline", "diff"}, tc.args...)...)
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

// The trees are those of rule parse, so tools read both alike.
func TestPipelineDiffPrintsTheTreesOfRuleParse(t *testing.T) {
	inEmptyDir(t)
	write(t, "a.yml", goodRule)
	write(t, "p.yml", renamePipeline)
	var parsed struct{ Rules []json.RawMessage }
	tree := sluice(t, "", "rule", "parse", "a.yml")
	if err := json.Unmarshal([]byte(tree.out), &parsed); err != nil {
		t.Fatal(err)
	}
	got := sluice(t, "", "pipeline", "diff", "-r", "a.yml", "-p", "p.yml", "--output-format", "json")
	got.wantCode(t, 0)
	var list []struct {
		Before, After json.RawMessage
		Changed       bool
	}
	if err := json.Unmarshal([]byte(got.out), &list); err != nil || len(list) != 1 {
		t.Fatalf("%d elements, %v: %s", len(list), err, got.out)
	}
	before := string(parsed.Rules[0])
	if string(list[0].Before) != before {
		t.Errorf("before is\n%s, rule parse prints\n%s", list[0].Before, before)
	}
	if want := strings.Replace(before, `"field":"CommandLine"`, `"field":"cmd"`, 1); string(list[0].After) != want || !list[0].Changed {
		t.Errorf("after is\n%s, want\n%s", list[0].After, want)
	}
}

// A failure of a pipeline is one of the configuration, whatever command meets it.
func TestPipelineFaultsEndWithCodeThree(t *testing.T) {
	for _, args := range [][]string{
		{"engine", "eval", "-r", "a.yml", "-e", "{}"}, {"rule", "validate", "a.yml"}, {"rule", "fields", "-r", "a.yml"}, {"pipeline", "diff", "-r", "a.yml"},
	} {
		inEmptyDir(t)
		write(t, "a.yml", goodRule)
		write(t, "bad.yml", "priority: high\n")
		write(t, "good.yml", renamePipeline)
		for _, tc := range []struct {
			pipelines []string
			code      int
		}{
			{[]string{"-p", "good.yml"}, 0},
			{[]string{"-p", "sysmon", "-p", "good.yml"}, 0},
			{[]string{"-p", "bad.yml"}, 3},
			{[]string{"-p", "none.yml"}, 3},
			{[]string{"-p", "sysmon", "-p", "."}, 3},
			{[]string{"-p", "Sysmon"}, 3},
		} {
			got := sluice(t, "", append(args[:len(args):len(args)], tc.pipelines...)...)
			if got.code != tc.code {
				t.Errorf("%v %v ends with %d, want %d: %s", args, tc.pipelines, got.code, tc.code, got.err)
			}
			if tc.code != 0 {
				got.wantErr(t, "Error loading pipeline "+tc.pipelines[len(tc.pipelines)-1]+": ")
			}
		}
	}
}

func TestEvalJudgesByRulesAsPipelinesLeaveThem(t *testing.T) {
	inEmptyDir(t)
	write(t, "a.yml", goodRule)
	write(t, "p.yml", renamePipeline)
	for event, matches := range map[string]bool{`{"cmd":"whoami"}`: true, `{"CommandLine":"whoami"}`: false} {
		got := sluice(t, "", "engine", "eval", "-r", "a.yml", "-p", "p.yml", "-e", event)
		got.wantCode(t, 0)
		if strings.Contains(got.out, "Whoami") != matches {
			t.Errorf("%s: stdout is %q, want a match %t", event, got.out, matches)
		}
	}
}

// Problems that pipelines cause are compile errors of the rules.
func TestRuleValidateReportsFailingTransformations(t *testing.T) {
	inEmptyDir(t)
	write(t, "r/a.yml", goodRule)
	write(t, "r/b.yml", linuxRule)
	write(t, "failing.yml", failingPipeline)
	write(t, "skip.yml", strings.Replace(failingPipeline, "message: nope", "message: nope, action: skip", 1))
	got := sluice(t, "", "rule", "validate", "r", "-p", "failing.yml")
	got.wantCode(t, 2)
	got.wantErr(t, "compile error: ", "Pipeline rule failure: nope (rule: Shell)")
	if !strings.Contains(got.out, "compile errors:    1\n") || !strings.Contains(got.out, "compiled:          1\n") {
		t.Errorf("stdout is\n%s", got.out)
	}
	skipped := sluice(t, "", "rule", "validate", "r", "-p", "skip.yml")
	skipped.wantCode(t, 0)
	skipped.wantErr(t, "warning: ", "Pipeline rule failure: nope (rule: Shell)")
}
