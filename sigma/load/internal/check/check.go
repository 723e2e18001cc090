package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/condition"
)

// MaxProblems is how many problems, and warnings, of one document are told.
const MaxProblems = 100

// Options say how a document was read.
type Options struct {
	// Written has the modifiers of conflicting keys as they were written.
	Written map[Spelling][]string
	// Vague is set when faulty parts were left out of the tree, so that an empty
	// node is no finding of its own.
	Vague bool
	// BeforePipelines leaves those checks out that a pipeline may still satisfy.
	BeforePipelines bool
}

// Rule checks a rule without its filters. What it finds names lines and reasons only.
func Rule(r *ast.Rule, o Options) (problems, warnings []ast.Problem) {
	c := checker{Options: o}
	c.detections(r.Detections)
	c.conditions(r.Conditions, r.Detections, "")
	if len(r.Conditions) == 0 && !c.Vague {
		c.fail(r.Origin.Line, "invalid condition: there is none")
	}
	c.budget(r.Origin.Line)
	return c.problems, c.warnings
}

// Filters checks the filters that were merged into a rule.
func Filters(r *ast.Rule) (problems, warnings []ast.Problem) {
	c := checker{}
	for i := range r.Filters {
		c.scope(&r.Filters[i], r.Filters[i].Title)
	}
	return c.problems, c.warnings
}

// Filter checks a filter, which messages name by its key, on its own.
func Filter(s *ast.FilterScope, key string, line int, o Options) (problems, warnings []ast.Problem) {
	c := checker{Options: o}
	c.scope(s, key)
	c.budget(line)
	return c.problems, c.warnings
}

// checker walks a tree.
type checker struct {
	Options

	cost         int // alternatives so far
	instructions int // of regular expressions
	steps        int // of regular expressions, for 64 bytes of an event

	problems []ast.Problem
	warnings []ast.Problem
}

func (c *checker) fail(line int, format string, args ...any) {
	if len(c.problems) > MaxProblems {
		return // more than anybody is told
	}
	c.problems = append(c.problems, ast.Problem{Line: line, Stage: ast.StageCompile, Reason: fmt.Sprintf(format, args...)})
}

func (c *checker) warn(line int, format string, args ...any) {
	if len(c.warnings) > MaxProblems {
		return
	}
	c.warnings = append(c.warnings, ast.Problem{Line: line, Reason: fmt.Sprintf(format, args...)})
}

func (c *checker) scope(s *ast.FilterScope, key string) {
	c.detections(s.Detections)
	c.conditions(s.Conditions, s.Detections, fmt.Sprintf(" in filter '%s'", key))
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
					hint := ""
					if len(c.problems) < MaxProblems {
						hint = suggest.Behind(e.Name, alike(e.Name, over))
					}
					c.fail(line, "unknown detection identifier: %s%s%s", e.Name, where, hint)
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
					hint := ""
					if len(c.warnings) < MaxProblems {
						hint = suggest.Behind(e.Name, append(alike(e.Name, over), condition.Them))
					}
					c.warn(line, "'%s' covers no detection%s%s", e.Text(), where, hint)
				}
			}
		})
	}
}

// alike returns what a name, or a pattern that ends in *, may have been meant to be:
// names of detections, or patterns of about its length that cover them.
func alike(name string, over []ast.Detection) []string {
	prefix, isPattern := strings.CutSuffix(name, "*")
	var out []string
	for i := range over {
		have := over[i].Name
		if !isPattern {
			out = append(out, have)
			continue
		}
		for n := max(len(prefix)-1, 1); n <= min(len(prefix)+1, len(have)); n++ {
			out = append(out, have[:n]+"*")
		}
	}
	return out
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
	if !c.Vague {
		c.fail(line, "empty detection")
	}
}

func (c *checker) item(it *ast.Item, keyword bool) {
	found := conflicts(it.Modifiers, keyword)
	for _, f := range found {
		c.fail(it.Line, "conflicting modifiers: %s (%s)", f.spell(c.Written[Spelling{it.Line, it.Modifiers}]), f.why)
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
