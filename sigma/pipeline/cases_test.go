package pipeline_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/pipeline"
	"github.com/sluicehq/sluice/sigma/result"
)

// toolRule is the rule that most cases rewrite.
const toolRule = `
title: R
name: r
id: 5b1f0a52-0001-4000-8000-000000000001
logsource: {product: windows, category: process_creation}
detection:
  selection: {Image|endswith: '\tool.exe', CommandLine|contains: alpha}
  condition: selection
level: high
`

// ruleWith is a windows process rule with its own detection block.
func ruleWith(detection string) string {
	return "title: R\nname: r\nlogsource: {product: windows, category: process_creation}\ndetection: {" + detection + "}\n"
}

// ev is the event of a run of tool.exe with more members.
func ev(more string) string {
	if more != "" {
		more = "," + more
	}
	return `{"Image":"C:\\w\\tool.exe"` + more + `}`
}

// set parses pipelines given as documents; a text without a newline is the name
// of a built-in or a list of items.
func set(t *testing.T, docs ...string) *pipeline.Set {
	t.Helper()
	s := &pipeline.Set{}
	for _, d := range docs {
		if strings.HasPrefix(d, "@") {
			b, err := pipeline.Load(strings.Split(d[1:], ","))
			if err != nil {
				t.Fatalf("load %s: %v", d, err)
			}
			s.Pipelines = append(s.Pipelines, b.Pipelines...)
			continue
		}
		p, err := pipeline.Parse([]byte(d))
		if err != nil {
			t.Fatalf("parse %s: %v", d, err)
		}
		s.Pipelines = append(s.Pipelines, p)
	}
	return s
}

func items(list ...string) string {
	return "transformations:\n  - " + strings.Join(list, "\n  - ") + "\n"
}

func loadWith(t *testing.T, s *pipeline.Set, rules string) *load.Collection {
	t.Helper()
	return load.FromBytes("r.yml", []byte(rules), load.Options{Transform: s.Apply, TransformCorrelation: s.ApplyCorrelation})
}

