package reference_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/reference"
	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/pipeline"
	"github.com/sluicehq/sluice/sigma/result"
)

// hardRules have every kind of node, values of every kind and a correlation.
const hardRules = toolRule + `---
title: Hard
id: hard
sigma-version: 3
fields: [A, B]
logsource: {product: windows}
detection:
  any: [{A: 1, B|contains|all: [x, 'y*']}, word, {C: null}]
  words: [a, 'b*', 5]
  raw: {D|re: 'a%x%\d', E|cidr: 10.0.0.0/8, F|expand|contains: ['%x%', 'a%y%', '%'], G|fieldref: A, H|exists: true, Hashes: ['MD5=aa,SHA1=bb', x]}
  array: {'I[any]': {'.|startswith': a, J: [1, true, 1.5]}}
  condition: 1 of * and not raw
---
title: F
filter: {rules: any, sel: {A: 1, K|neq: 2}, condition: not sel}
---
title: C
correlation: {type: value_count, rules: [r, hard], group-by: [who, B], aliases: {who: {r: User, hard: A}}, timespan: 5m, condition: {field: B, gte: 2}}
`

// seeds use every transformation and condition.
var seeds = []string{
	"name: a\npriority: 3\nvars: {v: [x, 1], x: [p, '*'], y: []}\ntransformations: [{id: i, type: field_name_prefix, prefix: p.}, {type: value_placeholders}, {type: wildcard_placeholders, include: [q]}]",
	"transformations: [{type: add_condition, conditions: {A|endswith: [1, x]}, field_refs: {B: C}, negated: true, template: true}, {type: drop_detection_item, detection_item_conditions: [{type: is_null}]}]",
	"transformations: [{type: hashes_fields, valid_hash_algos: MD5, rule_conditions: {a: {type: tag, tag: t}}, rule_cond_expr: not a}]",
	"transformations: [{type: nest, items: [{type: regex, rule_cond_expr: '((('}]}]",
	"transformations: [{type: field_name_mapping, mapping: {A: [x, y], B: '', null: m, I: [j, k]}}, {type: field_name_transform, transform_func: title}, {type: field_name_prefix_mapping, mapping: {x: ''}}]",
	"transformations: [{type: set_value, value: 7, force_type: str}, {type: convert_type, target_type: num}, {type: case, method: snake_case}, {type: map_string, mapping: {x: [a, 'b*']}}]",
	"transformations: [{type: replace_string, regex: '(a)|.', replacement: '\\1*', skip_special: true}, {type: replace_string, regex: '', replacement: '\\g<0>$'}]",
	"transformations: [{type: set_state, key: k, val: 1}, {type: field_name_suffix, suffix: s, rule_conditions: [{type: processing_state, key: k, val: 2, op: lt}], field_name_conditions: [{type: include_fields, fields: [A], mode: re}], field_name_cond_not: true}]",
	"transformations: [{type: change_logsource, product: linux}, {type: set_field, fields: [A]}, {type: set_custom_attribute, attribute: sluice.window, value: {a: [1]}}, {type: rule_failure, action: skip, rule_conditions: [{type: rule_attribute, attribute: level, op: gte, value: high}]}]",
	"transformations: [{id: a, type: nest, items: [{id: b, type: case, detection_item_conditions: [{type: match_string, pattern: a, negate: true}, {type: match_value, value: 1}, {type: contains_wildcard, cond: all}], detection_item_cond_op: or}]}, {type: detection_item_failure, detection_item_conditions: [{type: processing_item_applied, processing_item_id: b}]}]",
	"transformations: [{type: query_expression_placeholders, expression: e}, {type: add_field, field: X}, {type: remove_field, field: [X, Y]}, {type: field_name_mapping, mapping: {A: B}, rule_conditions: [{type: contains_detection_item, field: a, value: 1}, {type: contains_field, field: B}, {type: logsource, category: c}, {type: is_sigma_rule}, {type: is_sigma_correlation_rule}, {type: processing_item_applied, processing_item_id: q}], rule_cond_expression: 'cond_0 or not (cond_1 and cond_2) or cond_3 or cond_4 or cond_5'}]",
}

