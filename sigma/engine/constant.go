package engine

import (
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/condition"
	"github.com/sluicehq/sluice/sigma/engine/internal/compile"
)

// constantSelections returns the selections of a rule whose detections are the same
// for every event: most rules that have only keywords, at match detail off. It
// returns nil for any other rule.
func constantSelections(r *compile.Rule) []string {
	if len(r.Conditions) != 1 {
		return nil
	}
	names, ok := constantNames([]string{}, &r.Scope, r.Conditions[0])
	if !ok {
		return nil
	}
	return names
}

// constantNames appends the names that walk finds under a condition that holds. It
// returns false when the names, or entries of fields, depend on the event.
func constantNames(names []string, s *compile.Scope, k *compile.Cond) (_ []string, ok bool) {
	switch k.Op {
	case condition.Not:
		return names, true
	case condition.Ident:
		d := &s.Detections[k.Covers[0]]
		return appendNew(names, d.Name), noEntries(d.Node)
	case condition.And:
		for _, a := range k.Args {
			if names, ok = constantNames(names, s, a); !ok {
				return nil, false
			}
		}
		return names, true
	}
	return nil, false
}

// noEntries reports whether a node never adds entries.
func noEntries(n *compile.Node) bool {
	for i := range n.Items {
		if it := &n.Items[i]; !it.Keyword || it.Match != nil && !it.Neq {
			return false
		}
	}
	for _, sub := range n.Nodes {
		if !noEntries(sub) {
			return false
		}
	}
	return n.Kind != ast.KindArray && n.Kind != ast.KindNested
}
