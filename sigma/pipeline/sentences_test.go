package pipeline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/pipeline"
)

// outline spells a node: what a pipeline made of it, without the decoration.
func outline(n *ast.Node) string {
	var parts []string
	sep := " and "
	switch n.Kind {
	case ast.KindItems, ast.KindKeywords:
		for _, it := range n.Items {
			var values []string
			for _, v := range it.Values {
				values = append(values, strings.ToLower(v.Kind.String()[:1])+":"+v.Text)
			}
			name := it.Field
			if m := it.Modifiers.String(); m != "" {
				name += "|" + m
			}
			parts = append(parts, name+"=["+strings.Join(values, " ")+"]")
		}
	case ast.KindArray:
		return n.Path + "{" + outline(n.Nodes[0]) + "}"
	case ast.KindNested:
		for _, d := range n.Detections {
			parts = append(parts, d.Name+": "+outline(d.Node))
		}
		sep = "; "
	default:
		if n.Kind == ast.KindAny {
			sep = " or "
		}
		for _, below := range n.Nodes {
			parts = append(parts, outline(below))
		}
	}
	return "(" + strings.Join(parts, sep) + ")"
}

// Each row shows what a transformation or a condition makes of a rule.
func TestWhatTransformationsMakeOfARule(t *testing.T) {
	const vars = "vars: {one: [a], two: [b, c], none: [], number: 4624, star: ['x*'], pct: ['%']}\n"
	value := func(t string) string { return vars + items("{type: value_placeholders"+t+"}") }
	for _, tc := range []struct {
		name, doc, detection string
		want                 string
	}{
		{"several targets are a disjunction in place", items(`{type: field_name_mapping, mapping: {A: [x, y]}}`), `{A: 1, B: 2}`, "(((x=[n:1]) or (y=[n:1])) and (B=[n:2]))"},
		{"modifiers and values are copied", items(`{type: field_name_mapping, mapping: {A: [x, y]}}`), `{A|contains|all: [p, q]}`, "((x|contains|all=[s:p s:q]) or (y|contains|all=[s:p s:q]))"},
		{"alternatives are renamed like others", items(`{type: field_name_mapping, mapping: {A: [x, y]}}`, `{type: field_name_suffix, suffix: _s}`), `{A: 1, B: 2}`, "(((x_s=[n:1]) or (y_s=[n:1])) and (B_s=[n:2]))"},
		{"and dropped like others", items(`{type: field_name_mapping, mapping: {A: [x, y]}}`, `{type: drop_detection_item, field_name_conditions: [{type: include_fields, fields: [B]}]}`), `{A: 1, B: 2}`, "(((x=[n:1]) or (y=[n:1])))"},
		{"names are matched exactly", items(`{type: field_name_mapping, mapping: {a: x}}`), `{A: 1}`, "(A=[n:1])"},
		{"a result is not looked up again", items(`{type: field_name_mapping, mapping: {A: B, B: C}}`), `{A: 1, B: 2}`, "(B=[n:1] and C=[n:2])"},
		{"a key without a target does nothing", items(`{type: field_name_mapping, mapping: {A: [], B: 5}}`), `{A: 1, B: 2}`, "(A=[n:1] and B=[n:2])"},
		{"and does not hide the keys behind it", items(`{type: field_name_mapping, mapping: {A: [], B: y}}`), `{A: 1, B: 2}`, "(A=[n:1] and y=[n:2])"},
		{"a name cannot become nothing", items(`{type: field_name_prefix_mapping, mapping: {A: ''}}`), `{A: 1, AB: 2}`, "(A=[n:1] and B=[n:2])"},
		{"the first prefix in declared order", items(`{type: field_name_prefix_mapping, mapping: {ab: x., a: y., abc: z.}}`), `{abcd: 1, ad: 2}`, "(x.cd=[n:1] and y.d=[n:2])"},
		{"a prefix with several targets", items(`{type: field_name_prefix_mapping, mapping: {a: [x., y.]}}`), `{ab: 1}`, "((x.b=[n:1]) or (y.b=[n:1]))"},
		{"a suffix", items(`{type: field_name_suffix, suffix: .keyword}`), `{A|contains: 1}`, "(A.keyword|contains=[n:1])"},
		{"lower is the default", items(`{type: field_name_transform}`), `{AbC: 1}`, "(abc=[n:1])"},
		{"title", items(`{type: field_name_transform, transform_func: title}`), `{'process id.x': 1}`, "(Process_Id_X=[n:1])"},
		{"snake case, and names of its own", items(`{type: field_name_transform, transform_func: snake_case, mapping: {SHA256: hash}}`), `{ProcessId: 1, SHA1: 2, SHA256: 3}`, "(process_id=[n:1] and s_h_a1=[n:2] and hash=[n:3])"},
		{"every alternative, at any depth", items(`{type: field_name_prefix, prefix: x.}`), `[{A: 1}, {B: 2}, word]`, "((x.A=[n:1]) or (x.B=[n:2]) or (=[s:word]))"},
		{"a keyword is wrapped where it has no star", items(`{type: field_name_mapping, mapping: {null: [m, o]}}`), `['*a', b]`, "((m=[s:*a* s:*b*]) or (o=[s:*a* s:*b*]))"},
		{"the condition of a field is asked of the referenced name, too", items(`{type: field_name_prefix, prefix: x., field_name_conditions: [{type: include_fields, fields: B}]}`), `{A|fieldref: B, C|fieldref: D}`, "(A|fieldref=[s:x.B] and C|fieldref=[s:D])"},
		{"patterns of fields are searched", items(`{type: field_name_prefix, prefix: x., field_name_conditions: [{type: exclude_fields, mode: re, fields: [age]}]}`), `{Image: 1, User: 2}`, "(Image=[n:1] and x.User=[n:2])"},
		{"a field that an earlier item made", items(`{id: a, type: field_name_mapping, mapping: {A: x}}`, `{type: field_name_suffix, suffix: _s, field_name_conditions: [{type: processing_item_applied, processing_item_id: a}]}`), `{A: 1, x: 2}`, "(x_s=[n:1] and x=[n:2])"},
		{"an item that an earlier item changed", items(`{id: a, type: map_string, mapping: {p: q}}`, `{type: field_name_suffix, suffix: _s, detection_item_conditions: [{type: processing_item_applied, processing_item_id: a}]}`), `{A: p, B: q}`, "(A_s=[s:q] and B=[s:q])"},
		{"not one that it left as it was", items(`{id: a, type: field_name_mapping, mapping: {A: x}}`, `{type: field_name_suffix, suffix: _s, detection_item_conditions: [{type: processing_item_applied, processing_item_id: a}]}`), `{A: 1, B: 2, C|fieldref: D}`, "(x_s=[n:1] and B=[n:2] and C|fieldref=[s:D])"},
		{"nor one whose values did not convert", items(`{id: a, type: convert_type, target_type: int}`, `{type: field_name_suffix, suffix: _s, detection_item_conditions: [{type: processing_item_applied, processing_item_id: a}]}`), `{A: '5', B: x, C: 5, D: null}`, "(A_s=[n:5] and B=[s:x] and C=[n:5] and D=[n:])"},
		{"values found anywhere", items(`{type: field_name_suffix, suffix: _s, detection_item_conditions: [{type: match_string, pattern: b}]}`), `{A: [abc, d], B: d, C: 5}`, "(A_s=[s:abc s:d] and B=[s:d] and C=[n:5])"},
		{"all of them", items(`{type: field_name_suffix, suffix: _s, detection_item_conditions: [{type: match_string, pattern: b, cond: all}]}`), `{A: [abc, d], B: b}`, "(A=[s:abc s:d] and B_s=[s:b])"},
		{"negate inverts the answer", items(`{type: field_name_suffix, suffix: _s, detection_item_conditions: [{type: match_string, pattern: b, negate: true}]}`), `{A: [abc, d], B: d}`, "(A=[s:abc s:d] and B_s=[s:d])"},
		{"a value of the same type", items(`{type: field_name_suffix, suffix: _s, detection_item_conditions: [{type: match_value, value: 1}]}`), `{A: 1, B: '1', C: 1.0}`, "(A_s=[n:1] and B=[s:1] and C_s=[n:1])"},
		{"an unescaped wildcard", items(`{type: field_name_suffix, suffix: _s, detection_item_conditions: [{type: contains_wildcard}]}`), `{A: 'a*', B: 'a\*'}`, `(A_s=[s:a*] and B=[s:a\*])`},
		{"a null", items(`{type: field_name_suffix, suffix: _s, detection_item_conditions: [{type: is_null}]}`), `{A: null, B: ''}`, "(A_s=[n:] and B=[s:])"},
		{"groups of conditions must both hold", items(`{type: field_name_suffix, suffix: _s, detection_item_conditions: [{type: is_null}], field_name_conditions: [{type: include_fields, fields: [A]}], field_name_cond_not: true}`), `{A: null, B: null}`, "(A=[n:] and B_s=[n:])"},
		{"without conditions a negation says nothing", items(`{type: field_name_suffix, suffix: _s, field_name_cond_not: true, rule_cond_not: true}`), `{A: 1}`, "(A_s=[n:1])"},
		{"outer and inner groups are asked apart", items(`{type: nest, field_name_conditions: [{type: include_fields, fields: [A, B]}], field_name_cond_op: or, items: [{type: field_name_suffix, suffix: _s, field_name_conditions: [{type: include_fields, fields: [A]}], field_name_cond_not: true}]}`), `{A: 1, B: 2, C: 3}`, "(A=[n:1] and B_s=[n:2] and C=[n:3])"},
		{"keywords are no item with a field", items(`{type: map_string, mapping: {p: q}, field_name_conditions: [{type: exclude_fields, fields: [A]}]}`, `{type: map_string, mapping: {q: r}, field_name_conditions: [{type: include_fields, fields: [A]}]}`), `[p]`, "(=[s:q])"},
		{"keywords are not dropped", items(`{type: drop_detection_item}`), `[p]`, "(=[s:p])"},
		{"replaced everywhere as written, and parsed again", items(`{type: replace_string, regex: '\\\\', replacement: '*'}`), `{A: 'c:\\x\\y'}`, "(A=[s:c:*x*y])"},
		{"groups in any spelling", items(`{type: replace_string, regex: '(?P<n>a)(b)', replacement: '\g<n>${2}$1\2$$'}`), `{A: ab}`, "(A=[s:abab$])"},
		{"patterns and networks are left alone", items(`{type: replace_string, regex: a, replacement: b}`, `{type: case_transformation, case_type: upper}`, `{type: map_string, mapping: {'a\d': x}}`), `{A|re: 'a\d', B|cidr: 'fa::/16', C: a}`, `(A|re=[s:a\d] and B|cidr=[s:fa::/16] and C=[s:B])`},
		{"keywords are strings, too", items(`{type: case, method: upper}`), `[ab, 5]`, "(=[s:AB n:5])"},
		{"a value becomes several in order", items(`{type: map_string, mapping: {b: [x, 'y*']}}`), `{A: [a, b, c]}`, "(A=[s:a s:x s:y* s:c])"},
		{"one value in the place of all", items(`{type: set_value, value: x}`), `{A|contains|all: [a, b]}`, "(A|contains=[s:x])"},
		{"null is the default", items(`{type: set_value}`), `{A: x}`, "(A=[n:])"},
		{"only where the conditions hold", items(`{type: set_value, value: x, field_name_conditions: [{type: include_fields, fields: [A]}]}`), `{A: a, B: b}`, "(A=[s:x] and B=[s:b])"},
		{"and the item is one that was changed", items(`{id: a, type: set_value, value: x, field_name_conditions: [{type: include_fields, fields: [A]}]}`, `{type: field_name_suffix, suffix: _s, detection_item_conditions: [{type: processing_item_applied, processing_item_id: a}]}`), `{A: a, B: b}`, "(A_s=[s:x] and B=[s:b])"},
		{"and not in keywords", items(`{type: set_value, value: x}`), `[a, b]`, "(=[s:a s:b])"},
		{"a number by force", items(`{type: set_value, value: '5', force_type: num}`), `{A: x}`, "(A=[n:5])"},
		{"a text by force", items(`{type: set_value, value: 5, force_type: str}`), `{A: x}`, "(A=[s:5])"},
		{"texts of everything", items(`{type: convert_type}`), `{A: [1, 1.5, true, null, x]}`, "(A=[s:1 s:1.5 s:true s:null s:x])"},
		{"truth of words and numbers", items(`{type: convert_type, target_type: bool}`), `{A: [Yes, '0', 2, 0, x, null]}`, "(A=[b:true b:false b:true b:false s:x n:])"},
		{"integers toward zero", items(`{type: convert_type, target_type: integer}`), `{A: [-1.9, '1.5', '7', true]}`, "(A=[n:-1 s:1.5 n:7 n:1])"},
		{"integers of any length are integers", items(`{type: convert_type, target_type: int}`), `{A: [12345678901234567890123, -5]}`, "(A=[n:12345678901234567890123 n:-5])"},
		{"and numbers", items(`{type: convert_type, target_type: num}`), `{A: [12345678901234567890123, 1.5, '1.50', '7', true]}`, "(A=[n:12345678901234567890123 n:1.5 n:1.5 n:7 b:true])"},
		{"a hash by its length", items(`{type: hashes_fields}`), `{Hash: '*` + strings.Repeat("a", 32) + `'}`, "(FileMD5=[s:" + strings.Repeat("a", 32) + "])"},
		{"all hashes together where all was asked", items(`{type: hashes_fields, field_prefix: h_}`), `{Hashes|contains|all: ['MD5=a', 'SHA1|b']}`, "(h_MD5|contains=[s:a] and h_SHA1|contains=[s:b])"},
		{"what has no algorithm or no hash is none", items(`{type: hashes_fields}`), `{Hash: [abc, 'MD5=', 'SHA1=b']}`, "(FileSHA1=[s:b])"},
		{"one field without the algorithm", items(`{type: hashes_fields, field_prefix: hash, drop_algo_prefix: true, field_to_parse: H}`), `{h: ['MD5=a', 'SHA1=b'], Hashes: x}`, "(((hash=[s:a]) or (hash=[s:b])) and (Hashes=[s:x]))"},

		{"a number is its text", value(""), `{A: 'id-%number%'}`, "(A=[s:id-4624])"},
		{"a wildcard in a variable is one", value(""), `{A: '%star%'}`, "(A=[s:x*])"},
		{"unknown names stay", value(""), `{A: '%nope%%one%'}`, "(A=[s:%nope%a])"},
		{"a second percent sign may begin another name", value(""), `{A|expand: '%nope%one%'}`, "(A=[s:%nopea])"},
		{"a lone percent sign is text, with expand, too", value(""), `{A|expand: '50% of %one%'}`, "(A=[s:50% of a])"},
		{"names beside each other", value(""), `{A|expand: '%one%%two%'}`, "(A=[s:ab s:ac])"},
		{"inserted percent signs make no placeholder", value(""), `{A|expand: '%pct%x%pct%'}`, "(A=[s:%x%])"},
		{"percent signs on its two sides make none either", value(""), `{A|expand: 'x%%one%y%'}`, "(A=[s:x%ay%])"},
		{"a backslash escapes nothing", value(""), `{A: '\%one%'}`, `(A=[s:\a])`},
		{"included names alone", value(", include: [two]"), `{A: '%one%%two%'}`, "(A=[s:%one%b s:%one%c])"},
		{"all but the excluded", value(", exclude: two"), `{A: '%one%%two%'}`, "(A=[s:a%two%])"},
		{"patterns take text verbatim", value(""), `{A|re: '^%star%$'}`, "(A|re=[s:^x*$])"},
		{"the unresolved alternative keeps expand", value(""), `{A|expand|contains: ['%one%', '%nope%']}`, "((A|contains=[s:a]) or (A|contains|expand=[s:%nope%]))"},
		{"where all must hold both halves do", value(""), `{A|contains|all|expand: ['%one%', '%nope%']}`, "(A|contains=[s:a] and A|contains|expand=[s:%nope%])"},
		{"all is dropped with one value left", value(""), `{A|contains|all: ['%none%', b]}`, "(A|contains=[s:b])"},
		{"an unknown wildcard needs expand or its name", vars + items(`{type: wildcard_placeholders, include: [TEMP]}`), `{A: '%TEMP%\x', B: '%APP%\x', C|expand: '%APP%'}`, `(A=[s:*\x] and B=[s:%APP%\x] and C|expand=[s:%APP%])`},
		{"an empty variable is a wildcard", vars + items(`{type: wildcard_placeholders}`), `{A|expand: '%none%', B|expand: '%two%', C: '%none%'}`, "(A=[s:*] and B=[s:b s:c] and C=[s:%none%])"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := loadWith(t, set(t, tc.doc), ruleWith("sel: "+tc.detection+", condition: sel"))
			for _, p := range c.Problems() {
				t.Fatalf("problem: %v", p)
			}
			if got := outline(c.Rules[0].Detections[0].Node); got != tc.want {
				t.Errorf("became\n%s, want\n%s", got, tc.want)
			}
		})
	}
}

