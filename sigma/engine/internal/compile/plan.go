package compile

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/engine/internal/literal"
	"github.com/sluicehq/sluice/sigma/result"
)

// Options say what a plan is for.
type Options struct {
	Detail result.Detail
	Names  []string // further field names that are looked up
}

// Plan is a compiled rule set. It never changes.
type Plan struct {
	Fields *Fields
	Preds  []Pred

	Rules          []*Rule  // by load index
	Programs       []int32  // by load index: where the rule's program begins
	Code           []Instr  // all programs
	Tests          []Test   // bit tests of all programs
	Branches       []int32  // beginnings of the parts of counting instructions
	Candidates     []uint32 // load indexes, by predicate
	CandidateStart []uint32 // Candidates[CandidateStart[p]:CandidateStart[p+1]] are those of predicate p
	Always         []uint32 // load indexes of rules without witness

	// What several rules have in common makes all of them candidates by one number,
	// which stands behind those of the rules in Candidates: FirstGroup plus a position
	// in Groups.
	FirstGroup uint32 // a multiple of 64
	Groups     [][]uint32

	Rarity   literal.Rarity // of windows in traffic
	Machines int            // how many machines a worker needs for expressions
}

type builder struct {
	fields      *Fields
	preds       []Pred
	atoms       []*Expr // by predicate, nil while none is asked for
	exprs       []Expr  // to become atoms
	ids         map[predKey]uint32
	free        []uint32 // numbers that no predicate has
	expressions map[string]*Operand
	machines    int
	interned    map[string]string // patterns of results
	detail      result.Detail
	profile     *profile
	shared      map[*Expr]uint32
	kept        map[keptKey]*kept
	lists       map[amongKey]list // that became one predicate
	filters     filters
	conds       *conds
	at          ast.Fault // what is being compiled; its reason is not known yet
}

// predsPerRule is how many predicates a rule adds to those before it, about.
const predsPerRule = 10

// Build compiles rules, which must have passed every check of the loader. The error
// names those that no form is found for.
func Build(rules []*ast.Rule, o Options) (_ *Plan, err error) {
	b := &builder{
		fields: newFields(), preds: make([]Pred, 0, predsPerRule*len(rules)), ids: make(map[predKey]uint32, predsPerRule*len(rules)),
		expressions: make(map[string]*Operand), interned: make(map[string]string), detail: o.Detail, profile: traffic(),
		kept: make(map[keptKey]*kept), lists: make(map[amongKey]list), conds: new(conds),
	}
	b.countFilters(rules)
	for _, name := range o.Names {
		b.fields.Add(name, 0)
	}
	p := &Plan{Fields: b.fields, Rules: make([]*Rule, len(rules))}
	var faults ast.Faults
	for i, r := range rules {
		b.at = ast.Fault{Rule: i, Filter: -1}
		if reason := recovered(func() { p.Rules[i] = b.rule(r) }); reason != "" {
			b.at.Reason = reason
			faults = append(faults, b.at)
		}
	}
	if faults != nil {
		return nil, faults
	}
	reason := recovered(func() {
		b.fields.Table.Settle()
		b.candidates(p)
		p.Preds = slices.Clip(b.preds)
		p.Rarity, p.Machines = rarity, b.machines
		p.compile(&b.at)
	})
	switch {
	case reason == "":
		return p, nil
	case b.at.Rule < 0:
		return nil, errors.New("compile rules: " + reason)
	}
	b.at.Reason = reason
	return nil, ast.Faults{b.at}
}

// recovered returns what stopped work, empty when nothing did.
func recovered(work func()) (reason string) {
	defer func() {
		if r := recover(); r != nil {
			reason = fmt.Sprintf("no evaluator can be made of it: %v", r)
		}
	}()
	work()
	return ""
}

// rule compiles one rule: a condition must hold, and one of each filter.
func (b *builder) rule(r *ast.Rule) *Rule {
	scope := b.scope(r.Detections, r.Conditions, context{version: r.Version})
	if len(r.Filters) == 0 {
		return &Rule{Match: scope.any(), Scope: scope}
	}
	return &Rule{Match: and(slices.Concat([]*Expr{scope.any()}, b.ofFilters(r.Filters))...), Scope: scope}
}

// intern keeps one copy of equal texts.
func (b *builder) intern(s string) string {
	if have, ok := b.interned[s]; ok {
		return have
	}
	b.interned[s] = s
	return s
}
