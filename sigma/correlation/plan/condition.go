package plan

import (
	"fmt"
	"math"
	"strings"

	"github.com/sluicehq/sluice/sigma"
	expr "github.com/sluicehq/sluice/sigma/condition"
	"github.com/sluicehq/sluice/sigma/correlation/window"
)

// Condition is the compiled condition of a correlation.
type Condition struct {
	Text string // as displayed

	kind       sigma.CorrelationType
	percentile float64
	thresholds []sigma.Threshold
	expr       *memberExpr // extended form
}

// memberExpr is an extended condition over the positions of members.
type memberExpr struct {
	op      expr.Op
	args    []*memberExpr
	members []int // Ident: one; Quant: those it covers
	count   int   // Quant
}

func compileCondition(s *sigma.Correlation) (Condition, error) {
	c := Condition{kind: s.Type, percentile: s.Condition.Percentile, thresholds: s.Condition.Thresholds}
	c.Text = displayThresholds(c.thresholds)
	if s.Condition.Expr == nil {
		return c, nil
	}
	c.Text = s.Condition.Text
	var err error
	c.expr, err = compileExpr(s.Condition.Expr, s.Members)
	return c, err
}

func compileExpr(e *expr.Expr, members []sigma.Member) (*memberExpr, error) {
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

func covers(target string, m *sigma.Member) bool {
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
// condition is met. An undefined aggregate meets none.
func (c *Condition) Evaluate(w window.Window) (value float64, defined, met bool) {
	if h, ok := w.(*window.Hits); ok {
		return c.evaluateHits(h)
	}
	value, defined = c.aggregate(w)
	return value, defined, defined && c.within(value)
}

func (c *Condition) evaluateHits(h *window.Hits) (value float64, defined, met bool) {
	value = float64(h.Count())
	ordered := c.kind != sigma.TemporalOrdered || h.InOrder()
	if c.expr != nil {
		return value, true, ordered && c.expr.holds(h)
	}
	if !ordered {
		value = 0
	}
	return value, true, c.within(value)
}

func (c *Condition) aggregate(w window.Window) (float64, bool) {
	switch w := w.(type) {
	case *window.Counts:
		return float64(w.Len()), true
	case *window.Distinct:
		return float64(w.Count()), true
	case *window.Numbers:
		if w.Len() == 0 {
			return 0, false
		}
		v := c.number(w)
		return v, !math.IsInf(v, 0) && !math.IsNaN(v)
	}
	return 0, false
}

func (c *Condition) number(w *window.Numbers) float64 {
	switch c.kind {
	case sigma.ValueSum:
		return w.Sum()
	case sigma.ValueAvg:
		return w.Average()
	case sigma.ValueMedian:
		return w.Median()
	}
	return w.Percentile(c.percentile)
}

// tolerance is within what eq and neq take two numbers for equal.
const tolerance = 2.22e-16

func (c *Condition) within(v float64) bool {
	for i := range c.thresholds {
		t := &c.thresholds[i]
		var ok bool
		switch t.Op {
		case sigma.OpLT:
			ok = v < t.Value
		case sigma.OpLTE:
			ok = v <= t.Value
		case sigma.OpGT:
			ok = v > t.Value
		case sigma.OpGTE:
			ok = v >= t.Value
		case sigma.OpEQ:
			ok = math.Abs(v-t.Value) <= tolerance
		case sigma.OpNEQ:
			ok = math.Abs(v-t.Value) > tolerance
		}
		if !ok {
			return false
		}
	}
	return true
}

// displayThresholds writes comparisons in their fixed order.
func displayThresholds(ts []sigma.Threshold) string {
	var parts []string
	for _, op := range []sigma.ThresholdOp{sigma.OpLT, sigma.OpLTE, sigma.OpGT, sigma.OpGTE, sigma.OpEQ, sigma.OpNEQ} {
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
	case t == sigma.ValueCount:
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
	return c.Source.Type == sigma.ValuePercentile || c.Source.Type == sigma.ValueMedian
}