// Each row renames A if its conditions hold.
func TestRuleConditions(t *testing.T) {
	const head = "title: Some Rule\nid: 5b1f0a52-0001-4000-8000-000000000001\nname: some\nlevel: high\nstatus: test\nauthor: Ann\ndate: 2024-05-06\n" +
		"description: finds things\ntags: [attack.t1059, attack.execution]\ncustom_attributes: {site: lab}\n" +
		"logsource: {product: windows, category: process_creation}\n"
	for _, tc := range []struct {
		name, conditions string
		want             bool
	}{
		{"no keys", `[{type: logsource}]`, true},
		{"a key in any case", `[{type: logsource, product: WINDOWS}]`, true},
		{"a key the rule lacks", `[{type: logsource, product: windows, service: x}]`, false},
		{"another word of the same length", `[{type: logsource, product: solaris}]`, false},
		{"an item by its field in any case", `[{type: contains_detection_item, field: a}]`, true},
		{"and by a value", `[{type: contains_detection_item, field: A, value: WORD}]`, true},
		{"and by another value", `[{type: contains_detection_item, field: A, value: x}]`, false},
		{"a number by its text", `[{type: contains_detection_item, field: B, value: '5'}]`, true},
		{"a null", `[{type: contains_detection_item, field: C, value: null}]`, true},
		{"a field in its case", `[{type: contains_field, field: a}]`, false},
		{"a field of a filter", `[{type: contains_field, field: F}]`, true},
		{"the kind of rule", `[{type: is_sigma_rule}]`, true},
		{"not the other kind", `[{type: is_sigma_correlation_rule}]`, false},
		{"an exact tag", `[{type: tag, tag: attack.t1059}]`, true},
		{"a part of a tag", `[{type: tag, tag: attack}]`, false},
		{"an unset state", `[{type: processing_state, key: k, val: v, op: ne}]`, false},
		{"the title in any case", `[{type: rule_attribute, attribute: title, value: some rule}]`, true},
		{"the id exactly", `[{type: rule_attribute, attribute: id, value: 5B1F0A52-0001-4000-8000-000000000001}]`, false},
		{"a part of the description", `[{type: rule_attribute, attribute: description, value: thing}]`, true},
		{"with op the level exactly", `[{type: rule_attribute, attribute: level, value: High, op: eq}]`, false},
		{"a level in order", `[{type: rule_attribute, attribute: level, value: medium, op: gt}]`, true},
		{"a level that is not above itself", `[{type: rule_attribute, attribute: level, value: high, op: gt}]`, false},
		{"a status in order", `[{type: rule_attribute, attribute: status, value: stable, op: lt}]`, true},
		{"a status above the lowest", `[{type: rule_attribute, attribute: status, value: unsupported, op: gt}]`, true},
		{"a date in order", `[{type: rule_attribute, attribute: date, value: 2024-05-06, op: gte}]`, true},
		{"a later date", `[{type: rule_attribute, attribute: date, value: 2024-10-01, op: gte}]`, false},
		{"a member of a list", `[{type: rule_attribute, attribute: tags, value: attack.execution, op: in}]`, true},
		{"not a member", `[{type: rule_attribute, attribute: tags, value: attack.execution, op: not_in}]`, false},
		{"a custom attribute", `[{type: rule_attribute, attribute: site, value: lab}]`, true},
		{"one that is missing", `[{type: rule_attribute, attribute: nosuch, value: lab, op: ne}]`, false},
		{"all by default", `[{type: is_sigma_rule}, {type: tag, tag: x}]`, false},
		{"any when asked", `[{type: is_sigma_rule}, {type: tag, tag: x}], rule_cond_op: or`, true},
		{"negated at last", `[{type: is_sigma_rule}, {type: tag, tag: x}], rule_cond_not: true`, true},
		{"an expression without blanks", `{w: {type: is_sigma_rule}, p-1: {type: tag, tag: x}}, rule_cond_expression: "(w)AND(NOT p-1 or not(not w))"`, true},
		{"names of a mapping win over ids", `{cond_0: {type: is_sigma_rule, id: x}}, rule_cond_expr: cond_0`, true},
		{"an empty expression is satisfied", `[{type: is_sigma_correlation_rule}], rule_cond_expr: " "`, true},
		{"and can be negated", `[{type: is_sigma_rule}], rule_cond_expression: "", rule_cond_not: true`, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rules := head + "detection: {sel: {A: word, B: 5, C: null}, condition: sel}\n---\ntitle: F\nfilter: {rules: any, f: {F: 1}, condition: not f}\n"
			c := loadWith(t, set(t, items(`{type: field_name_mapping, mapping: {A: x}, rule_conditions: `+tc.conditions+`}`)), rules)
			if len(c.Rejected) > 0 {
				t.Fatalf("rejected %+v", c.Rejected)
			}
			if got := c.Rules[0].Detections[0].Node.Items[0].Field == "x"; got != tc.want {
				t.Errorf("held %t, want %t", got, tc.want)
			}
		})
	}
}

