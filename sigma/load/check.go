package load

import (
	"fmt"
	"slices"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/condition"
)

// Check finds what keeps a rule from being compiled, filters included, and what
// its author should know. Load has done it for every rule it returns; a rule
// that pipelines rewrote since needs it again.
func Check(rule *ast.Rule) (problems, warnings []ast.Problem) {
	c := checker{}
	c.rule(rule)
	c.filters(rule)
	m := &rule.Meta
	for _, list := range [][]ast.Problem{c.problems, c.warnings} {
		for i := range list {
			list[i].File, list[i].Document, list[i].Title, list[i].ID = m.Origin.File, m.Origin.Document, m.Title, m.ID
		}
	}
	return c.problems, c.warnings
}

// checker walks a tree. What it finds names lines and reasons only.
type checker struct {
	written map[spelling][]string
	// vague is set when faulty parts were left out of the tree, so that an empty
	// node is no finding of its own.
	vague bool
	// beforePipelines leaves those checks out that a pipeline may still satisfy.
	beforePipelines bool

	cost         int // alternatives so far
	instructions int // of regular expressions
	steps        int // of regular expressions, for 64 bytes of an event

	problems []ast.Problem
	warnings []ast.Problem
}

func (c *checker) fail(line int, format string, args ...any) {
	if len(c.problems) > maxProblems {
		return // more than anybody is told
	}
	c.problems = append(c.problems, ast.Problem{Line: line, Stage: ast.StageCompile, Reason: fmt.Sprintf(format, args...)})
}

func (c *checker) warn(line int, format string, args ...any) {
	if len(c.warnings) > maxProblems {
		return
	}
	c.warnings = append(c.warnings, ast.Problem{Line: line, Reason: fmt.Sprintf(format, args...)})
}

func (c *checker) rule(r *ast.Rule) {
	c.detections(r.Detections)
	c.conditions(r.Conditions, r.Detections, "")
	if len(r.Conditions) == 0 && !c.vague {
		c.fail(r.Origin.Line, "invalid condition: there is none")
	}
	c.budget(r.Origin.Line)
}

// filters checks the filters of a rule.
func (c *checker) filters(r *ast.Rule) {
	for i := range r.Filters {
		c.scope(&r.Filters[i], fmt.Sprintf("filter '%s'", r.Filters[i].Title))
	}
}

// scope checks a filter. The warnings of a merged filter were given when it was
// checked on its own.
func (c *checker) scope(s *ast.FilterScope, what string) {
	c.detections(s.Detections)
	c.conditions(s.Conditions, s.Detections, " in "+what)
}

func (c *checker) detections(list []ast.Detection) {
	for i := range list {
		c.node(list[i].Node, list[i].Line)
	}
}

// quantifier is a count of the detections that a target covers. Each different one
// has a form of its own once it is compiled.
type quantifier struct {
	count  int
	target string
}

// conditions resolves the names of conditions over detections. A quantifier that is
// repeated is looked for once.
func (c *checker) conditions(list []ast.Condition, over []ast.Detection, where string) {
	names := namesOf(over)
	var last quantifier // that was looked at last: mostly the only one
	var covered bool
	var others map[quantifier]bool // and whether they cover any
	for i := range list {
		line := list[i].Line
		list[i].Expr.Walk(func(e *condition.Expr) {
			switch e.Op {
			case condition.Ident:
				if !names.has(e.Name) {
					c.fail(line, "unknown detection identifier: %s%s", e.Name, where)
				}
			case condition.Quant:
				if q := (quantifier{e.Count, e.Name}); q != last {
					if others == nil && last.target != "" {
						others = map[quantifier]bool{last: covered}
					}
					known, seen := others[q]
					if !seen {
						known = c.covers(e.Name, over)
					}
					if others != nil {
						others[q] = known
					}
					last, covered = q, known
				}
				if !covered {
					c.warn(line, "'%s' covers no detection%s", e.Text(), where)
				}
			}
		})
	}
}

// names tells whether a detection has a name; few are compared one by one.
type names struct {
	few  []ast.Detection
	many map[string]bool
}

func namesOf(list []ast.Detection) names {
	if len(list) <= 8 {
		return names{few: list}
	}
	many := make(map[string]bool, len(list))
	for i := range list {
		many[list[i].Name] = true
	}
	return names{many: many}
}

func (n names) has(name string) bool {
	return n.many[name] || slices.ContainsFunc(n.few, func(d ast.Detection) bool { return d.Name == name })
}

// covers reports whether a target covers one of the detections. Each that it looks at
// is part of the document's cost.
func (c *checker) covers(target string, over []ast.Detection) bool {
	if c.cost += len(over); c.cost > maxDocumentAlternatives {
		return true // the document is rejected for it
	}
	return slices.ContainsFunc(over, func(d ast.Detection) bool { return condition.Covers(target, d.Name) })
}

func (c *checker) node(n *ast.Node, line int) {
	if n == nil {
		c.empty(line)
		return
	}
	switch n.Kind {
	case ast.KindItems, ast.KindKeywords:
		if len(n.Items) == 0 {
			c.empty(n.Line)
		}
		for i := range n.Items {
			c.item(&n.Items[i], n.Kind == ast.KindKeywords)
		}
	case ast.KindNested:
		if len(n.Detections) == 0 || len(n.Conditions) == 0 {
			c.empty(n.Line)
		}
		c.detections(n.Detections)
		c.conditions(n.Conditions, n.Detections, " in an array block")
	default:
		if len(n.Nodes) == 0 {
			c.empty(n.Line)
		}
		for _, below := range n.Nodes {
			c.node(below, n.Line)
		}
	}
}

func (c *checker) empty(line int) {
	if !c.vague {
		c.fail(line, "empty detection")
	}
}

func (c *checker) item(it *ast.Item, keyword bool) {
	found := conflicts(it.Modifiers, keyword)
	for _, f := range found {
		c.fail(it.Line, "conflicting modifiers: %s (%s)", f.spell(c.written[spelling{it.Line, it.Modifiers}]), f.why)
	}
	if it.Modifiers.Has(ast.All) && len(it.Values) < 2 && !it.Modifiers.Has(ast.Exists) {
		c.fail(it.Line, "modifier 'all' of '%s' needs at least two values", it.Field)
	}
	if it.Modifiers.HasAny(ast.UTF16Encodings) && !it.Modifiers.HasAny(ast.Base64Encodings) {
		c.warn(it.Line, "modifier '%s' of '%s' changes nothing without base64", it.Modifiers&ast.UTF16Encodings, it.Field)
	}
	if len(found) > 0 {
		return // what its values mean is open
	}
	for i := range it.Values {
		c.value(it, &it.Values[i], keyword)
		if it.Modifiers.Has(ast.Exists) {
			break // the others are never read
		}
	}
	c.alternatives(it)
}