// sampleOfCorpus is every hundredth rule, none without the corpus.
func sampleOfCorpus(tb testing.TB) []*ast.Rule {
	tb.Helper()
	dir, err := sigmatest.FindData()
	if err != nil {
		tb.Logf("without the corpus: %v", err)
		return nil
	}
	archive, err := sigmatest.ReadRuleArchive(dir)
	if err != nil {
		tb.Fatal(err)
	}
	c, err := load.FromFS(archive, load.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	var out []*ast.Rule
	for i := 0; i < len(c.Rules); i += 100 {
		out = append(out, c.Rules[i])
	}
	return out
}

// Whatever a pipeline says, rules come out of it usable or rejected, and both
// engines evaluate alike by what came out.
func FuzzPipelinesNeverPanic(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	j := newJudges(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := pipeline.Parse(data)
		if (p == nil) == (err == nil) {
			t.Fatalf("pipeline %v and error %v", p, err)
		}
		if err == nil {
			j.judge(t, p)
		}
	})
}

// The same of pipelines that are put together from parts that parse.
func TestRandomPipelinesLeaveUsableRules(t *testing.T) {
	j := newJudges(t)
	random := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		doc := randomPipeline(random)
		p, err := pipeline.Parse([]byte(doc))
		if err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		j.judge(t, p)
		if t.Failed() {
			t.Fatalf("after\n%s", doc)
		}
	}
}

// actions are transformations with $F for names, $V for values and $I for an id.
var actions = []string{
	"field_name_mapping, mapping: {$F: $F, $F2: [$F, $F2], null: $F}", "field_name_prefix, prefix: $F", "field_name_suffix, suffix: $V",
	"field_name_prefix_mapping, mapping: {$F: [x, '']}", "field_name_transform, transform_func: title", "drop_detection_item",
	"add_condition, conditions: {'$F|contains': [$V, $V]}, field_refs: {$F: $F}, negated: true", "add_condition, conditions: {$F: $V}, prepend: true, template: true",
	"change_logsource, product: $V", "set_field, fields: [$F, $F]", "add_field, field: $F", "set_state, key: k, val: $V",
	"replace_string, regex: '[a-m%]+', replacement: '$V'", "replace_string, regex: a, replacement: '$V', skip_special: true",
	"map_string, mapping: {x: [$V, $V], word: $V}", "set_value, value: $V", "convert_type, target_type: num", "convert_type, target_type: bool",
	"case, case_type: snake_case", "regex", "hashes_fields, valid_hash_algos: [MD5]", "value_placeholders", "value_placeholders, exclude: x",
	"wildcard_placeholders", "wildcard_placeholders, include: [y]", "rule_failure, rule_conditions: [{type: contains_field, field: $F}]",
	"detection_item_failure, field_name_conditions: [{type: include_fields, fields: $F}]", "set_custom_attribute, attribute: sluice.window, value: $V",
	"nest, items: [{id: $I, type: field_name_suffix, suffix: x, field_name_conditions: [{type: include_fields, fields: [$F, $F]}]}]",
}

// limits are conditions of an item.
var limits = []string{
	"field_name_conditions: [{type: include_fields, fields: [$F, $F]}]", "field_name_conditions: [{type: exclude_fields, fields: $F}], field_name_cond_not: true",
	"detection_item_conditions: [{type: match_string, pattern: '[xw]'}, {type: is_null}], detection_item_cond_op: or",
	"detection_item_conditions: [{type: processing_item_applied, processing_item_id: $I}]", "detection_item_conditions: [{type: contains_wildcard, cond: all}]",
	"rule_conditions: [{type: processing_state, key: k, val: $V, op: gte}]", "rule_conditions: [{type: processing_item_applied, processing_item_id: $I}], rule_cond_not: true",
	"rule_conditions: [{type: is_sigma_correlation_rule}]", "field_name_conditions: [{type: processing_item_applied, processing_item_id: $I}]",
}

