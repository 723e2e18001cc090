package compile

import (
	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/sigma/condition"
	"github.com/sluicehq/sluice/sigma/event"
	"github.com/sluicehq/sluice/sigma/packed"
	"github.com/sluicehq/sluice/sigma/result"
)

// readRule unpacks a rule of a plan. One that cannot have been packed explains
// nothing.
func (p *Plan) readRule(data string) *Rule {
	r := ruleReader{Reader: packed.NewReader(data), plan: p}
	r.readExprs()
	rule := &Rule{Match: r.expr(false)}
	rule.Scope = r.scope(false)
	if r.End() != nil {
		return &Rule{Match: never}
	}
	return rule
}

// ruleReader gives parts that are sound in themselves, whatever it reads: nothing
// is nil that must not be, and no number leads outside its list.
type ruleReader struct {
	*packed.Reader
	plan  *Plan
	exprs []Expr
	depth int
}

// maxDepth bounds how deep nodes and conditions may lie in each other.
const maxDepth = 1000

// deeper reports whether one level more is all right.
func (r *ruleReader) deeper() bool {
	if r.depth++; r.depth > maxDepth {
		r.Fail()
	}
	return !r.Failed()
}

func (r *ruleReader) readExprs() {
	r.exprs = make([]Expr, r.Count())
	for i := range r.exprs {
		x := &r.exprs[i]
		x.Op, x.Pred, x.N = Op(r.Byte()), uint32(r.Uint()), int(r.Uint())
		if n := r.Count(); n > 0 {
			x.Args = make([]*Expr, n)
		}
		for k := range x.Args {
			x.Args[k] = r.one(r.exprs[:i])
		}
		if x.Op > AtLeast || x.Op == Not && len(x.Args) != 1 || x.Op == Atom && int(x.Pred) >= len(r.plan.Preds) {
			r.Fail()
		}
	}
}

// one reads the number of one of the expressions.
func (r *ruleReader) one(of []Expr) *Expr {
	n := r.Below(len(of) + 1)
	if n == 0 {
		r.Fail()
		return never
	}
	return &of[n-1]
}

// expr reads the number of an expression, which is none inside array bodies.
func (r *ruleReader) expr(inBody bool) *Expr {
	if inBody {
		if r.Uint() != 0 {
			r.Fail()
		}
		return nil
	}
	return r.one(r.exprs)
}

func (r *ruleReader) scope(inBody bool) Scope {
	var s Scope
	if n := r.Count(); n > 0 {
		s.Detections = make([]Detection, n)
	}
	for i := range s.Detections {
		s.Detections[i] = Detection{Name: r.Text(), Node: r.node(inBody)}
	}
	if n := r.Count(); n > 0 {
		s.Conditions = make([]*Cond, n)
	}
	for i := range s.Conditions {
		s.Conditions[i] = r.cond(len(s.Detections), inBody)
	}
	return s
}

func (r *ruleReader) cond(detections int, inBody bool) *Cond {
	k := &Cond{}
	if !r.deeper() {
		return k
	}
	defer func() { r.depth-- }()
	k.Op, k.Expr, k.Count = condition.Op(r.Byte()), r.expr(inBody), int(r.Int())
	if n := r.Count(); n > 0 {
		k.Covers = make([]int, n)
	}
	for i := range k.Covers {
		k.Covers[i] = int(r.Below(detections))
	}
	if n := r.Count(); n > 0 {
		k.Args = make([]*Cond, n)
	}
	for i := range k.Args {
		k.Args[i] = r.cond(detections, inBody)
	}
	if k.Op > condition.Quant || k.Op == condition.Ident && len(k.Covers) != 1 || k.Op == condition.Not && len(k.Args) != 1 {
		r.Fail()
	}
	return k
}

func (r *ruleReader) node(inBody bool) *Node {
	n := &Node{}
	if !r.deeper() {
		return n
	}
	defer func() { r.depth-- }()
	n.Kind = sigma.Kind(r.Byte())
	n.Expr = r.expr(inBody)
	if k := r.Count(); k > 0 {
		n.Items = make([]Item, k)
	}
	for i := range n.Items {
		r.item(&n.Items[i], inBody)
	}
	if k := r.Count(); k > 0 {
		n.Nodes = make([]*Node, k)
	}
	for i := range n.Nodes {
		n.Nodes[i] = r.node(inBody)
	}
	switch n.Kind {
	case sigma.KindArray:
		n.Block = r.block()
	case sigma.KindNested:
		s := r.scope(inBody)
		n.Scope = &s
	}
	return n
}

func (r *ruleReader) block() *ArrayBlock {
	return &ArrayBlock{Path: r.path(), Quantifier: sigma.Quantifier(r.Byte()), Match: r.match(), Body: r.node(true)}
}

func (r *ruleReader) item(it *Item, inBody bool) {
	it.Field, it.Name = r.Below(len(r.plan.Fields.List)), r.Text()
	if r.Bool() {
		p := r.path()
		it.Path = &p
	}
	for _, b := range []*bool{&it.Keyword, &it.All, &it.Neq, &it.HasNull, &it.NullTest} {
		*b = r.Bool()
	}
	it.Exists = int8(r.Int())
	it.Alts, it.Usable = r.list(len(r.plan.Preds)), r.list(len(r.plan.Preds))
	it.Expr, it.Match = r.expr(inBody), r.match()
	for _, id := range it.Alts {
		if k := r.plan.Preds[id].Kind; k == Present || k == Block || k == IsNull && it.Keyword {
			r.Fail() // those compare no value
		}
	}
	for _, id := range it.Usable {
		if k := r.plan.Preds[id].Kind; k != RefUsable && k != ExpandUsable {
			r.Fail()
		}
	}
}

// list reads numbers that are less than limit, nil for none.
func (r *ruleReader) list(limit int) []uint32 { return readList(r.Reader, limit) }

func readList(r *packed.Reader, limit int) []uint32 {
	n := r.Count()
	if n == 0 {
		return nil
	}
	out := make([]uint32, n)
	for i := range out {
		out[i] = r.Below(limit)
	}
	return out
}

func (r *ruleReader) path() event.Path {
	p := event.Path{Name: r.Text(), Segments: make([]event.Segment, r.Count())}
	for i := range p.Segments {
		p.Segments[i] = event.Segment{Key: r.Text(), Any: r.Bool(), Indexed: r.Bool(), Index: int(r.Int())}
	}
	if len(p.Segments) == 0 {
		r.Fail()
	}
	return p
}

func (r *ruleReader) match() *result.Match {
	if !r.Bool() {
		return nil
	}
	return &result.Match{
		Selection: r.Text(), Matcher: r.Text(), Pattern: r.Text(),
		HasPattern: r.Bool(), ShowCase: r.Bool(), CaseSensitive: r.Bool(), Negated: r.Bool(),
	}
}
