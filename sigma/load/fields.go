package load

import (
	"cmp"
	"slices"

	"github.com/sluicehq/sluice/sigma/ast"
)

// FieldCount says in how many rules a field occurs.
type FieldCount struct {
	Field string `json:"field"`
	Rules int    `json:"rules"`
}

// Fields counts the field names of the collection's detection rules, filters
// included, ascending by name. Names inside array blocks count as path and name
// joined by a dot, and a field with places as the first of them.
func Fields(c *Collection) []FieldCount {
	counts := make(map[string]int)
	for _, r := range c.Rules {
		seen := make(map[string]bool)
		collect(r.Detections, "", seen)
		for i := range r.Filters {
			collect(r.Filters[i].Detections, "", seen)
		}
		for f := range seen {
			counts[f]++
		}
	}
	out := make([]FieldCount, 0, len(counts))
	for f, n := range counts {
		out = append(out, FieldCount{f, n})
	}
	slices.SortFunc(out, func(a, b FieldCount) int { return cmp.Compare(a.Field, b.Field) })
	return out
}

func collect(list []ast.Detection, prefix string, into map[string]bool) {
	for i := range list {
		collectNode(list[i].Node, prefix, into)
	}
}

func collectNode(n *ast.Node, prefix string, into map[string]bool) {
	if n == nil {
		return
	}
	for i := range n.Items {
		switch it := &n.Items[i]; {
		case it.Field == "":
		case it.Field == "." && prefix != "":
			into[prefix[:len(prefix)-1]] = true
		default:
			into[prefix+it.Field] = true
		}
	}
	if n.Kind == ast.KindArray {
		prefix += n.Path + "."
	}
	for _, below := range n.Nodes {
		collectNode(below, prefix, into)
	}
	collect(n.Detections, prefix, into)
}
