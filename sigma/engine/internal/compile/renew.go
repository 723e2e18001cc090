package compile

import (
	"slices"

	"github.com/sluicehq/sluice/sigma/ast"
)

// Renew makes the plan of other rules: those of p, which stays as it is, but for the ones
// in changed, by load index. Whatever the other rules were compiled to is taken over, and
// predicates keep their numbers. Touched says, by field, for which of them other
// predicates are early now. Ok is false when the rules have to be compiled anew: they ask
// about fields that p does not know, or much of p belongs to no rule any more.
func (p *Plan) Renew(changed map[int]*ast.Rule, o Options) (next *Plan, touched []bool, ok bool) {
	b := p.builder(o)
	list := make([]*ast.Rule, 0, len(changed))
	for _, i := range sorted(changed) {
		list = append(list, changed[i])
	}
	b.countFilters(list)
	next = &Plan{Fields: p.Fields, Rules: slices.Clone(p.Rules)}
	reason := recovered(func() {
		for i, at := range sorted(changed) {
			next.Rules[at] = b.rule(list[i])
		}
		b.candidates(next)
	})
	if reason != "" || b.fields.missed {
		return nil, nil, false
	}
	next.Preds, next.Rarity, next.Machines = b.preds, p.Rarity, b.machines
	expressions := next.release()
	if next.Machines > 2*expressions+maxIdleMachines {
		return nil, nil, false
	}
	if reason = recovered(func() { next.compile(&b.at) }); reason != "" {
		return nil, nil, false
	}
	return next, next.touched(p), true
}

// maxIdleMachines is how many numbers of expressions that nobody asks for any more a plan
// carries along.
const maxIdleMachines = 256

func sorted(changed map[int]*ast.Rule) []int {
	out := make([]int, 0, len(changed))
	for i := range changed {
		out = append(out, i)
	}
	slices.Sort(out)
	return out
}

// builder returns one that knows what p has.
func (p *Plan) builder(o Options) *builder {
	fields := *p.Fields
	fields.frozen = true
	b := &builder{
		fields: &fields, preds: make([]Pred, len(p.Preds), len(p.Preds)+len(p.Preds)/8), ids: make(map[predKey]uint32, len(p.Preds)),
		expressions: make(map[string]*Operand), machines: p.Machines, interned: make(map[string]string), detail: o.Detail,
		profile: traffic(), kept: make(map[keptKey]*kept), lists: make(map[amongKey]list), conds: new(conds),
	}
	copy(b.preds, p.Preds)
	for id := range b.preds {
		switch x := &b.preds[id]; x.Kind {
		case Free:
			b.free = append(b.free, uint32(id))
		case Block:
		case Shared: // its program has another place in every plan
			more := *x.More
			x.More = &more
		case Regex:
			b.expressions[x.Text] = x.More
			b.ids[x.key()] = uint32(id)
		default:
			b.ids[x.key()] = uint32(id)
		}
	}
	return b
}

// release frees the numbers of the predicates that no rule asks for. It returns how many
// expressions are left.
func (p *Plan) release() (expressions int) {
	used := p.Needed(make([]uint64, (len(p.Rules)+63)/64))
	of := make(map[*Expression]bool)
	for id := range p.Preds {
		switch x := &p.Preds[id]; {
		case used[id/64]>>(id%64)&1 == 0:
			*x = Pred{Kind: Free}
		case x.Kind == Regex:
			of[x.More.Regex] = true
		}
	}
	return len(of)
}

// touched compares the early predicates of two plans over the same fields.
func (p *Plan) touched(before *Plan) []bool {
	out := make([]bool, len(p.Fields.List))
	for id := range max(len(p.Preds), len(before.Preds)) {
		var now, then Pred
		if id < len(p.Preds) {
			now = p.Preds[id]
		}
		if id < len(before.Preds) {
			then = before.Preds[id]
		}
		if now.Early == then.Early && now.Direct == then.Direct && now.key() == then.key() {
			continue
		}
		out[now.Field] = out[now.Field] || now.Early
		out[then.Field] = out[then.Field] || then.Early
	}
	return out
}
