package compile

import (
	"cmp"
	"maps"
	"slices"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/engine/internal/literal"
)

// candidates chooses the witnesses of every rule: predicates of which one must hold
// whenever the rule fires. A rule is evaluated only when one of its witnesses holds.
func (b *builder) candidates(p *Plan) {
	w := witnesses{b: b, profile: b.profile, made: make(map[uint32]choice)}
	w.shares.grow(len(b.preds))
	var list []witness
	var demand estimates
	demand.grow(len(b.preds))
	members := make(map[uint32][]uint32) // rules by what they have in common
	for i, r := range p.Rules {
		b.at = ast.Fault{Rule: i, Filter: -1}
		match := r.Match
		c := w.choose(match)
		if c.none {
			p.Always = append(p.Always, uint32(i))
			continue
		}
		w.demand(&demand, match, c.share)
		slices.Sort(c.preds)
		for _, id := range slices.Compact(c.preds) {
			list = append(list, witness{id, uint32(i)})
		}
		for _, id := range distinct(c.common) {
			members[id] = append(members[id], uint32(i))
		}
	}
	b.at.Rule = -1 // what follows is no single rule's
	p.FirstGroup = uint32(len(p.Rules)+63) &^ 63
	for _, id := range slices.Sorted(maps.Keys(members)) {
		for _, w := range w.ofShared(id).preds {
			list = append(list, witness{w, p.FirstGroup + uint32(len(p.Groups))})
		}
		p.Groups = append(p.Groups, members[id])
	}
	for id := len(b.preds) - 1; id >= 0; id-- { // what is shared is made of what was compiled before
		if b.preds[id].Kind == Shared {
			w.demand(&demand, b.preds[id].More.Expr, min(*demand.at(uint32(id)), 1))
		}
	}
	p.setCandidates(list, len(b.preds))
	for id := range b.preds {
		pred, id := &b.preds[id], uint32(id)
		pred.Early = p.CandidateStart[id] < p.CandidateStart[id+1] || w.worthwhile(id) || *demand.at(id) > oftenAsked && w.judgeable(pred)
		pred.Direct = pred.Early && !w.indexable(pred)
	}
}

// witness is a predicate that makes a rule a candidate.
type witness struct{ pred, rule uint32 }

// setCandidates lists the rules by predicate. List is in the order of rules.
func (p *Plan) setCandidates(list []witness, preds int) {
	p.CandidateStart = make([]uint32, preds+1)
	for _, x := range list {
		p.CandidateStart[x.pred+1]++
	}
	for id := range preds {
		p.CandidateStart[id+1] += p.CandidateStart[id]
	}
	p.Candidates = make([]uint32, len(list))
	free := slices.Clone(p.CandidateStart)
	for _, x := range list {
		p.Candidates[free[x.pred]] = x.rule
		free[x.pred]++
	}
}

// estimates are shares of events by predicate. The number of predicates may grow.
type estimates struct{ values []float64 }

// grow makes room for some values, and a few more.
func (t *estimates) grow(n int) { t.values = make([]float64, n, n+n/8) }

// at returns a pointer to a value, which is zero at first.
func (t *estimates) at(id uint32) *float64 {
	for len(t.values) <= int(id) {
		t.values = append(t.values, 0)
	}
	return &t.values[id]
}

// choice is a set of predicates of which one must hold for an expression to
// hold, with the share of events in which one does; or none is known.
type choice struct {
	preds  []uint32
	common []uint32 // shared predicates: one of their witnesses
	share  float64
	none   bool
}

var unknown = choice{none: true}

type witnesses struct {
	b       *builder
	profile *profile
	shares  estimates         // of events in which a predicate holds, 0 when not computed yet
	made    map[uint32]choice // by predicates that cost something to choose for
}

func (w *witnesses) choose(x *Expr) choice {
	switch x.Op {
	case False:
		return choice{}
	case Atom:
		return w.ofPred(x.Pred)
	case And:
		best := unknown
		for _, a := range x.Args {
			if c := w.choose(a); !c.none && (best.none || c.share < best.share) {
				best = c
			}
		}
		return best
	case Or, AtLeast:
		return w.ofSeveral(x)
	case Not:
		return w.refuse(x.Args[0])
	}
	return unknown
}

// refuse chooses for the negation of x: what is negated twice is positive.
func (w *witnesses) refuse(x *Expr) choice {
	switch x.Op {
	case True:
		return choice{}
	case Not:
		return w.choose(x.Args[0])
	case Atom:
		if p := &w.b.preds[x.Pred]; p.Kind == Shared {
			return w.refuse(p.More.Expr)
		}
	case Or:
		best := unknown
		for _, a := range x.Args {
			if c := w.refuse(a); !c.none && (best.none || c.share < best.share) {
				best = c
			}
		}
		return best
	case And:
		var out choice
		for _, a := range x.Args {
			if !out.unite(w.refuse(a)) {
				return unknown
			}
		}
		return out
	}
	return unknown
}