func fires(t *testing.T, rules []*ast.Rule, event string) bool {
	t.Helper()
	set, err := engine.Compile(rules, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	worker := set.NewWorker()
	var events engine.Events
	if err := worker.DecodeJSON(&events, []byte(event)); err != nil {
		t.Fatal(err)
	}
	var batch result.Batch
	worker.Evaluate(&events, 0, 0, &batch)
	return batch.Len() > 0
}

// probe is an event and whether the rule matches it.
type probe struct {
	event string
	want  bool
}

func TestRewrittenRulesMatch(t *testing.T) {
	yes := func(e string) probe { return probe{e, true} }
	no := func(e string) probe { return probe{e, false} }
	rename := `{type: field_name_mapping, mapping: {CommandLine: process.command_line}`
	for _, tc := range []struct {
		name  string
		docs  []string
		rules string
		want  []probe
	}{
		{
			"a renamed field is read under its new name alone",
			[]string{items(rename + `}`)},
			toolRule,
			[]probe{yes(ev(`"process.command_line":"run alpha"`)), no(ev(`"CommandLine":"run alpha"`))},
		},
		{
			"several targets are alternatives",
			[]string{items(`{type: field_name_mapping, mapping: {CommandLine: [cmd, args]}}`)},
			toolRule,
			[]probe{yes(ev(`"args":"alpha"`)), no(ev(`"other":"alpha"`))},
		},
		{
			"and the conjunction stays",
			[]string{items(`{type: field_name_mapping, mapping: {Image: [i1, i2], CommandLine: [c1, c2]}}`)},
			toolRule,
			[]probe{yes(`{"i2":"C:\\tool.exe","c1":"alpha"}`), no(`{"i1":"C:\\tool.exe","i2":"C:\\tool.exe"}`)},
		},
		{
			"conditions in an expression by id and by position",
			[]string{items(rename +
				`, rule_conditions: [{id: w, type: logsource, product: WINDOWS}, {id: p, type: logsource, category: file_event}], rule_cond_expr: "w and not p"}`)},
			toolRule,
			[]probe{yes(ev(`"process.command_line":"run alpha"`))},
		},
		{
			"without ids",
			[]string{items(rename +
				`, rule_conditions: [{type: logsource, product: WINDOWS}, {type: logsource, category: file_event}], rule_cond_expr: "cond_0 and not cond_1"}`)},
			toolRule,
			[]probe{yes(ev(`"process.command_line":"run alpha"`))},
		},
		{
			"or",
			[]string{items(rename +
				`, rule_conditions: [{type: logsource, product: WINDOWS}, {type: logsource, category: file_event}], rule_cond_op: or}`)},
			toolRule,
			[]probe{yes(ev(`"process.command_line":"run alpha"`))},
		},
		{
			"and is the default",
			[]string{items(rename +
				`, rule_conditions: [{type: logsource, product: WINDOWS}, {type: logsource, category: file_event}]}`)},
			toolRule,
			[]probe{no(ev(`"process.command_line":"run alpha"`)), yes(ev(`"CommandLine":"alpha"`))},
		},
		{
			"a negated field condition",
			[]string{items(`{type: field_name_mapping, mapping: {Image: img, CommandLine: cl}, field_name_conditions: [{type: include_fields, fields: [CommandLine]}], field_name_cond_not: true}`)},
			toolRule,
			[]probe{yes(`{"img":"C:\\tool.exe","CommandLine":"alpha"}`)},
		},
		{
			"a suffix where a pattern is found",
			[]string{items(`{type: field_name_suffix, suffix: _s, field_name_conditions: [{type: include_fields, match_type: regex, fields: ["Line$"]}]}`)},
			toolRule,
			[]probe{yes(ev(`"CommandLine_s":"alpha"`))},
		},
		{
			"a dropped item asks nothing",
			[]string{items(`{type: drop_detection_item, field_name_conditions: [{type: include_fields, fields: [Image]}]}`)},
			toolRule,
			[]probe{yes(`{"CommandLine":"alpha"}`)},
		},
		{
			"an added condition is asked for",
			[]string{items(`{type: add_condition, conditions: {EventID: [1, 4688]}}`)},
			toolRule,
			[]probe{yes(ev(`"CommandLine":"alpha","EventID":4688`)), no(ev(`"CommandLine":"alpha","EventID":3`))},
		},
		{
			"negated",
			[]string{items(`{type: add_condition, negated: true, conditions: {User: svc}}`)},
			toolRule,
			[]probe{no(ev(`"CommandLine":"alpha","User":"SVC"`)), yes(ev(`"CommandLine":"alpha","User":"bob"`))},
		},
		{
			"an injected detection is covered by no pattern",
			[]string{items(`{type: add_condition, conditions: {EventID: [1, 4688]}}`)},
			strings.Replace(toolRule, "condition: selection", "condition: 1 of *", 1),
			[]probe{no(`{"EventID":1}`)},
		},
		{
			"parts of a logsource that are not named stay",
			[]string{items(`{type: change_logsource, service: sysmon}`, rename+`, rule_conditions: [{type: logsource, category: process_creation}]}`)},
			toolRule,
			[]probe{yes(ev(`"process.command_line":"run alpha"`))},
		},
		{
			"groups in a replacement",
			[]string{items(`{type: replace_string, regex: "al(pha)", replacement: "x$1"}`)},
			toolRule,
			[]probe{yes(ev(`"CommandLine":"xpha"`)), no(ev(`"CommandLine":"alpha"`))},
		},
		{
			"skip_special keeps wildcards and makes none",
			[]string{items(`{type: replace_string, skip_special: true, regex: "o+", replacement: "*"}`)},
			ruleWith(`sel: {CommandLine: '*foo?'}, condition: sel`),
			[]probe{yes(`{"CommandLine":"zf*1"}`), no(`{"CommandLine":"zfoo1"}`)},
		},
		{
			"a variable in a value",
			[]string{"vars: {bad: [alpha, beta]}\n" + items(`{type: value_placeholders}`)},
			ruleWith(`sel: {CommandLine|contains: '%bad%'}, condition: sel`),
			[]probe{yes(`{"CommandLine":"x BETA y"}`)},
		},
		{
			"expand is dropped once resolved",
			[]string{"vars: {bad: [alpha, beta]}\n" + items(`{type: value_placeholders}`)},
			ruleWith(`sel: {CommandLine|expand|contains: '%bad%'}, condition: sel`),
			[]probe{yes(`{"CommandLine":"x beta y"}`)},
		},
		{
			"a percent sign before a placeholder",
			[]string{"vars: {user: [ann]}\n" + items(`{type: value_placeholders}`)},
			ruleWith(`sel: {Note: '50% of %user%'}, condition: sel`),
			[]probe{yes(`{"Note":"50% of ann"}`)},
		},
		{
			"inserted text is not scanned again",
			[]string{"vars: {a: [\"%a%\"]}\n" + items(`{type: value_placeholders}`)},
			ruleWith(`sel: {Note: '%a%'}, condition: sel`),
			[]probe{yes(`{"Note":"%a%"}`)},
		},
		{
			"the full product",
			[]string{"vars: {h: [h1, h2], u: [u1, u2]}\n" + items(`{type: value_placeholders}`)},
			ruleWith(`sel: {Note: '%h%-%u%'}, condition: sel`),
			[]probe{yes(`{"Note":"h2-u1"}`), yes(`{"Note":"h1-u2"}`), no(`{"Note":"h1-h2"}`)},
		},
		{
			"an empty list never matches",
			[]string{"vars: {allow: []}\n" + items(`{type: value_placeholders}`)},
			ruleWith(`sel: {A: 1}, flt: {User: '%allow%'}, condition: sel and not flt`),
			[]probe{yes(`{"A":1,"User":"%allow%"}`)},
		},
		{
			"a literal percent text is no wildcard",
			[]string{items(`{type: wildcard_placeholders}`)},
			ruleWith(`sel: {P: '%TEMP%'}, condition: sel`),
			[]probe{no(`{"P":"c:\\x"}`)},
		},
		{
			"with expand it is",
			[]string{items(`{type: wildcard_placeholders}`)},
			ruleWith(`sel: {P|expand: '%TEMP%'}, condition: sel`),
			[]probe{yes(`{"P":"c:\\x"}`)},
		},
		{
			"whole values replaced by several",
			[]string{items(`{type: map_string, mapping: {alpha: [beta, gamma]}}`)},
			toolRule,
			[]probe{yes(ev(`"CommandLine":"gamma"`)), no(ev(`"CommandLine":"alpha"`))},
		},
		{
			"a set value",
			[]string{items(`{type: set_value, value: 7, field_name_conditions: [{type: include_fields, fields: [Port]}]}`)},
			ruleWith(`sel: {Port: 9}, condition: sel`),
			[]probe{yes(`{"Port":7}`), no(`{"Port":9}`)},
		},
		{
			"hashes are alternatives",
			[]string{items(`{type: hashes_fields, valid_hash_algos: [MD5, SHA1]}`)},
			ruleWith(`sel: {Hashes|contains: ['SHA1=aa', 'MD5=bb']}, condition: sel`),
			[]probe{yes(`{"FileMD5":"bb"}`)},
		},
		{
			"the pieces of one value must all hold",
			[]string{items(`{type: hashes_fields, valid_hash_algos: [MD5, SHA1]}`)},
			ruleWith(`sel: {Hashes: 'SHA1=aa,MD5=bb,IMPHASH=cc'}, condition: sel`),
			[]probe{yes(`{"FileSHA1":"aa","FileMD5":"bb"}`), no(`{"FileSHA1":"aa"}`)},
		},
		{
			"nested items under outer and own conditions",
			[]string{items(`{type: nest, field_name_conditions: [{type: include_fields, fields: [CommandLine]}], items: [{id: in, type: field_name_prefix, prefix: p.}]}`,
				`{type: field_name_mapping, mapping: {Image: img}, rule_conditions: [{type: processing_item_applied, processing_item_id: in}]}`)},
			toolRule,
			[]probe{yes(`{"img":"C:\\tool.exe","p":{"CommandLine":"alpha"}}`)},
		},
		{
			"state reaches later items",
			[]string{items(`{type: set_state, key: k, val: v}`, rename+`, rule_conditions: [{type: processing_state, key: k, val: v}]}`)},
			toolRule,
			[]probe{yes(ev(`"process.command_line":"run alpha"`))},
		},
		{
			"but no other pipeline",
			[]string{items(`{type: set_state, key: k, val: v}`), items(rename + `, rule_conditions: [{type: processing_state, key: k, val: v}]}`)},
			toolRule,
			[]probe{no(ev(`"process.command_line":"run alpha"`))},
		},
		{
			"filters are renamed with the rule",
			[]string{items(rename + `}`)},
			toolRule + "---\ntitle: F\nfilter: {rules: [r], flt: {CommandLine|contains: lab}, condition: not flt}\n",
			[]probe{no(ev(`"process.command_line":"alpha lab"`)), yes(ev(`"process.command_line":"alpha"`))},
		},
		{
			"sysmon runs before ecs_windows",
			[]string{"@ecs_windows,sysmon"},
			toolRule,
			[]probe{yes(`{"process":{"executable":"C:\\tool.exe","command_line":"alpha"},"event":{"code":1}}`), no(`{"process":{"executable":"C:\\tool.exe","command_line":"alpha"},"event":{"code":5}}`)},
		},
		{
			"a keyword block becomes a field by the null key",
			[]string{items(`{type: field_name_mapping, mapping: {null: message}}`)},
			ruleWith(`sel: [needle], condition: sel`),
			[]probe{yes(`{"message":"a NEEDLE b"}`), no(`{"other":"needle"}`)},
		},
		{
			"a fieldref target is renamed",
			[]string{items(`{type: field_name_mapping, mapping: {B: b2}}`)},
			ruleWith(`sel: {A|fieldref: B}, condition: sel`),
			[]probe{yes(`{"A":"x","b2":"x"}`), no(`{"A":"x","B":"x"}`)},
		},
		{
			"the array of a block is renamed, the member itself is not",
			[]string{items(`{type: field_name_prefix, prefix: x.}`)},
			"title: R\nsigma-version: 3\ndetection: {sel: {'c[any]': {'.|startswith': a}}, condition: sel}\n",
			[]probe{yes(`{"x":{"c":["b","ab"]}}`), no(`{"c":["ab"]}`)},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := loadWith(t, set(t, tc.docs...), tc.rules)
			for _, p := range c.Problems() {
				t.Fatalf("problem: %v", p)
			}
			for _, p := range tc.want {
				if got := fires(t, c.Rules, p.event); got != p.want {
					t.Errorf("event %s: match %v, want %v", p.event, got, p.want)
				}
			}
		})
	}
}

