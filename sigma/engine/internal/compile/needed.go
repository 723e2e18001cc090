package compile

// Needed returns the predicates, as bits, that evaluating and explaining the rules
// asks for. Rules in without, bits by load index, are left out.
func (p *Plan) Needed(without []uint64) []uint64 {
	n := needed{plan: p, preds: make([]uint64, (len(p.Preds)+63)/64)}
	judged := func(rule uint32) bool { return without[rule/64]>>(rule%64)&1 == 0 }
	for id := range p.Preds {
		for _, rule := range p.Candidates[p.CandidateStart[id]:p.CandidateStart[id+1]] {
			if rule >= p.FirstGroup || judged(rule) {
				n.pred(uint32(id))
				break
			}
		}
	}
	for i, r := range p.Rules {
		if judged(uint32(i)) {
			n.expr(r.Match)
			n.scope(&r.Scope)
		}
	}
	return n.preds
}

type needed struct {
	plan  *Plan
	preds []uint64
}

func (n *needed) pred(id uint32) {
	if n.preds[id/64]>>(id%64)&1 != 0 {
		return
	}
	n.preds[id/64] |= 1 << (id % 64)
	if more := n.plan.Preds[id].More; more != nil {
		for _, g := range more.Gates {
			n.pred(g)
		}
		n.expr(more.Expr)
		if more.Block != nil {
			n.body(more.Block.Body)
		}
	}
}

// body adds what the items of an array body ask for, which have no expressions.
func (n *needed) body(x *Node) {
	for i := range x.Items {
		for _, id := range x.Items[i].Alts {
			n.pred(id)
		}
		for _, id := range x.Items[i].Usable {
			n.pred(id)
		}
	}
	for _, sub := range x.Nodes {
		n.body(sub)
	}
	if x.Block != nil {
		n.body(x.Block.Body)
	}
	if x.Scope != nil {
		for i := range x.Scope.Detections {
			n.body(x.Scope.Detections[i].Node)
		}
	}
}

func (n *needed) expr(x *Expr) {
	if x == nil { // inside array bodies
		return
	}
	if x.Op == Atom {
		n.pred(x.Pred)
	}
	for _, a := range x.Args {
		n.expr(a)
	}
}

// scope adds what explaining asks for: simplifying may have left it out of what
// must hold.
func (n *needed) scope(s *Scope) {
	for _, k := range s.Conditions {
		n.cond(k)
	}
	for i := range s.Detections {
		n.node(s.Detections[i].Node)
	}
}

func (n *needed) cond(k *Cond) {
	n.expr(k.Expr)
	for _, a := range k.Args {
		n.cond(a)
	}
}

func (n *needed) node(x *Node) {
	n.expr(x.Expr)
	for i := range x.Items {
		n.expr(x.Items[i].Expr)
	}
	for _, sub := range x.Nodes {
		n.node(sub)
	}
	if x.Scope != nil {
		n.scope(x.Scope)
	}
}
