package load_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
)

// One rule, a filter on two rules, and correlations of which one refers to another.
const reported = `
{title: A, id: a, detection: {s: {x: 1}, condition: s}}
---
{title: B, id: b, name: b, detection: {s: {x: 2}, condition: s}}
---
{title: C, id: c, detection: {s: {x: 3}, condition: s}}
---
{title: F, id: f, filter: {rules: [a, c], s: {u: 1}, condition: not s}}
---
{title: CA, id: ca, correlation: {type: event_count, rules: [c], group-by: [x], timespan: 1m, condition: {gte: 2}}}
---
{title: CB, id: cb, name: cb, correlation: {type: event_count, rules: [b], group-by: [x], timespan: 1m, condition: {gte: 2}}}
---
{title: CC, id: cc, correlation: {type: event_count, rules: [cb], group-by: [x], timespan: 1m, condition: {gte: 2}}}
---
{title: CD, id: cd, correlation: {type: temporal, rules: [ca, c], group-by: [x], timespan: 1m}}
`

func TestADocumentThatNoEvaluatorCanBeMadeOfIsRejectedAlone(t *testing.T) {
	unsound := &ast.Node{Kind: ast.KindArray}
	for _, tc := range []struct {
		name               string
		damage             func(rules []*ast.Rule)
		rules, correlation string
		rejected           string
		filters            int
	}{
		{"a rule takes what refers to it along", func(r []*ast.Rule) { r[1].Detections[0].Node = unsound }, "a c", "ca cd", "b cb cc", 1},
		{"several rules are rejected at once", func(r []*ast.Rule) { r[0].Detections[0].Node, r[2].Detections[0].Node = unsound, unsound }, "b", "cb cc", "a c ca cd", 1},
		{"a filter leaves the rules that it was for", func(r []*ast.Rule) {
			for _, i := range []int{0, 2} {
				r[i].Filters[0].Detections = []ast.Detection{{Name: "s", Node: unsound}}
			}
		}, "a b c", "ca cb cc cd", "f", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := load.FromBytes("r.yml", []byte(reported), load.Options{})
			for _, r := range c.Rejected {
				t.Fatal(r.Problems)
			}
			tc.damage(c.Rules)
			c, err := c.Compiled(func(c *load.Collection) error {
				_, err := engine.Compile(c.Rules, engine.Options{})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			var rules, correlations, rejected []string
			for _, r := range c.Rules {
				rules = append(rules, r.ID)
			}
			for _, k := range c.Correlations {
				correlations = append(correlations, k.ID)
				for _, m := range k.Members {
					for _, i := range m.Rules {
						if c.Rules[i].ID != m.Name {
							t.Errorf("member %s of %s is rule %s", m.Name, k.ID, c.Rules[i].ID)
						}
					}
					for _, i := range m.Correlations {
						if c.Correlations[i].ID != m.Name {
							t.Errorf("member %s of %s is correlation %s", m.Name, k.ID, c.Correlations[i].ID)
						}
					}
				}
			}
			for _, r := range c.Rejected {
				rejected = append(rejected, r.ID)
				if p := r.Problems[0]; p.File != "r.yml" || p.Document == 0 || p.Reason == "" || p.Stage != ast.StageCompile {
					t.Errorf("problem %+v does not name its document", p)
				}
			}
			slices.Sort(rejected)
			for _, x := range []struct{ what, got, want string }{
				{"rules", strings.Join(rules, " "), tc.rules},
				{"correlations", strings.Join(correlations, " "), tc.correlation},
				{"rejected", strings.Join(rejected, " "), tc.rejected},
			} {
				if x.got != x.want {
					t.Errorf("%s: got %q, want %q", x.what, x.got, x.want)
				}
			}
			if c.Filters != tc.filters {
				t.Errorf("got %d filters, want %d", c.Filters, tc.filters)
			}
		})
	}
}

func TestAnEmptyTextUnderAnEncodingHasAMeaningOrIsAFault(t *testing.T) {
	for _, tc := range []struct {
		name, item, fault string
	}{
		{"no place of nothing is known", "{D|base64offset|contains|all: ['', abc]}", "an empty value of 'D' cannot be used with 'base64offset'"},
		{"not alone either", "{D|base64offset: ''}", "an empty value of 'D'"},
		{"nor in another spelling", "{D.e|windash|utf16be|base64offset: ['', x]}", "an empty value of 'D.e'"},
		{"nor as a keyword", "{'|base64offset|all': ['', abc]}", "an empty value of ''"},
		{"a mark of the byte order is something", "{D|utf16|base64offset|all: ['', abc]}", ""},
		{"the whole of an empty text is known", "{D|base64|all: ['', abc]}", ""},
		{"a single byte has a place", "{D|base64offset|all: [a, b]}", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := load.FromBytes("r.yml", []byte("title: T\ndetection:\n  s: "+tc.item+"\n  condition: s\n---\n{title: U, detection: {s: {x: 1}, condition: s}}\n"), load.Options{})
			if _, err := engine.Compile(c.Rules, engine.Options{}); err != nil {
				t.Error(err)
			}
			if tc.fault == "" {
				if len(c.Rejected) != 0 || len(c.Rules) != 2 {
					t.Errorf("rejected: %v", c.Problems())
				}
				return
			}
			if len(c.Rules) != 1 || len(c.Rejected) != 1 || !strings.Contains(c.Problems()[0].Reason, tc.fault) {
				t.Errorf("got %d rules and %v, want one and %q", len(c.Rules), c.Problems(), tc.fault)
			}
		})
	}
}

func TestAPanicOverOneDocumentRejectsItAlone(t *testing.T) {
	c := load.FromBytes("r.yml", []byte(reported), load.Options{
		Transform: func(r *ast.Rule) (*ast.Rule, load.Outcome, error) {
			if r.ID == "b" {
				panic("a defect")
			}
			return r, load.Outcome{}, nil
		},
		TransformCorrelation: func(k *ast.Correlation, _ []ast.Logsource) (*ast.Correlation, load.Outcome, error) {
			if k.ID == "ca" {
				panic("another")
			}
			return k, load.Outcome{}, nil
		},
	})
	var got []string
	for _, r := range c.Rejected {
		got = append(got, r.ID)
	}
	slices.Sort(got)
	if want := "b ca cb cc cd"; strings.Join(got, " ") != want {
		t.Errorf("rejected %q, want %s: %v", got, want, c.Problems())
	}
}
