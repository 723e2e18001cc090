package engine

import (
	"reflect"
	"slices"

	"github.com/sluicehq/sluice/sigma/ast"
)

// Change is a rule of a set that becomes another one.
type Change struct {
	Index         int // load index
	Before, After *ast.Rule
}

// Taking rules over is less work than compiling all as long as a few change, or one in so
// many.
const (
	fewChanged  = 16
	mostChanged = 4
)

// Renew returns the set in which some rules are others, which must have passed every check
// of package load. What the other rules were compiled to is taken over, so that it takes a
// fraction of the time of Compile; the results are those of Compile. The set stays as it
// is. Ok is false when the rules have to be compiled anew, since more of them or more of
// each has changed than detections and conditions over known fields.
func (s *Set) Renew(changes []Change) (next *Set, ok bool) {
	if len(changes) > max(fewChanged, len(s.handles)/mostChanged) {
		return nil, false
	}
	changed := make(map[int]*ast.Rule, len(changes))
	for _, c := range changes {
		if !alike(c.Before, c.After) {
			return nil, false
		}
		changed[c.Index] = c.After
	}
	plan, touched, ok := s.plan.Renew(changed, compileOptions(&s.options))
	if !ok {
		return nil, false
	}
	next = &Set{
		options: s.options, plan: plan, handles: s.handles, timed: s.timed, include: s.include, constant: slices.Clone(s.constant),
		products: s.products, readers: s.readers, times: s.times, routes: s.routes, inherits: true,
	}
	for i := range changed {
		next.fix(i)
	}
	next.markEarly()
	next.matchers = newMatchers(plan, wanted{fields: touched, before: s.matchers})
	next.indexes.inherit(&s.indexes, touched)
	return next, true
}

// alike reports whether two forms of a rule differ in what they ask of events alone.
func alike(before, after *ast.Rule) bool {
	one, other := readersOf([]*ast.Rule{before}), readersOf([]*ast.Rule{after})
	return one.all == other.all && one.shaped == other.shaped &&
		reflect.DeepEqual(before.Meta, after.Meta) && reflect.DeepEqual(before.Logsource, after.Logsource)
}