func TestStatesAreCompared(t *testing.T) {
	for _, tc := range []struct {
		have, op, want string
		holds          bool
	}{
		{"5", "eq", "5.0", true},
		{"5", "gt", "4", true},
		{"5", "lte", "4", false},
		{"10", "gt", "9", true},
		{"'10'", "gt", "'9'", false},
		{"a", "lt", "b", true},
		{"a", "ne", "b", true},
		{"a", "eq", "A", false},
		{"true", "eq", "true", true},
		{"true", "gt", "false", false},
		{"5", "eq", "'5'", false},
		{"5", "ne", "'5'", true},
		{"null", "eq", "null", true},
	} {
		doc := items(fmt.Sprintf(`{type: set_state, key: k, value: %s}`, tc.have),
			fmt.Sprintf(`{type: field_name_mapping, mapping: {A: x}, field_name_conditions: [{type: processing_state, key: k, val: %s, op: %s}]}`, tc.want, tc.op))
		c := loadWith(t, set(t, doc), ruleWith(`sel: {A: 1}, condition: sel`))
		if got := c.Rules[0].Detections[0].Node.Items[0].Field == "x"; got != tc.holds {
			t.Errorf("%s %s %s holds %t, want %t", tc.have, tc.op, tc.want, got, tc.holds)
		}
	}
}

