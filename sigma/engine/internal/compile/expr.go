package compile

import "slices"

// Op is the operator of an expression node.
type Op uint8

// The operators.
const (
	True Op = iota
	False
	Atom    // predicate Pred holds
	And     // all Args hold
	Or      // one of Args holds
	Not     // Args[0] does not hold
	AtLeast // N of Args hold
)

// Expr is a boolean expression over predicates.
type Expr struct {
	Op   Op
	Pred uint32
	N    int
	Args []*Expr
}

var (
	always = &Expr{Op: True}
	never  = &Expr{Op: False}
)

// atom returns the expression of a predicate, one for all who ask about it.
func (b *builder) atom(pred uint32) *Expr {
	for len(b.atoms) <= int(pred) {
		b.atoms = append(b.atoms, nil)
	}
	if b.atoms[pred] == nil {
		if len(b.exprs) == 0 {
			b.exprs = make([]Expr, 256)
		}
		b.atoms[pred], b.exprs = &b.exprs[0], b.exprs[1:]
		*b.atoms[pred] = Expr{Op: Atom, Pred: pred}
	}
	return b.atoms[pred]
}

func not(x *Expr) *Expr {
	switch x.Op {
	case True:
		return never
	case False:
		return always
	case Not:
		return x.Args[0]
	}
	return &Expr{Op: Not, Args: []*Expr{x}}
}

func and(args ...*Expr) *Expr { return join(And, args, True, False) }
func or(args ...*Expr) *Expr  { return join(Or, args, False, True) }

// join flattens nested operators of one kind and drops what has no effect. It
// may keep args.
func join(op Op, args []*Expr, neutral, absorbing Op) *Expr {
	if !slices.ContainsFunc(args, func(a *Expr) bool { return a.Op == op || a.Op == neutral || a.Op == absorbing }) && len(args) > 1 {
		return &Expr{Op: op, Args: args} // the fast path
	}
	flat := make([]*Expr, 0, len(args))
	for _, a := range args {
		switch a.Op {
		case absorbing:
			return a
		case neutral:
		case op:
			flat = append(flat, a.Args...)
		default:
			flat = append(flat, a)
		}
	}
	switch len(flat) {
	case 0:
		return &Expr{Op: neutral}
	case 1:
		return flat[0]
	}
	return &Expr{Op: op, Args: flat}
}

// atLeast means that n of the args hold.
func atLeast(n int, args []*Expr) *Expr {
	switch {
	case n > len(args):
		return never
	case n <= 1:
		return or(args...)
	case n == len(args):
		return and(args...)
	}
	return &Expr{Op: AtLeast, N: n, Args: args}
}
