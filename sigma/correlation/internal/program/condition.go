package program

import (
	"fmt"
	"math"
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
	expr "github.com/sluicehq/sluice/sigma/condition"
	"github.com/sluicehq/sluice/sigma/correlation/internal/window"
)

// Condition is the compiled condition of a correlation.
type Condition struct {
	Text string // as displayed

	kind       aggregate
	percentile float64
	thresholds []threshold
	expr       *memberExpr // extended form
}

// aggregate is what a condition looks at.
type aggregate uint8

const (
	count aggregate = iota
	distinct
	sum
	average
	percentile
	median
	members
	order
)

var aggregates = map[ast.CorrelationType]aggregate{
	ast.EventCount: count, ast.ValueCount: distinct, ast.ValueSum: sum, ast.ValueAvg: average,
	ast.ValuePercentile: percentile, ast.ValueMedian: median, ast.Temporal: members, ast.TemporalOrdered: order,
}

// threshold is one comparison: the results that satisfy it, and with what.
type threshold struct {
	less, equal, more bool
	near              bool // equal means within the tolerance
	value             float64
}

// memberExpr is an extended condition over the positions of members.
type memberExpr struct {
	op      expr.Op
	args    []*memberExpr
	members []int // Ident: one; Quant: those it covers
	count   int   // Quant
}

func compileCondition(s *ast.Correlation) (Condition, error) {
	c := Condition{Text: displayThresholds(s.Condition.Thresholds), kind: aggregates[s.Type], percentile: s.Condition.Percentile}
	for _, t := range s.Condition.Thresholds {
		c.thresholds = append(c.thresholds, compileThreshold(t))
	}
	if s.Condition.Expr == nil {
		return c, nil
	}
	c.Text = s.Condition.Text
	var err error
	c.expr, err = compileExpr(s.Condition.Expr, s.Members)
	return c, err
}

func compileExpr(e *expr.Expr, members []ast.Member) (*memberExpr, error) {
	m := &memberExpr{op: e.Op, count: e.Count}
	switch e.Op {
	case expr.Ident:
		for i := range members {
			if members[i].Name == e.Name {
				m.members = append(m.members, i)
			}
		}
		if len(m.members) != 1 {
			return nil, fmt.Errorf("condition names unknown member %q", e.Name)
		}
	case expr.Quant:
		for i := range members {
			if covers(e.Name, &members[i]) {
				m.members = append(m.members, i)
			}
		}
	}
	for _, a := range e.Args {
		arg, err := compileExpr(a, members)
		if err != nil {
			return nil, err
		}
		m.args = append(m.args, arg)
	}
	return m, nil
}

func covers(target string, m *ast.Member) bool {
	if expr.Covers(target, m.Name) {
		return true
	}
	for _, s := range m.Spellings {
		if expr.Covers(target, s) {
			return true
		}
	}
	return false
}

// holds evaluates the expression; a member is true when it has a hit.
func (m *memberExpr) holds(h *window.Hits) bool {
	switch m.op {
	case expr.Ident:
		return h.Hit(m.members[0])
	case expr.Not:
		return !m.args[0].holds(h)
	case expr.And:
		for _, a := range m.args {
			if !a.holds(h) {
				return false
			}
		}
		return true
	case expr.Or:
		for _, a := range m.args {
			if a.holds(h) {
				return true
			}
		}
		return false
	}
	hit := 0
	for _, i := range m.members {
		if h.Hit(i) {
			hit++
		}
	}
	if m.count == expr.QuantAll {
		return hit == len(m.members)
	}
	return hit >= m.count
}

// Evaluate returns the aggregate over w, whether it is defined, and whether the
// condition is met. An undefined aggregate meets none. The window must be of the
// correlation's type.
func (c *Condition) Evaluate(w window.Window) (value float64, defined, met bool) {
	switch c.kind {
	case count:
		value = float64(w.(*window.Counts).Len())
	case distinct:
		value = float64(w.(*window.Distinct).Count())
	case members, order:
		return c.evaluateHits(w.(*window.Hits))
	default:
		n := w.(*window.Numbers)
		if n.Len() == 0 {
			return 0, false, false
		}
		if value = c.number(n); math.IsInf(value, 0) || math.IsNaN(value) {
			return value, false, false
		}
	}
	return value, true, c.within(value)
}

func (c *Condition) evaluateHits(h *window.Hits) (value float64, defined, met bool) {
	value = float64(h.Count())
	ordered := c.kind != order || h.InOrder()
	if c.expr != nil {
		return value, true, ordered && c.expr.holds(h)
	}
	if !ordered {
		value = 0
	}
	return value, true, c.within(value)
}

func (c *Condition) number(w *window.Numbers) float64 {
	switch c.kind {
	case sum:
		return w.Sum()
	case average:
		return w.Average()
	case median:
		return w.Median()
	}
	return w.Percentile(c.percentile)
}

// tolerance is within what eq and neq take two numbers for equal.
const tolerance = 2.22e-16

func compileThreshold(t ast.Threshold) threshold {
	c := threshold{value: t.Value}
	switch t.Op {
	case ast.OpLT:
		c.less = true
	case ast.OpLTE:
		c.less, c.equal = true, true
	case ast.OpGT:
		c.more = true
	case ast.OpGTE:
		c.more, c.equal = true, true
	case ast.OpEQ:
		c.near, c.equal = true, true
	case ast.OpNEQ:
		c.near, c.less, c.more = true, true, true
	}
	return c
}

func (t *threshold) holds(v float64) bool {
	switch {
	case t.near && math.Abs(v-t.value) <= tolerance || v == t.value:
		return t.equal
	case v < t.value:
		return t.less
	}
	return t.more && v > t.value
}

func (c *Condition) within(v float64) bool {
	for i := range c.thresholds {
		if !c.thresholds[i].holds(v) {
			return false
		}
	}
	return true
}

// displayThresholds writes comparisons in their fixed order.
func displayThresholds(ts []ast.Threshold) string {
	var parts []string
	for _, op := range []ast.ThresholdOp{ast.OpLT, ast.OpLTE, ast.OpGT, ast.OpGTE, ast.OpEQ, ast.OpNEQ} {
		for _, t := range ts {
			if t.Op == op {
				parts = append(parts, op.Symbol()+" "+t.Text)
			}
		}
	}
	return strings.Join(parts, ", ")
}

// NewWindow returns an empty window for the type of c.
func (c *Correlation) NewWindow() window.Window {
	switch t := c.Source.Type; {
	case t.Temporal():
		return window.NewHits(len(c.Source.Members))
	case t == ast.ValueCount:
		return new(window.Distinct)
	case c.Ranked():
		return window.NewRanked()
	case t.Numeric():
		return new(window.Numbers)
	}
	return new(window.Counts)
}

// Ranked reports whether numbers are kept in order rather than summed.
func (c *Correlation) Ranked() bool {
	return c.Source.Type == ast.ValuePercentile || c.Source.Type == ast.ValueMedian
}
