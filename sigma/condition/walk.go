package condition

import (
	"slices"
	"strconv"
	"strings"
)

// Walk calls visit for e and every expression below it, parents first.
func (e *Expr) Walk(visit func(*Expr)) {
	if e == nil {
		return
	}
	visit(e)
	for _, a := range e.Args {
		a.Walk(visit)
	}
}

// Clone returns a copy that shares nothing with e.
func (e *Expr) Clone() *Expr {
	if e == nil {
		return nil
	}
	c := *e
	c.Args = nil
	for _, a := range e.Args {
		c.Args = append(c.Args, a.Clone())
	}
	return &c
}

// Equal reports whether both are the same expression, grouped alike.
func (e *Expr) Equal(o *Expr) bool {
	return e == o || e != nil && o != nil && e.Op == o.Op && e.Name == o.Name && e.Count == o.Count &&
		slices.EqualFunc(e.Args, o.Args, (*Expr).Equal)
}

// Idents returns the names of the bare identifiers of e in order of first
// appearance, each once.
func (e *Expr) Idents() []string {
	var names []string
	seen := make(map[string]bool)
	e.Walk(func(x *Expr) {
		if x.Op == Ident && !seen[x.Name] {
			seen[x.Name] = true
			names = append(names, x.Name)
		}
	})
	return names
}

// Text writes e so that Parse reads it back to an equal expression, up to the
// grouping of chains.
func (e *Expr) Text() string {
	var b strings.Builder
	e.write(&b, Or)
	return b.String()
}

// write puts parentheses where the operator around e binds tighter than e.
func (e *Expr) write(b *strings.Builder, around Op) {
	word := " and "
	switch e.Op {
	case Ident:
		b.WriteString(e.Name)
		return
	case Quant:
		if e.Count == QuantAll {
			b.WriteString("all")
		} else {
			b.WriteString(strconv.Itoa(e.Count))
		}
		b.WriteString(" of " + e.Name)
		return
	case Not:
		b.WriteString("not ")
		e.Args[0].write(b, Not)
		return
	case Or:
		word = " or "
	}
	parens := around == Not || around == And
	if parens {
		b.WriteByte('(')
	}
	for i, a := range e.Args {
		if i > 0 {
			b.WriteString(word)
		}
		// A chain of the same operator as operand keeps its own parentheses.
		inner := And
		if e.Op == Or && a.Op == And {
			inner = Or
		}
		a.write(b, inner)
	}
	if parens {
		b.WriteByte(')')
	}
}