func TestWhatElseChangesInARule(t *testing.T) {
	const rule = "title: R\nfields: [A, B]\nlogsource: {product: windows, category: process_creation}\ndetection: {sel: {A: 1}, condition: sel}\n"
	for _, tc := range []struct {
		name, doc string
		got       func(*ast.Rule) string
		want      string
	}{
		{"targets are spliced into the fields", items(`{type: field_name_mapping, mapping: {A: [x, y]}}`), func(r *ast.Rule) string { return fmt.Sprint(r.Fields) }, "[x y B]"},
		{"a field is added once", items(`{type: add_field, field: [B, C]}`, `{type: add_field, field: C}`), func(r *ast.Rule) string { return fmt.Sprint(r.Fields) }, "[A B C]"},
		{"fields are removed", items(`{type: remove_field, field: [B, D]}`), func(r *ast.Rule) string { return fmt.Sprint(r.Fields) }, "[A]"},
		{"fields are replaced", items(`{type: set_field, fields: [Z]}`), func(r *ast.Rule) string { return fmt.Sprint(r.Fields) }, "[Z]"},
		{"the later attribute wins", items(`{type: set_custom_attribute, attribute: a, value: {b: [1]}}`, `{type: set_custom_attribute, attribute: a, value: [x, 2]}`), func(r *ast.Rule) string { return fmt.Sprint(r.Attributes) }, "map[a:[x 2]]"},
		{"parts of the logsource stay", items(`{type: change_logsource, service: s}`), func(r *ast.Rule) string {
			return r.Logsource.Product + "/" + r.Logsource.Category + "/" + r.Logsource.Service
		}, "windows/process_creation/s"},
		{"ids that acted, sorted, inner ones and those without effect too", items(`{id: z, type: nest, items: [{id: b, type: regex}]}`, `{id: a, type: set_state, key: k, val: 1}`, `{id: n, type: regex, rule_conditions: [{type: tag, tag: x}]}`, `{id: f, type: detection_item_failure, field_name_conditions: [{type: include_fields, fields: [Q]}]}`), func(r *ast.Rule) string { return fmt.Sprint(r.Applied) }, "[a b z]"},
		{"a condition in front", items(`{type: add_condition, conditions: {E: 1}, prepend: true, negated: true, name: added}`), func(r *ast.Rule) string { return r.Conditions[0].Text }, "not added and sel"},
		{"two added conditions", items(`{type: add_condition, conditions: {E: 1}}`, `{type: add_condition, conditions: {F: 1}}`), func(r *ast.Rule) string { return r.Conditions[0].Text }, "(sel and __pipeline_cond_1) and __pipeline_cond_2"},
		{"modifiers and references in an added condition", items(`{type: add_condition, conditions: {E|endswith: [x, y]}, field_refs: {F: G}}`), func(r *ast.Rule) string { return outline(r.Detections[1].Node) }, "(E|endswith=[s:x s:y] and F|fieldref=[s:G])"},
		{"a template of the logsource", items(`{type: add_condition, template: true, conditions: {E: '$product-${category}-$service'}}`), func(r *ast.Rule) string { return outline(r.Detections[1].Node) }, "(E=[s:windows-process_creation-$service])"},
		{"without template it is text", items(`{type: add_condition, conditions: {E: '$product'}}`), func(r *ast.Rule) string { return outline(r.Detections[1].Node) }, "(E=[s:$product])"},
	} {
		c := loadWith(t, set(t, tc.doc), rule)
		if len(c.Rejected) > 0 {
			t.Errorf("%s: rejected %+v", tc.name, c.Rejected)
			continue
		}
		if got := tc.got(c.Rules[0]); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestVariablesOfOtherPipelines(t *testing.T) {
	use := "priority: 5\nvars: {own: [o]}\n" + items(`{type: value_placeholders}`)
	first, second := "vars: {own: [x], shared: [a]}\n", "vars: {shared: [b]}\n"
	c := loadWith(t, set(t, first, second, use), ruleWith(`sel: {A: '%own%', B: '%shared%'}, condition: sel`))
	if got, want := outline(c.Rules[0].Detections[0].Node), "(A=[s:o] and B=[s:b])"; got != want {
		t.Errorf("%s, want %s: the pipeline's own come first, then those of the later one", got, want)
	}
}

func TestAProblemIsFoundInEveryAlternative(t *testing.T) {
	c := loadWith(t, set(t, items(`{type: hashes_fields, valid_hash_algos: [MD5]}`)), ruleWith(`sel: [{A: 1}, {Hashes: 'IMPHASH=cc'}], condition: sel`))
	if len(c.Rejected) != 1 || !strings.Contains(fmt.Sprint(c.Problems()), "no valid hash algorithm found in field 'Hashes'") {
		t.Errorf("rejected %d, problems %v, want one about the hashes", len(c.Rejected), c.Problems())
	}
}

func TestWhatWasAppliedIsForgottenBehindAPipeline(t *testing.T) {
	first := items(`{id: a, type: field_name_mapping, mapping: {A: x}}`)
	second := items(
		`{type: field_name_suffix, suffix: _r, rule_conditions: [{type: processing_item_applied, processing_item_id: a}]}`,
		`{type: field_name_suffix, suffix: _d, detection_item_conditions: [{type: processing_item_applied, processing_item_id: a}]}`,
		`{type: field_name_suffix, suffix: _f, field_name_conditions: [{type: processing_item_applied, processing_item_id: a}]}`,
	)
	c := loadWith(t, set(t, first, second), ruleWith(`sel: {A: 1}, condition: sel`))
	if got, want := outline(c.Rules[0].Detections[0].Node), "(x=[n:1])"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestFiltersConditionsAndAttributesOfTheDocumentStay(t *testing.T) {
	rules := ruleWith("sel: {A: 1}, condition: sel") + "custom_attributes: {site: lab}\n---\ntitle: F\nfilter: {rules: any, f: {F: 1}, condition: not f}\n"
	r := loadWith(t, set(t), rules).Rules[0]
	s := set(t, items(`{type: field_name_prefix, prefix: x.}`, `{type: set_custom_attribute, attribute: site, value: hq}`, `{type: add_condition, name: c, conditions: {E: 1}}`))
	outcome, _, err := s.Apply(r)
	if err != nil {
		t.Fatal(err)
	}
	say := func(r *ast.Rule) string {
		return fmt.Sprint(outline(r.Filters[0].Detections[0].Node), r.Attributes["site"], " ", r.Conditions[0].Text)
	}
	const before, after = "(F=[n:1])lab sel", "(x.F=[n:1])hq sel and c"
	if got, was := say(outcome), say(r); got != after || was != before {
		t.Errorf("%s became %s, want %s and %s", was, got, before, after)
	}
}

func TestMorePipelinesThatDoNotLoad(t *testing.T) {
	for _, tc := range []struct{ name, doc, want string }{
		{"a key twice", "name: a\nname: b\n", "pipeline YAML parse error: "},
		{"variables that nest", "vars: {a: [[b]]}", "variable 'a'"},
		{"a variable with a percent sign", "vars: {'a%': b}", "contains %"},
		{"a large priority", "priority: 2147483648", "priority must be an integer"},
		{"an operator that is none", items(`{type: regex, rule_conditions: [{type: is_sigma_rule}], rule_cond_op: xor}`), "'rule_cond_op' must be 'and' or 'or'"},
		{"an expression without conditions", items(`{type: regex, rule_cond_expr: a}`), "unknown condition 'a'"},
		{"an expression that nests too deep", items(`{type: regex, rule_conditions: [{type: is_sigma_rule}], rule_cond_expr: "` + strings.Repeat("not ", 5000) + `cond_0"}`), "nested deeper than"},
		{"a negation that is no boolean", items(`{type: regex, rule_cond_not: yes}`), "'rule_cond_not' must be true or false"},
		{"conditions of another kind", items(`{type: regex, field_name_conditions: x}`), "field_name_conditions must be a sequence"},
		{"a condition that is no mapping", items(`{type: regex, detection_item_conditions: [x]}`), "detection item condition must be a mapping"},
		{"a bad field pattern", items(`{type: regex, field_name_conditions: [{type: include_fields, match_type: regex, fields: ['(']}]}`), "invalid field regex '('"},
		{"look-around", items(`{type: replace_string, regex: '(?=a)', replacement: x}`), "invalid replace_string regex"},
		{"an include beside another type", items(`{type: regex, include: x}`), "'include' does not go with type regex"},
		{"an unknown case", items(`{type: case, case_type: camel}`), "'case_type': unknown value 'camel'"},
		{"a number that is none", items(`{type: set_value, value: x, force_type: num}`), "'x' is not a number"},
		{"a pattern in an added condition", items(`{type: add_condition, conditions: {A|re: '('}}`), "invalid regex '('"},
		{"an unknown modifier there", items(`{type: add_condition, conditions: {A|nosuch: x}}`), "Unknown modifier 'nosuch'"},
		{"no field there", items(`{type: add_condition, conditions: {'|contains': x}}`), "names no field"},
		{"a mapping there", items(`{type: add_condition, conditions: {A: {b: c}}}`), "add_condition: non-scalar value for field 'A'"},
		{"nothing there", items(`{type: add_condition}`), "add_condition: no conditions"},
		{"no output field", items(`{type: add_field}`), "missing required key 'field'"},
		{"an unknown action", items(`{type: rule_failure, action: warn}`), "'action': unknown value 'warn'"},
		{"a place in the document", items(`{type: regex}`, `{type: nest, items: [{type: regex}, {type: field_name_prefix}]}`), "transformations[1]: items[1]: missing required key 'prefix'"},
	} {
		_, err := pipeline.Parse([]byte(tc.doc))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want one with %q", tc.name, err, tc.want)
		}
	}
}

func TestWarningsOfPipelines(t *testing.T) {
	for _, tc := range []struct{ name, doc, want string }{
		{"an unknown key", "colour: red\nvars: {a: b}\n", "unknown key 'colour' is ignored"},
		{"an unknown key of an item", items(`{id: a, type: regex, colour: red}`), "transformations[0] 'a': unknown key 'colour' is ignored"},
		{"an unknown key of a condition", items(`{type: regex, rule_conditions: [{type: logsource, prodct: windows}]}`), "transformations[0]: rule condition 'cond_0': unknown key 'prodct' is ignored"},
		{"a condition nobody mentions", items(`{type: regex, rule_conditions: {a: {type: is_sigma_rule}, b: {type: is_sigma_rule}}, rule_cond_expr: a}`), "transformations[0]: rule_cond_expr does not mention condition 'b'"},
		{"a condition that knows no negation", items(`{type: regex, detection_item_conditions: [{type: contains_wildcard, negate: true}]}`), "unknown key 'negate' is ignored"},
		{"a target that is no name", items(`{type: field_name_mapping, mapping: {A: [x, 5]}}`), "mapping of 'A' has a target that is no string, dropped"},
		{"a key without target", items(`{type: field_name_mapping, mapping: {A: []}}`), "mapping of 'A' has no target and does nothing"},
	} {
		p, err := pipeline.Parse([]byte(tc.doc))
		if err != nil || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], tc.want) {
			t.Errorf("%s: warnings %q and error %v, want %q", tc.name, p.Warnings, err, tc.want)
		}
	}
	p, err := pipeline.Parse([]byte("name: n\nsilences: []\ndedup: {}\n"))
	if want := []string{"unknown key 'silences' is ignored", "unknown key 'dedup' is ignored", "it has no transformations, so it changes no rule: is it a processing pipeline?"}; err != nil || !slices.Equal(p.Warnings, want) {
		t.Errorf("a file of another kind: warnings %q and error %v, want %q", p.Warnings, err, want)
	}
	p, err = pipeline.Parse([]byte("finalizers: [{type: nosuch}]\npostprocessing: 5\nallowed_backends: [x]\n"))
	if err != nil || len(p.Warnings) > 0 || !slices.Equal(p.Ignored, []string{"finalizers", "postprocessing", "allowed_backends"}) {
		t.Errorf("ignored %q, warnings %q, error %v", p.Ignored, p.Warnings, err)
	}
}

