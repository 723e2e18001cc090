package reference

import (
	"regexp"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/condition"
)

// block is named detections combined by conditions: a rule, a filter, or the
// extended body of an array block.
type block struct {
	detections []detection
	conditions []*expr
}

// expr is a condition whose quantifiers know what they cover.
type expr struct {
	op      condition.Op
	args    []*expr
	covered []detection // of an identifier exactly one
	count   int
}

func (c *compiler) block(ds []ast.Detection, conds []ast.Condition, version int) (*block, error) {
	compiled, err := c.detections(ds, version)
	if err != nil {
		return nil, err
	}
	b := &block{detections: compiled}
	for i := range conds {
		b.conditions = append(b.conditions, b.expr(conds[i].Expr))
	}
	return b, nil
}

func (b *block) expr(in *condition.Expr) *expr {
	e := &expr{op: in.Op, count: in.Count}
	for _, a := range in.Args {
		e.args = append(e.args, b.expr(a))
	}
	for _, d := range b.detections {
		if in.Op == condition.Ident && d.name == in.Name || in.Op == condition.Quant && covers(in.Name, d.name) {
			e.covered = append(e.covered, d)
		}
	}
	if e.op == condition.Quant && e.count == condition.QuantAll {
		e.count = len(e.covered)
	}
	return e
}

// covers is the rule of targets.
func covers(target, name string) bool {
	if strings.HasPrefix(name, "__") {
		return false
	}
	if target == condition.Them {
		return !strings.HasPrefix(name, "_")
	}
	pattern := strings.ReplaceAll(regexp.QuoteMeta(target), `\*`, ".*")
	return regexp.MustCompile("^(?:" + pattern + ")$").MatchString(name)
}

func (e *expr) holds(s scope) bool {
	switch e.op {
	case condition.And:
		for _, a := range e.args {
			if !a.holds(s) {
				return false
			}
		}
		return true
	case condition.Or:
		for _, a := range e.args {
			if a.holds(s) {
				return true
			}
		}
		return false
	case condition.Not:
		return !e.args[0].holds(s)
	}
	held := 0
	for _, d := range e.covered {
		if d.node.holds(s) {
			held++
		}
	}
	if e.op == condition.Ident {
		return held == 1
	}
	return held >= e.count
}

// support lists the detections that support a condition that holds, in order
// of evaluation, each once.
func (e *expr) support(s scope, out []detection) []detection {
	switch e.op {
	case condition.Not:
		return out
	case condition.Or:
		for _, a := range e.args {
			if a.holds(s) {
				return a.support(s, out)
			}
		}
		return out
	case condition.And:
		for _, a := range e.args {
			out = a.support(s, out)
		}
		return out
	}
	for _, d := range e.covered {
		known := slices.ContainsFunc(out, func(o detection) bool { return o.name == d.name })
		if !known && d.node.holds(s) {
			out = append(out, d)
		}
	}
	return out
}

// winner is the first condition that holds, nil when none does.
func (b *block) winner(s scope) *expr {
	for _, e := range b.conditions {
		if e.holds(s) {
			return e
		}
	}
	return nil
}
