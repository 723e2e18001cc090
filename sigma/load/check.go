package load

import (
	"fmt"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/condition"
)

// Check finds what keeps a rule from being compiled, filters included, and what
// its author should know. Load has done it for every rule it returns; a rule
// that pipelines rewrote since needs it again.
func Check(rule *ast.Rule) (problems, warnings []ast.Problem) {
	c := checker{}
	c.rule(rule)
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

	problems []ast.Problem
	warnings []ast.Problem
}

func (c *checker) fail(line int, format string, args ...any) {
	c.problems = append(c.problems, ast.Problem{Line: line, Stage: ast.StageCompile, Reason: fmt.Sprintf(format, args...)})
}

func (c *checker) warn(line int, format string, args ...any) {
	c.warnings = append(c.warnings, ast.Problem{Line: line, Reason: fmt.Sprintf(format, args...)})
}

func (c *checker) rule(r *ast.Rule) {
	c.detections(r.Detections)
	c.conditions(r.Conditions, r.Detections, "")
	if len(r.Conditions) == 0 && !c.vague {
		c.fail(r.Origin.Line, "invalid condition: there is none")
	}
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

// conditions resolves the names of conditions over detections.
func (c *checker) conditions(list []ast.Condition, over []ast.Detection, where string) {
	for i := range list {
		line := list[i].Line
		list[i].Expr.Walk(func(e *condition.Expr) {
			covered := 0
			for j := range over {
				name := over[j].Name
				if e.Op == condition.Ident && name == e.Name || e.Op == condition.Quant && condition.Covers(e.Name, name) {
					covered++
				}
			}
			switch {
			case covered > 0:
			case e.Op == condition.Ident:
				c.fail(line, "unknown detection identifier: %s%s", e.Name, where)
			case e.Op == condition.Quant:
				c.warn(line, "'%s' covers no detection%s", e.Text(), where)
			}
		})
	}
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
}