func randomPipeline(random *rand.Rand) string {
	one := func(of ...string) string { return of[random.IntN(len(of))] }
	fill := func(text string) string {
		for strings.Contains(text, "$") {
			for _, slot := range []struct{ mark, text string }{
				{"$F2", one("K", "G", "Hashes")},
				{"$F", one("A", "B", "C", "D", "F", "I", "J", "User", "x.A", "Image")},
				{"$V", one("x", "5", "true", "1.5", "word")},
				{"$I", one("i0", "i1", "i2")},
			} {
				text = strings.Replace(text, slot.mark, slot.text, 1)
			}
		}
		return text
	}
	doc := "vars: {x: [a, 'b*'], y: " + one("[]", "[c]", "'%x%'") + "}\ntransformations:\n"
	for i := range 1 + random.IntN(5) {
		action := one(actions...)
		doc += fmt.Sprintf("  - {id: i%d, type: %s", i, fill(action))
		if random.IntN(2) == 0 && !strings.Contains(action, "_conditions") {
			doc += ", " + fill(one(limits...))
		}
		doc += "}\n"
	}
	return doc
}

// evaluates are what rules have to stand after a pipeline.
type judges struct {
	corpus []*ast.Rule
	events []string
}

func newJudges(tb testing.TB) *judges {
	tb.Helper()
	generator := NewGenerator(1, load.FromBytes("r.yml", []byte(hardRules), load.Options{}).Rules)
	events := []string{toolRecord, `{}`, `{"A":1,"B":"x y","I":["ab",1],"m":"word"}`, `[1,{"A":1}]`}
	for range 8 {
		events = append(events, string(generator.Event()))
	}
	return &judges{sampleOfCorpus(tb), events}
}

func (j *judges) judge(t *testing.T, p *pipeline.Pipeline) {
	t.Helper()
	s := &pipeline.Set{Pipelines: []*pipeline.Pipeline{p, evtx(t)}}
	for _, r := range j.corpus {
		if out, _, err := s.Apply(r); out == nil {
			t.Fatalf("no rule and error %v", err)
		}
	}
	c := loadThrough(s, hardRules)
	slow, err := reference.New(c.Rules, reference.Options{})
	if err != nil {
		t.Fatalf("the reference refuses what was loaded: %v", err)
	}
	fast, err := engine.Compile(c.Rules, engine.Options{})
	if err != nil {
		t.Fatalf("the engine refuses what was loaded: %v", err)
	}
	if _, err := correlation.Compile(c.Correlations, c.Rules, correlation.Options{}); err != nil {
		t.Fatalf("the correlations that were loaded do not compile: %v", err)
	}
	w := fast.NewWorker()
	for _, e := range j.events {
		if got, want := firesOn(t, w, e), slow.Fires(decoded(t, e)); !slices.Equal(got, want) {
			t.Errorf("event %s: the engine says %v, the reference %v", e, got, want)
		}
	}
}

func evtx(t *testing.T) *pipeline.Pipeline {
	t.Helper()
	s, err := pipeline.Load([]string{"windows_evtx"})
	if err != nil {
		t.Fatal(err)
	}
	return s.Pipelines[0]
}

func decoded(t *testing.T, event string) *reference.Event {
	t.Helper()
	x, err := reference.DecodeJSON([]byte(event))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// firesOn returns the load indexes of the rules that match, ascending.
func firesOn(t *testing.T, w *engine.Worker, event string) []int {
	t.Helper()
	var events engine.Events
	if err := w.DecodeJSON(&events, []byte(event)); err != nil {
		t.Fatal(err)
	}
	var batch result.Batch
	w.Evaluate(&events, 0, 0, &batch)
	var out []int
	for i := range batch.Len() {
		out = append(out, batch.At(i).Rule.Index)
	}
	slices.Sort(out)
	return out
}
