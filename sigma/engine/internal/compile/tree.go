package compile

import "sync/atomic"

// tree is what a rule is made of. That of a plan that was read stays packed until
// somebody asks: most rules never fire.
type tree struct {
	built  atomic.Pointer[Rule]
	packed string
}

// Len returns the number of rules.
func (p *Plan) Len() int { return len(p.trees) }

// Rule returns what the rule with a load index is made of.
func (p *Plan) Rule(i uint32) *Rule {
	t := &p.trees[i]
	if r := t.built.Load(); r != nil {
		return r
	}
	t.built.CompareAndSwap(nil, p.look(i))
	return t.built.Load()
}

// look is Rule for one look: it keeps nothing that was packed.
func (p *Plan) look(i uint32) *Rule {
	t := &p.trees[i]
	if r := t.built.Load(); r != nil {
		return r
	}
	return p.readRule(t.packed)
}
