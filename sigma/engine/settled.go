package engine

import (
	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/sigma/condition"
	"github.com/sluicehq/sluice/sigma/engine/internal/compile"
)

// settledNames returns the selections of a rule that explains itself alike
// whatever the event: most that only have keywords, at match detail off. It
// returns nil where the event matters.
func settledNames(r *compile.Rule) []string {
	if len(r.Conditions) != 1 {
		return nil
	}
	names, ok := settle([]string{}, &r.Scope, r.Conditions[0])
	if !ok {
		return nil
	}
	return names
}

// settle appends the names that walk finds under a condition that holds. It
// is false when they, or entries of fields, depend on the event.
func settle(names []string, s *compile.Scope, k *compile.Cond) (_ []string, ok bool) {
	switch k.Op {
	case condition.Not:
		return names, true
	case condition.Ident:
		d := &s.Detections[k.Covers[0]]
		return appendNew(names, d.Name), silent(d.Node)
	case condition.And:
		for _, a := range k.Args {
			if names, ok = settle(names, s, a); !ok {
				return nil, false
			}
		}
		return names, true
	}
	return nil, false
}

// silent reports whether a node never gives entries.
func silent(n *compile.Node) bool {
	for i := range n.Items {
		if it := &n.Items[i]; !it.Keyword || it.Match != nil && !it.Neq {
			return false
		}
	}
	for _, sub := range n.Nodes {
		if !silent(sub) {
			return false
		}
	}
	return n.Kind != sigma.KindArray && n.Kind != sigma.KindNested
}