// ofSeveral unites what the args need. Where n of them must hold, the dearest
// n-1 may be left out.
func (w *witnesses) ofSeveral(x *Expr) choice {
	if x.Op == Or {
		out := choice{preds: make([]uint32, 0, len(x.Args))}
		for _, a := range x.Args {
			if c := w.choose(a); !out.unite(c) {
				return unknown
			}
		}
		return out
	}
	var list []choice
	for _, a := range x.Args {
		list = append(list, w.choose(a))
	}
	slices.SortFunc(list, func(a, b choice) int {
		if a.none != b.none {
			if a.none {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.share, b.share)
	})
	var out choice
	for _, c := range list[:len(list)-x.N+1] {
		if !out.unite(c) {
			return unknown
		}
	}
	return out
}

// unite adds what something else needs. It reports false when that is unknown.
func (c *choice) unite(with choice) bool {
	c.preds = append(c.preds, with.preds...)
	c.common = append(c.common, with.common...)
	c.share += with.share
	return !with.none
}

func (w *witnesses) ofPred(id uint32) choice {
	p := &w.b.preds[id]
	switch {
	case w.indexable(p):
		return choice{preds: []uint32{id}, share: w.share(id)}
	case p.Kind == IsNull || p.Kind == RefUsable || p.Kind == ExpandUsable:
		return unknown
	case p.Kind == Block || p.Kind == AnyOf:
		return w.ofAny(p.More.Gates)
	case p.Kind == Shared:
		c := w.ofShared(id)
		if len(c.preds) > fewWitnesses {
			c.preds, c.common = nil, []uint32{id}
		}
		return c
	case p.Kind == Regex || p.Kind == Glob || p.Kind == Among:
		return w.once(id, w.ofText)
	}
	return w.ofText(id)
}

// fewWitnesses are listed for every rule that has them in common.
const fewWitnesses = 16

// ofText chooses between a text predicate and what it demands.
func (w *witnesses) ofText(id uint32) choice {
	best := w.lastResort(id)
	if gates := w.b.gates(&w.b.preds[id]); gates != nil {
		if c := w.ofAny(gates); !c.none && (best.none || c.share < best.share) {
			return c
		}
	}
	return best
}

// ofShared chooses for the expression of a shared predicate. Its list names no other
// shared one.
func (w *witnesses) ofShared(id uint32) choice {
	return w.once(id, func(id uint32) choice {
		c := w.choose(w.b.preds[id].More.Expr)
		c.preds = slices.Clone(c.preds)
		for _, inner := range c.common {
			c.preds = append(c.preds, w.ofShared(inner).preds...)
		}
		c.common = nil
		return c
	})
}

// once remembers a choice.
func (w *witnesses) once(id uint32, choose func(id uint32) choice) choice {
	c, ok := w.made[id]
	if !ok {
		c = choose(id)
		slices.Sort(c.preds)
		c.preds = slices.Compact(c.preds)
		w.made[id] = c
	}
	return c
}

// lastResort is the witness of a predicate without literals: the predicate
// itself, evaluated for every value that is not remembered, or that the field is
// there at all.
func (w *witnesses) lastResort(id uint32) choice {
	p := &w.b.preds[id]
	if p.IsText() && p.Field != 0 && !w.b.fields.List[p.Field].Virtual {
		return choice{preds: []uint32{id}, share: presence(p.Field, w.b.fields.List[p.Field].Name) * directShare}
	}
	if p.Field == Keywords {
		return unknown
	}
	return w.present(p.Field)
}

// directShare is the cost of evaluating a value, relative to that of evaluating a
// candidate.
const directShare = 0.3

// ofAny unites the witnesses of predicates of which one must hold.
func (w *witnesses) ofAny(preds []uint32) choice {
	if len(preds) == 0 {
		return unknown
	}
	var out choice
	for _, id := range preds {
		if !out.unite(w.ofPred(id)) {
			return unknown
		}
	}
	return out
}

// present is the witness of last resort: the field is there at all.
func (w *witnesses) present(field uint32) choice {
	if f := &w.b.fields.List[field]; f.Virtual {
		var ids []uint32
		for _, h := range f.Hints {
			ids = append(ids, w.b.pred(Pred{Kind: Present, Field: h}))
		}
		return w.ofAny(ids)
	}
	id := w.b.pred(Pred{Kind: Present, Field: field})
	return choice{preds: []uint32{id}, share: w.share(id)}
}

// indexable reports whether the predicate can be known after one look at every
// value.
func (w *witnesses) indexable(p *Pred) bool {
	if w.b.fields.List[p.Field].Virtual || p.Field == 0 {
		return false
	}
	switch p.Kind {
	case Present:
		return p.Field != Keywords
	case Equal:
		return true
	case Exact, Prefix, Suffix:
		return !p.Cased
	case Among:
		return !p.Cased && p.Op != CIDR
	case Contains:
		return !p.Cased && literal.CanContain(p.Text)
	}
	return false
}

// oftenAsked is the share of events above which a predicate is evaluated once per
// distinct value instead of on demand.
const oftenAsked = 0.1

// demand adds the share of events for which a rule is evaluated to the demand for
// its predicates.
func (w *witnesses) demand(sum *estimates, x *Expr, share float64) {
	if x.Op == Atom {
		*sum.at(x.Pred) += share
	}
	for _, a := range x.Args {
		w.demand(sum, a, share)
	}
}

// judgeable reports whether a predicate depends on a value's text alone.
func (w *witnesses) judgeable(p *Pred) bool {
	return p.IsText() && p.Field > Keywords && !w.b.fields.List[p.Field].Virtual
}

// rare is the share below which a literal is searched for in every value although
// it is no witness of a rule.
const rare = 0.02

// worthwhile reports whether evaluating the predicate early costs less than
// evaluating it on demand.
func (w *witnesses) worthwhile(id uint32) bool {
	p := &w.b.preds[id]
	switch {
	case !w.indexable(p) || p.Kind == Present:
		return false
	case p.Kind == Contains:
		return literal.IsCheap(p.Text) && w.share(id) < rare
	}
	return true
}

func (w *witnesses) share(id uint32) float64 {
	s := w.shares.at(id)
	if *s == 0 {
		p := &w.b.preds[id]
		*s = w.profile.share(p, w.b.fields.List[p.Field].Name)
	}
	return *s
}
