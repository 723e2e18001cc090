package load

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/ast"
)

const filtered = `title: R
id: r1
name: the_rule
logsource: {product: Windows, category: process_creation}
detection: {sel: {C|contains: whoami}, condition: sel}
---
`

func TestFilterTargets(t *testing.T) {
	for _, tc := range []struct {
		name, head string
		want       int // filters on the rule
	}{
		{"by id", "rules: [r1]", 1},
		{"by name", "rules: [other, the_rule]", 1},
		{"by title", "rules: R", 1},
		{"case-sensitively", "rules: r", 0},
		{"any", "rules: Any", 1},
		{"an empty list", "rules: []", 1},
		{"without the key", "", 1},
		{"of another type", "rules: {a: b}", 1},
		{"any inside a list is a name", "rules: [any]", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			head := strings.ReplaceAll(tc.head, "rules", "\n  rules")
			c := FromBytes("f.yml", []byte(filtered+"title: F\nfilter:"+head+"\n  s: {U: SYSTEM}\n  condition: not s\n"), Options{})
			wantReasons(t, c)
			if got := len(c.Rules[0].Filters); got != tc.want {
				t.Errorf("got %d filters on the rule, want %d", got, tc.want)
			}
		})
	}
}

func TestFilterLogsource(t *testing.T) {
	for _, tc := range []struct {
		name, logsource string
		want            int
	}{
		{"ASCII case is ignored", "{product: windows}", 1},
		{"another product", "{product: linux}", 0},
		{"a dimension the rule lacks", "{product: windows, service: sysmon}", 0},
		{"the definition has no effect", "{definition: x}", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := FromBytes("f.yml", []byte(filtered+"title: F\nlogsource: "+tc.logsource+"\nfilter: {rules: any, s: {U: x}, condition: not s}"), Options{})
			wantReasons(t, c)
			if got := len(c.Rules[0].Filters); got != tc.want {
				t.Errorf("got %d filters on the rule, want %d", got, tc.want)
			}
		})
	}
}

func TestFaultyFilters(t *testing.T) {
	for _, tc := range []struct{ name, filter, want string }{
		{"no condition", "{rules: r1, s: {U: x}}", "Missing required field 'condition'"},
		{"no detection", "{rules: r1, condition: s}", "filter has no named detection"},
		{"a name of the rule", "{rules: r1, s: {U: x}, condition: s and sel}", "unknown detection identifier: sel in filter 'F'"},
		{"a conflict", "{rules: r1, s: {U|contains|endswith: x}, condition: s}", "conflicting modifiers"},
		{"a list", "[a]", "filter must be a mapping"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := FromBytes("f.yml", []byte(filtered+"title: F\nfilter: "+tc.filter), Options{})
			wantTitles(t, c, "R")
			if len(c.Rejected) != 1 || c.Rejected[0].Title != "F" || !strings.Contains(c.Rejected[0].Problems[0].Reason, tc.want) {
				t.Errorf("rejected %+v, want the filter alone for %q", c.Rejected, tc.want)
			}
			if len(c.Rules[0].Filters) != 0 || c.Filters != 0 {
				t.Errorf("a faulty filter was merged")
			}
		})
	}
}

func TestFilterMerging(t *testing.T) {
	const second = "---\ntitle: G\nsigma-version: 3\nfilter: {rules: r1, s: {'x[any]': 1}, condition: [not s, s]}\n"
	c := FromBytes("f.yml", []byte(strings.Replace(filtered, "---\n", "", 1)+"---\n"+named("Other")+"---\ntitle: F\nid: f1\nfilter: {rules: any, s: {U: x}, condition: not s}\n"+second+
		"---\ntitle: H\nfilter: {rules: nobody, s: {U: x}, condition: not s}\n"), Options{})
	wantReasons(t, c)
	wantWarnings(t, c, "filter 'H' matches no loaded rule")
	if c.Filters != 3 {
		t.Errorf("%d filters, want 3", c.Filters)
	}
	got := c.Rules[0].Filters
	if len(got) != 2 || got[0].ID != "f1" || got[0].Version != 2 || got[1].Title != "G" || got[1].Version != 3 || len(got[1].Conditions) != 2 {
		t.Fatalf("filters of R: %+v, want F under version 2, then G under version 3 with two conditions", got)
	}
	other := c.Rules[1].Filters
	if len(other) != 1 || other[0].ID != "f1" {
		t.Errorf("filters of Other: %+v, want F", other)
	}
	if got := FromBytes("f.yml", []byte(filtered+"title: F\nfilter: {rules: any, s: {U: x}, condition: s}"), Options{NoFilters: true}); len(got.Rules[0].Filters) != 0 {
		t.Errorf("filters were merged although they were unwanted")
	}
}

func TestFilterOverARejectedRule(t *testing.T) {
	c := FromBytes("f.yml", []byte("title: R\nid: r1\ndetection: {s: {a|re: '['}, condition: s}\n---\ntitle: F\nfilter: {rules: r1, s: {U: x}, condition: not s}"), Options{})
	wantReasons(t, c, "invalid regex")
	wantWarnings(t, c, "filter 'F' matches no loaded rule")
}

func TestTransform(t *testing.T) {
	rename := func(r *ast.Rule) (*ast.Rule, Outcome, error) {
		walk := func(n *ast.Node) bool {
			for i := range n.Items {
				n.Items[i].Field = "x." + n.Items[i].Field
			}
			return true
		}
		for _, d := range r.Detections {
			d.Node.Walk(walk)
		}
		for _, f := range r.Filters {
			f.Detections[0].Node.Walk(walk)
		}
		return r, Outcome{Applied: []string{"prefix"}, Warnings: []string{"renamed"}}, nil
	}
	c := FromBytes("f.yml", []byte(filtered+"title: F\nfilter: {rules: any, s: {U: x}, condition: not s}"), Options{Transform: rename})
	wantReasons(t, c)
	wantWarnings(t, c, "renamed")
	got := Fields(c)
	if len(got) != 2 || got[0] != (FieldCount{"x.C", 1}) || got[1] != (FieldCount{"x.U", 1}) {
		t.Errorf("fields %v, want x.C and x.U: pipelines reach filters, too", got)
	}
	if a := c.Rules[0].Applied; len(a) != 1 || a[0] != "prefix" {
		t.Errorf("applied %q, want prefix", a)
	}
}