func TestWarningsOfRules(t *testing.T) {
	const correlation = "---\ntitle: C\ncorrelation: {type: event_count, rules: [r], group-by: [User], timespan: 5m, condition: {gte: 2}}\n"
	for _, tc := range []struct{ name, doc, rules, want string }{
		{
			"a placeholder is told once", items(`{type: value_placeholders}`, `{type: value_placeholders}`),
			ruleWith(`sel: {A|expand: ['%x%', 'a%x%']}, condition: sel`), "no pipeline gives a value to %x%: ",
		},
		{
			"grouping that gets broader", items(`{type: field_name_mapping, mapping: {User: [a, b]}}`),
			ruleWith(`sel: {A: 1}, condition: sel`) + correlation, "group-by field 'User' of correlation 'C' becomes 2 fields",
		},
		{
			"a rule left out", items(`{type: rule_failure, action: skip, message: m}`),
			ruleWith(`sel: {A: 1}, condition: sel`), "Pipeline rule failure: m (rule: R)",
		},
	} {
		c := loadWith(t, set(t, tc.doc), tc.rules)
		n := 0
		for _, w := range c.Warnings {
			if strings.Contains(w.Reason, tc.want) {
				n++
			}
		}
		if n != 1 || len(c.Rejected) > 0 {
			t.Errorf("%s: %d warnings, want 1; all: %+v; rejected %+v", tc.name, n, c.Warnings, c.Rejected)
		}
	}
	// What a later item resolves is no reason to warn.
	c := loadWith(t, set(t, items(`{type: value_placeholders}`, `{type: wildcard_placeholders}`)), ruleWith(`sel: {A|expand: '%x%'}, condition: sel`))
	if len(c.Warnings) > 0 {
		t.Errorf("warnings %+v, want none", c.Warnings)
	}
}

