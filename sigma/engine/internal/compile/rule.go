package compile

import (
	"slices"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/condition"
	"github.com/sluicehq/sluice/sigma/event"
	"github.com/sluicehq/sluice/sigma/result"
)

// Rule is a compiled rule: what must hold, and the tree by which a result
// explains that it does.
type Rule struct {
	Match *Expr // the whole rule, filters included
	Scope
}

// Scope is a set of named detections with the conditions that combine them.
type Scope struct {
	Detections []Detection
	Conditions []*Cond
	Repeats    bool // conditions ask for a detection in several places
}

// Detection is a named detection.
type Detection struct {
	Name string
	Node *Node
}

// Cond is a condition over the detections of its scope, given by position.
type Cond struct {
	Op     condition.Op
	Args   []*Cond
	Covers []int // Ident: one; Quant: those that the target covers, in written order
	Count  int   // Quant
	Expr   *Expr // outside array bodies

	places int // that ask for it
}

// Node is a node of a detection.
type Node struct {
	Kind  ast.Kind
	Items []Item
	Nodes []*Node
	Block *ArrayBlock // Kind Array
	Scope *Scope      // Kind Nested
	Expr  *Expr       // outside array bodies
}

// Item is one line of a detection.
type Item struct {
	Field    uint32
	Name     string
	Path     *event.Path // inside an array body: relative to the member, nil for the member itself
	Keyword  bool
	Alts     []uint32 // in written order
	All      bool
	Neq      bool
	Exists   int8 // 1 wanted, -1 unwanted, 0 no exists
	HasNull  bool
	Usable   []uint32 // neq of references: one must hold
	Expr     *Expr    // outside array bodies
	Match    *result.Match
	NullTest bool // its only alternative is null
}

// ArrayBlock is an array block. It is evaluated as one predicate.
type ArrayBlock struct {
	Path       event.Path
	Quantifier ast.Quantifier
	Body       *Node
	Match      *result.Match // of the entry for the array as a whole
}

// scope compiles detections and conditions.
func (b *builder) scope(detections []ast.Detection, conditions []ast.Condition, c context) Scope {
	var s Scope
	for i := range detections {
		d := &detections[i]
		if !c.inBlock { // entries name the detection of the rule, not one of a body
			c.selection = d.Name
		}
		s.Detections = append(s.Detections, Detection{Name: d.Name, Node: b.once(d.Node, c)})
	}
	k := b.conds // nobody else uses it: the detections are done
	k.begin(b, &s)
	for i := range conditions {
		s.Conditions = append(s.Conditions, k.cond(conditions[i].Expr))
	}
	s.Repeats = slices.ContainsFunc(k.places, func(n int) bool { return n > 1 })
	if !c.inBlock {
		for _, x := range s.Conditions {
			k.expr(x)
		}
	}
	return s
}

// any returns what it means that one of the scope's conditions holds.
func (s *Scope) any() *Expr {
	var args []*Expr
	for _, k := range s.Conditions {
		args = append(args, k.Expr)
	}
	return or(distinct(args)...)
}

// context is where in a rule a node stands.
type context struct {
	version   int
	selection string
	inBlock   bool
}

func (b *builder) node(n *ast.Node, c context) *Node {
	out := &Node{Kind: n.Kind}
	parts := make([]*Expr, 0, len(n.Items)+len(n.Nodes))
	if len(n.Items) > 0 {
		out.Items = make([]Item, 0, len(n.Items))
	}
	for i := range n.Items {
		src := n.Items[i]
		if c.inBlock && n.Kind == ast.KindKeywords && !src.Modifiers.HasAny(ast.StringOperators) && !src.Modifiers.Has(ast.Re) {
			src.Modifiers = src.Modifiers.With(ast.Contains) // a list of scalars searches the member's text
		}
		it := b.item(&src, c)
		parts = append(parts, it.Expr)
		out.Items = append(out.Items, it)
	}
	if n.Kind == ast.KindArray {
		return b.array(out, n, c)
	}
	for _, sub := range n.Nodes {
		s := b.node(sub, c)
		parts = append(parts, s.Expr)
		out.Nodes = append(out.Nodes, s)
	}
	if n.Kind == ast.KindNested {
		s := b.scope(n.Detections, n.Conditions, c)
		out.Scope = &s
		if !c.inBlock {
			out.Expr = s.any()
		}
		return out
	}
	switch {
	case c.inBlock:
	case n.Kind == ast.KindAny:
		out.Expr = or(parts...)
	default:
		out.Expr = and(parts...)
	}
	return out
}

// array compiles an array block. Outside other blocks it is one predicate.
func (b *builder) array(out *Node, n *ast.Node, c context) *Node {
	outer := c.inBlock
	c.inBlock = true
	out.Block = &ArrayBlock{Path: event.ParsePath(n.Path, c.version), Quantifier: n.Quantifier, Body: b.node(n.Nodes[0], c)}
	if b.detail != result.Off {
		out.Block.Match = &result.Match{Selection: c.selection, Matcher: "exists"}
	}
	if outer {
		return out
	}
	more := &Operand{Block: out.Block}
	if n.Quantifier == ast.AnyMember || n.Quantifier == ast.AllMembers {
		for _, f := range b.fields.Hints(&out.Block.Path) {
			more.Gates = append(more.Gates, b.pred(Pred{Kind: Present, Field: f}))
		}
	}
	out.Expr = b.atom(b.place(Pred{Kind: Block, More: more})) // blocks are not compared with each other
	return out
}