func TestPipelinesRunByPriority(t *testing.T) {
	for _, tc := range []struct {
		name  string
		a, b  int
		event string
	}{
		{"the lower priority first", 20, 10, `{"x":{"Image":"C:\\tool.exe"},"g":"alpha"}`},
		{"equal priorities in the order given", 10, 10, `{"x":{"Image":"C:\\tool.exe","CommandLine":"alpha"}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			a := write(t, dir, "a.yml", fmt.Sprintf("priority: %d\n", tc.a)+items(`{type: field_name_mapping, mapping: {x.CommandLine: g}}`))
			b := write(t, dir, "b.yml", fmt.Sprintf("priority: %d\n", tc.b)+items(`{type: field_name_prefix, prefix: x.}`))
			s, err := pipeline.Load([]string{a, b})
			if err != nil {
				t.Fatal(err)
			}
			if c := loadWith(t, s, toolRule); !fires(t, c.Rules, tc.event) {
				t.Errorf("event %s does not match", tc.event)
			}
		})
	}
}

func TestRulesThatAPipelineRejects(t *testing.T) {
	for _, tc := range []struct{ name, items, rules, want string }{
		{"a detection loses its last item", items(`{type: drop_detection_item}`), toolRule, "detection 'selection' is empty after processing"},
		{"no valid hash algorithm", items(`{type: hashes_fields, valid_hash_algos: [MD5, SHA1]}`), ruleWith(`sel: {Hashes: 'IMPHASH=cc'}, condition: sel`), "no valid hash algorithm found in field 'Hashes'"},
		{"a rule failure", items(`{type: rule_failure, message: nope}`), toolRule, "Pipeline rule failure: nope (rule: R)"},
		{"a detection item failure", items(`{type: detection_item_failure, message: m, detection_item_conditions: [{type: match_string, pattern: "^al"}]}`), toolRule, "Pipeline detection item failure: m (rule: R)"},
		{"one alternative of a list loses its last item", items(`{type: drop_detection_item, field_name_conditions: [{type: include_fields, fields: [A]}]}`), ruleWith(`sel: [{A: 1}, {B: 2}], condition: sel`), "detection 'sel' is empty after processing"},
		{"too many values from one value", "vars: {a: [" + strings.Repeat("x,", 400) + "y], b: [" + strings.Repeat("x,", 400) + "y]}\n" + items(`{type: value_placeholders}`), ruleWith(`sel: {A: '%a%%b%'}, condition: sel`), "more than 100000 values"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := loadWith(t, set(t, tc.items), tc.rules)
			if len(c.Rules) != 0 || len(c.Rejected) != 1 {
				t.Fatalf("%d rules, %d rejected, want 0 and 1", len(c.Rules), len(c.Rejected))
			}
			if got := c.Rejected[0].Problems[0].Reason; !strings.Contains(got, tc.want) {
				t.Errorf("reason %q, want it to contain %q", got, tc.want)
			}
		})
	}
}

func TestPipelinesSayNothingOfWhatIsFaultyAlready(t *testing.T) {
	for _, detection := range []string{`sel: {A|foo: 1}, condition: sel`, `sel: [{A|foo: 1}, {B: 2}], condition: sel`, `sel: {}, condition: sel`, `sel: [], condition: sel`} {
		want := load.FromBytes("r.yml", []byte(ruleWith(detection)), load.Options{}).Problems()
		got := loadWith(t, set(t, items(`{type: field_name_prefix, prefix: x.}`)), ruleWith(detection)).Problems()
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: problems %v, want those without the pipeline: %v", detection, got, want)
		}
	}
}

func TestARuleThatIsSkippedIsNotRejected(t *testing.T) {
	c := loadWith(t, set(t, items(`{type: rule_failure, message: nope, action: skip, rule_conditions: [{type: tag, tag: attack.t1059}]}`)),
		toolRule+"tags: [attack.t1059]\n---\n"+strings.Replace(toolRule, "title: R", "title: S", 1))
	if len(c.Rules) != 1 || c.Rules[0].Title != "S" || len(c.Rejected) != 0 {
		t.Errorf("%d rules, %d rejected, want S alone and none rejected", len(c.Rules), len(c.Rejected))
	}
}

func TestPipelinesThatDoNotLoad(t *testing.T) {
	for _, tc := range []struct{ name, doc, want string }{
		{"an expression with an unknown name", items(`{type: field_name_prefix, prefix: x, rule_conditions: [{id: w, type: is_sigma_rule}, {id: p, type: is_sigma_rule}], rule_cond_expr: "(w or p)and not q"}`), "'q'"},
		{"transformations is no list", "transformations: {}", "transformations must be a sequence"},
		{"inline sources", "sources: []", "migrate-sources"},
		{"an unknown type", items(`{type: explode}`), "unknown transformation type: explode"},
		{"an empty list of values", items(`{type: add_condition, conditions: {EventID: []}}`), "add_condition: empty sequence for field 'EventID'"},
		{"a priority that is no number", "priority: high", "priority must be an integer"},
		{"two documents", "name: a\n---\nname: b\n", "pipeline YAML must be a mapping"},
		{"an empty file", "", "pipeline YAML must be a mapping"},
		{"broken YAML", "name: [", "pipeline YAML parse error"},
		{"an item without type", items(`{id: x}`), "transformation must have a 'type' field"},
		{"an unknown rule condition", items(`{type: regex, rule_conditions: [{type: moon}]}`), "unknown rule condition type: moon"},
		{"an unknown item condition", items(`{type: regex, detection_item_conditions: [{type: moon}]}`), "unknown detection item condition type: moon"},
		{"an unknown field condition", items(`{type: regex, field_name_conditions: [{type: moon}]}`), "unknown field name condition type: moon"},
		{"a condition without type", items(`{type: regex, rule_conditions: [{id: a}]}`), "rule condition must have a 'type' field"},
		{"a bad pattern", items(`{type: regex, detection_item_conditions: [{type: match_string, pattern: "("}]}`), "invalid match_string regex '('"},
		{"both operator and expression", items(`{type: regex, rule_conditions: [{id: a, type: is_sigma_rule}], rule_cond_op: or, rule_cond_expr: a}`), "exclude each other"},
		{"unbalanced parentheses", items(`{type: regex, rule_conditions: [{id: a, type: is_sigma_rule}], rule_cond_expr: "(a"}`), "missing ')'"},
		{"trailing words", items(`{type: regex, rule_conditions: [{id: a, type: is_sigma_rule}], rule_cond_expr: "a a"}`), "unexpected 'a'"},
		{"a level that there is not", items(`{type: regex, rule_conditions: [{type: rule_attribute, attribute: level, value: hgh, op: gt}]}`), "unknown level 'hgh'"},
		{"a status that there is not", items(`{type: regex, rule_conditions: [{type: rule_attribute, attribute: status, value: old, op: lte}]}`), "unknown status 'old'"},
		{"a name of a condition that is no text", items(`{type: regex, rule_conditions: [{id: [a], type: is_sigma_rule}]}`), "'id' must be a string"},
		{"an unknown word lists the known ones", items(`{type: set_value, force_type: list}`), "unknown value 'list' (num, str)"},
		{"a missing mapping", items(`{type: field_name_mapping}`), "missing required key 'mapping'"},
		{"a placeholder type of dynamic sources", items(`{type: http_placeholders}`), "dynamic sources"},
		{"an include inside nest", items(`{type: nest, items: [{include: x}]}`), "include is not allowed inside nest"},
		{"include and exclude", items(`{type: value_placeholders, include: [a], exclude: [b]}`), "exclude each other"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := pipeline.Parse([]byte(tc.doc))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one that contains %q", err, tc.want)
			}
		})
	}
}

func TestApplyLeavesTheDocumentAlone(t *testing.T) {
	c := load.FromBytes("r.yml", []byte(toolRule), load.Options{})
	before := fmt.Sprintf("%+v", *c.Rules[0].Detections[0].Node)
	s := set(t, items(`{id: a, type: field_name_prefix, prefix: x.}`, `{type: replace_string, regex: alpha, replacement: beta}`))
	out, outcome, err := s.Apply(c.Rules[0])
	if err != nil {
		t.Fatal(err)
	}
	if got := out.Detections[0].Node.Items[1]; got.Field != "x.CommandLine" || got.Values[0].Text != "beta" {
		t.Errorf("rewritten item = %+v", got)
	}
	if after := fmt.Sprintf("%+v", *c.Rules[0].Detections[0].Node); after != before {
		t.Errorf("the input changed from %s to %s", before, after)
	}
	if fmt.Sprint(outcome.Applied) != "[a]" {
		t.Errorf("applied %v, want [a]", outcome.Applied)
	}
}

func TestConvertTypeKeepsWhatDoesNotConvert(t *testing.T) {
	c := loadWith(t, set(t, items(`{type: convert_type, target_type: int}`)), ruleWith(`sel: {A: ["42", "4x", true]}, condition: sel`))
	got := c.Rules[0].Detections[0].Node.Items[0].Values
	want := []ast.Value{{Kind: ast.Number, Text: "42"}, ast.StringValue("4x"), {Kind: ast.Number, Text: "1"}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("values %v, want %v", got, want)
	}
}

func TestCorrelationsAreRenamedWithTheirRules(t *testing.T) {
	const correlation = "---\ntitle: C\ncorrelation: {type: event_count, rules: [r], group-by: [User], timespan: 5m, condition: {gte: 2}}\n"
	c := loadWith(t, set(t, "@ecs_windows"), toolRule+correlation)
	if len(c.Correlations) != 1 || fmt.Sprint(c.Correlations[0].GroupBy) != "[user.name]" {
		t.Fatalf("correlations %+v, rejected %+v, want group-by [user.name]", c.Correlations, c.Rejected)
	}
	const aliased = "---\ntitle: C\ncorrelation: {type: event_count, rules: [r], group-by: [who], aliases: {who: {r: User}}, timespan: 5m, condition: {gte: 2}}\n"
	c = loadWith(t, set(t, items(`{type: field_name_mapping, mapping: {User: [u1, u2]}}`)), toolRule+aliased)
	if len(c.Rejected) != 1 || !strings.Contains(c.Rejected[0].Problems[0].Reason, "one-to-many cannot be applied to correlation alias mapping") {
		t.Errorf("rejected %+v, want the one-to-many alias", c.Rejected)
	}
}

func TestALoadErrorNamesThePipeline(t *testing.T) {
	_, err := pipeline.Load([]string{"sysmon", "/does/not/exist.yml"})
	var le *pipeline.LoadError
	if !errors.As(err, &le) || le.Path != "/does/not/exist.yml" || !strings.Contains(err.Error(), "cannot read pipeline file") {
		t.Errorf("error %v, want one about /does/not/exist.yml", err)
	}
	for name, want := range map[string]string{
		t.TempDir(): "is a directory", os.DevNull: "is no regular file", "sysmn": "built in are ecs_windows, fibratus_windows, sysmon",
	} {
		if _, err := pipeline.Load([]string{name}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s as a pipeline: %v, want that it %s", name, err, want)
		}
	}
}
