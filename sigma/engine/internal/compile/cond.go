package compile

import (
	"slices"

	"github.com/sluicehq/sluice/sigma/condition"
)

// conds compiles the conditions of a scope. A name, or a quantifier with the same
// target, is one node however often it is written.
type conds struct {
	b      *builder
	scope  *Scope
	places []int          // by detection: names and quantifiers that ask for it
	names  []*Cond        // by detection
	index  map[string]int // of many detections
	quants []quant
	known  map[quantKey]*Cond // of many quantifiers
}

type quant struct {
	key  quantKey
	cond *Cond
}

// begin makes c ready for a scope; it keeps its memory.
func (c *conds) begin(b *builder, s *Scope) {
	c.b, c.scope, c.index, c.known = b, s, nil, nil
	n := len(s.Detections)
	c.places, c.names, c.quants = slices.Grow(c.places[:0], n)[:n], slices.Grow(c.names[:0], n)[:n], c.quants[:0]
	clear(c.places)
	clear(c.names)
}

type quantKey struct {
	count  int
	target string
}

// few is how many detections are compared one by one.
const few = 8

// cond returns the node of e.
func (c *conds) cond(e *condition.Expr) *Cond {
	var k *Cond
	switch e.Op {
	case condition.Ident:
		k = c.name(e.Name)
	case condition.Quant:
		k = c.quant(e)
	default:
		k = &Cond{Op: e.Op}
		for _, a := range e.Args {
			k.Args = append(k.Args, c.cond(a))
		}
		k.Args = distinct(k.Args)
	}
	k.places++
	return k
}

func (c *conds) name(name string) *Cond {
	i, ok := c.detection(name)
	if !ok {
		return &Cond{Op: condition.Ident}
	}
	if c.names[i] == nil {
		c.names[i] = &Cond{Op: condition.Ident, Covers: []int{i}}
	}
	c.places[i]++
	return c.names[i]
}

func (c *conds) detection(name string) (int, bool) {
	list := c.scope.Detections
	if len(list) <= few {
		for i := range list {
			if list[i].Name == name {
				return i, true
			}
		}
		return 0, false
	}
	if c.index == nil {
		c.index = make(map[string]int, len(list))
		for i := range list {
			c.index[list[i].Name] = i
		}
	}
	i, ok := c.index[name]
	return i, ok
}

func (c *conds) quant(e *condition.Expr) *Cond {
	key := quantKey{e.Count, e.Name}
	if k := c.quantified(key); k != nil {
		return k
	}
	k := &Cond{Op: condition.Quant, Count: e.Count}
	for i := range c.scope.Detections {
		if condition.Covers(e.Name, c.scope.Detections[i].Name) {
			k.Covers = append(k.Covers, i)
			c.places[i]++
		}
	}
	if e.Count == condition.QuantAll {
		k.Count = len(k.Covers)
	} else if e.Count > len(k.Covers) {
		k.Count = len(k.Covers) + 1
	}
	c.quants = append(c.quants, quant{key, k})
	if c.known != nil {
		c.known[key] = k
	}
	return k
}

// quantified returns the node of a quantifier that was met before.
func (c *conds) quantified(key quantKey) *Cond {
	if c.known == nil && len(c.quants) > few {
		c.known = make(map[quantKey]*Cond)
		for _, q := range c.quants {
			c.known[q.key] = q.cond
		}
	}
	if c.known != nil {
		return c.known[key]
	}
	for _, q := range c.quants {
		if q.key == key {
			return q.cond
		}
	}
	return nil
}

// expr says what a condition means in terms of predicates.
func (c *conds) expr(k *Cond) *Expr {
	if k.Expr == nil {
		k.Expr = c.b.share(c.meaning(k), k.places)
	}
	return k.Expr
}

func (c *conds) meaning(k *Cond) *Expr {
	args := make([]*Expr, 0, len(k.Args)+len(k.Covers))
	for _, a := range k.Args {
		args = append(args, c.expr(a))
	}
	for _, d := range k.Covers {
		args = append(args, c.b.share(c.scope.Detections[d].Node.Expr, c.places[d]))
	}
	if k.Op == condition.Quant {
		if k.Count == 0 {
			return always
		}
		return atLeast(k.Count, args)
	}
	args = distinct(args)
	switch k.Op {
	case condition.And:
		return and(args...)
	case condition.Not:
		return not(args[0])
	}
	return or(args...)
}