func TestWhatReachesCorrelations(t *testing.T) {
	const rules = toolRule + "---\ntitle: C\nname: c\ntags: [t]\ncorrelation: {type: value_count, rules: [r], group-by: [who, User, Host], aliases: {who: {r: User}}, timespan: 5m, condition: {field: Name, gte: 2}}\n"
	for _, tc := range []struct {
		name, doc string
		want      string // group-by, alias target, field; or the problem
	}{
		{"aliases keep their names", items(`{type: field_name_prefix, prefix: x.}`), "[who x.User x.Host] x.User [x.Name]"},
		{"conditions of names are honoured", items(`{type: field_name_suffix, suffix: _s, field_name_conditions: [{type: include_fields, fields: [User]}]}`), "[who User_s Host] User_s [Name]"},
		{"names that an item made", items(`{id: a, type: field_name_mapping, mapping: {User: u}}`, `{type: field_name_suffix, suffix: _s, field_name_conditions: [{type: processing_item_applied, processing_item_id: a}]}`), "[who u_s Host] u_s [Name]"},
		{"a logsource of a referred rule", items(`{type: field_name_mapping, mapping: {Host: h}, rule_conditions: [{type: logsource, product: windows}]}`), "[who User h] User [Name]"},
		{"as it is after its pipelines", items(`{type: change_logsource, product: p}`, `{type: field_name_mapping, mapping: {Host: h}, rule_conditions: [{type: logsource, product: p}]}`), "[who User h] User [Name]"},
		{"a logsource of none", items(`{type: field_name_mapping, mapping: {Host: h}, rule_conditions: [{type: logsource, product: linux}]}`), "[who User Host] User [Name]"},
		{"for correlations alone", items(`{type: field_name_mapping, mapping: {Host: h}, rule_conditions: [{type: is_sigma_correlation_rule}]}`), "[who User h] User [Name]"},
		{"inside nest, after a state", items(`{type: set_state, key: k, val: v}`, `{type: nest, items: [{type: field_name_mapping, mapping: {Host: h}, rule_conditions: [{type: processing_state, key: k, val: v}]}]}`), "[who User h] User [Name]"},
		{"items that do nothing are not applied", items(`{id: a, type: add_condition, conditions: {Q: 1}}`, `{type: field_name_mapping, mapping: {Host: h}, rule_conditions: [{type: processing_item_applied, processing_item_id: a}]}`), "[who User Host] User [Name]"},
		{"items that act are", items(`{id: a, type: set_state, key: k, val: v}`, `{id: b, type: set_custom_attribute, attribute: x, value: 1}`, `{id: c, type: nest, items: [{type: regex}]}`, `{type: field_name_mapping, mapping: {Host: h}, rule_conditions: [{type: processing_item_applied, processing_item_id: a}, {type: processing_item_applied, processing_item_id: b}, {type: processing_item_applied, processing_item_id: c}]}`), "[who User h] User [Name]"},
		{"and set no state", items(`{type: query_expression_placeholders, expression: e}`, `{type: field_name_mapping, mapping: {Host: h}, rule_conditions: [{type: processing_state, key: query_expression_template, val: e}]}`), "[who User Host] User [Name]"},
		{"no items to look for", items(`{type: field_name_mapping, mapping: {Host: h}, rule_conditions: [{type: contains_field, field: CommandLine}]}`), "[who User Host] User [Name]"},
		{"a tag", items(`{type: field_name_mapping, mapping: {Host: h}, rule_conditions: [{type: tag, tag: t}]}`), "[who User h] User [Name]"},
		{"a condition field has one name", items(`{type: field_name_mapping, mapping: {Name: [a, b]}}`), "one-to-many cannot be applied to correlation condition field reference 'Name'"},
		{"an alias target has one name", items(`{type: field_name_mapping, mapping: {User: [a, b]}}`), "one-to-many cannot be applied to correlation alias mapping 'who' (rule 'r', field 'User')"},
		{"a failure", items(`{type: rule_failure, message: m, rule_conditions: [{type: is_sigma_correlation_rule}]}`), "Pipeline rule failure: m (correlation: C)"},
		{"an attribute", items(`{type: set_custom_attribute, attribute: sluice.max_correlation_events, value: 3, rule_conditions: [{type: is_sigma_correlation_rule}]}`), "[who User Host] User [Name] 3"},
		{"a rule that is left out takes it along", items(`{type: rule_failure, action: skip, rule_conditions: [{type: is_sigma_rule}]}`), "refers to rule"},
	} {
		c := loadWith(t, set(t, tc.doc), rules)
		got := ""
		for _, p := range c.Problems() {
			got += p.Reason
		}
		if len(c.Correlations) == 1 {
			r := c.Correlations[0]
			got = fmt.Sprint(r.GroupBy, " ", r.Aliases[0].Fields[0].Field, " ", r.Condition.Fields)
			if r.Settings.MaxEvents > 0 {
				got += fmt.Sprint(" ", r.Settings.MaxEvents)
			}
		}
		if got != tc.want && (len(c.Correlations) == 1 || !strings.Contains(got, tc.want)) {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}
