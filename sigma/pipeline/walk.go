package pipeline

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluicehq/sluice/sigma/ast"
)

// cloneRule copies everything a pipeline may change.
func cloneRule(r *ast.Rule) *ast.Rule {
	out := *r
	out.Meta = cloneMeta(r.Meta)
	out.Detections = cloneDetections(r.Detections)
	out.Conditions = slices.Clone(r.Conditions)
	out.Filters = slices.Clone(r.Filters)
	for i := range out.Filters {
		f := &out.Filters[i]
		f.Detections, f.Conditions = cloneDetections(f.Detections), slices.Clone(f.Conditions)
	}
	return &out
}

func cloneMeta(m ast.Meta) ast.Meta {
	m.Fields, m.Tags, m.Applied = slices.Clone(m.Fields), slices.Clone(m.Tags), slices.Clone(m.Applied)
	if m.Attributes != nil {
		attributes := make(map[string]any, len(m.Attributes))
		for k, v := range m.Attributes {
			attributes[k] = v // values are replaced whole, never changed
		}
		m.Attributes = attributes
	}
	return m
}

func cloneDetections(list []ast.Detection) []ast.Detection {
	out := slices.Clone(list)
	for i := range out {
		out[i].Node = cloneNode(out[i].Node)
	}
	return out
}

func cloneNode(n *ast.Node) *ast.Node {
	if n == nil {
		return nil
	}
	out := *n
	out.Items = slices.Clone(n.Items)
	for i := range out.Items {
		out.Items[i].Values = slices.Clone(out.Items[i].Values)
	}
	out.Nodes = make([]*ast.Node, len(n.Nodes))
	for i, c := range n.Nodes {
		out.Nodes[i] = cloneNode(c)
	}
	if len(out.Nodes) == 0 {
		out.Nodes = nil
	}
	out.Detections = cloneDetections(n.Detections)
	return &out
}

// eachDetection visits the rule's detections and those of its filters.
func eachDetection(r *ast.Rule, visit func(*ast.Detection)) {
	for i := range r.Detections {
		visit(&r.Detections[i])
	}
	for i := range r.Filters {
		for k := range r.Filters[i].Detections {
			visit(&r.Filters[i].Detections[k])
		}
	}
}

// eachItem visits every item at any depth.
func eachItem(r *ast.Rule, visit func(*ast.Node, *ast.Item)) {
	eachDetection(r, func(d *ast.Detection) {
		d.Node.Walk(func(n *ast.Node) bool {
			for i := range n.Items {
				visit(n, &n.Items[i])
			}
			return true
		})
	})
}

func clearApplied(r *ast.Rule) {
	eachItem(r, func(_ *ast.Node, it *ast.Item) { it.Applied = nil })
}

// replacement is what becomes of one item: alternatives of items that must hold
// together. No alternative drops the item.
type replacement struct {
	keep         bool
	alternatives [][]ast.Item
	also         []replacement // must hold as well
}

var kept = replacement{keep: true}

func renamed(it ast.Item) replacement {
	return replacement{alternatives: [][]ast.Item{{it}}}
}

// rewrite replaces items below n. A plain item that becomes several alternatives
// turns into a nested disjunction at its place, so the size of a rule is the sum
// of its alternatives and not their product.
func rewrite(n *ast.Node, replace func(n *ast.Node, it ast.Item) (replacement, error)) (*ast.Node, error) {
	for i, c := range n.Nodes {
		m, err := rewrite(c, replace)
		if err != nil {
			return nil, err
		}
		n.Nodes[i] = m
	}
	for i := range n.Detections {
		m, err := rewrite(n.Detections[i].Node, replace)
		if err == nil && m == nil {
			err = errEmpty
		}
		if err != nil {
			return nil, err
		}
		n.Detections[i].Node = m
	}
	whole := len(n.Nodes)
	n.Nodes = slices.DeleteFunc(n.Nodes, func(c *ast.Node) bool { return c == nil })
	switch n.Kind {
	case ast.KindItems, ast.KindKeywords:
		return rewriteItems(n, replace)
	case ast.KindAll:
		if len(n.Nodes) == 0 && whole > 0 {
			return nil, nil
		}
	case ast.KindAny, ast.KindArray:
		if len(n.Nodes) < whole {
			return nil, errEmpty
		}
	}
	return n, nil
}

// errEmpty is given when a map loses its last item: it must never come to match
// everything.
var errEmpty = errors.New("is empty after processing")

// rewriteRule rewrites the detections of the rule and of its filters.
func rewriteRule(r *ast.Rule, replace func(*ast.Node, ast.Item) (replacement, error)) error {
	var first error
	eachDetection(r, func(d *ast.Detection) {
		n, err := rewrite(d.Node, replace)
		if err == nil && n == nil {
			err = errEmpty
		}
		if errors.Is(err, errEmpty) {
			err = fmt.Errorf("detection '%s' %w", d.Name, errEmpty)
		}
		if err != nil && first == nil {
			first = err
		}
		if err == nil {
			d.Node = n
		}
	})
	return first
}

func rewriteItems(n *ast.Node, replace func(*ast.Node, ast.Item) (replacement, error)) (*ast.Node, error) {
	var parts []*ast.Node
	plain := func(items ...ast.Item) {
		kind := kindOf(items)
		if last := len(parts) - 1; last >= 0 && parts[last].Kind == ast.KindItems && kind == ast.KindItems {
			parts[last].Items = append(parts[last].Items, items...)
			return
		}
		parts = append(parts, &ast.Node{Kind: kind, Items: items, Applied: n.Applied, Line: n.Line})
	}
	for _, it := range n.Items {
		whole, err := replace(n, it)
		if err != nil {
			return nil, err
		}
		for _, r := range append([]replacement{whole}, whole.also...) {
			switch {
			case r.keep:
				plain(it)
			case len(r.alternatives) == 1:
				plain(r.alternatives[0]...)
			case len(r.alternatives) > 1:
				any := &ast.Node{Kind: ast.KindAny, Line: n.Line}
				for _, items := range r.alternatives {
					any.Nodes = append(any.Nodes, &ast.Node{Kind: kindOf(items), Items: items, Line: n.Line})
				}
				parts = append(parts, any)
			}
		}
	}
	switch {
	case len(n.Items) == 0: // of a faulty document: nothing was lost here
		return n, nil
	case len(parts) == 0:
		return nil, nil
	case len(parts) == 1:
		return parts[0], nil
	}
	return &ast.Node{Kind: ast.KindAll, Nodes: parts, Line: n.Line}, nil
}

// kindOf is KindKeywords for an item without a field, which stands alone.
func kindOf(items []ast.Item) ast.Kind {
	if len(items) == 1 && items[0].Field == "" {
		return ast.KindKeywords
	}
	return ast.KindItems
}
