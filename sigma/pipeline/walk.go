package pipeline

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluicehq/sluice/sigma"
)

// cloneRule copies everything a pipeline may change.
func cloneRule(r *sigma.Rule) *sigma.Rule {
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

func cloneMeta(m sigma.Meta) sigma.Meta {
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

func cloneDetections(list []sigma.Detection) []sigma.Detection {
	out := slices.Clone(list)
	for i := range out {
		out[i].Node = cloneNode(out[i].Node)
	}
	return out
}

func cloneNode(n *sigma.Node) *sigma.Node {
	if n == nil {
		return nil
	}
	out := *n
	out.Items = slices.Clone(n.Items)
	for i := range out.Items {
		out.Items[i].Values = slices.Clone(out.Items[i].Values)
	}
	out.Nodes = make([]*sigma.Node, len(n.Nodes))
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
func eachDetection(r *sigma.Rule, visit func(*sigma.Detection)) {
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
func eachItem(r *sigma.Rule, visit func(*sigma.Node, *sigma.Item)) {
	eachDetection(r, func(d *sigma.Detection) {
		d.Node.Walk(func(n *sigma.Node) bool {
			for i := range n.Items {
				visit(n, &n.Items[i])
			}
			return true
		})
	})
}

func clearApplied(r *sigma.Rule) {
	eachItem(r, func(_ *sigma.Node, it *sigma.Item) { it.Applied = nil })
}

// replacement is what becomes of one item: alternatives of items that must hold
// together. No alternative drops the item.
type replacement struct {
	keep         bool
	alternatives [][]sigma.Item
}

var kept = replacement{keep: true}

func renamed(it sigma.Item) replacement {
	return replacement{alternatives: [][]sigma.Item{{it}}}
}

// rewrite replaces items below n. A plain item that becomes several alternatives
// turns into a nested disjunction at its place, so the size of a rule is the sum
// of its alternatives and not their product.
func rewrite(n *sigma.Node, replace func(n *sigma.Node, it sigma.Item) (replacement, error)) (*sigma.Node, error) {
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
	n.Nodes = slices.DeleteFunc(n.Nodes, func(c *sigma.Node) bool { return c == nil })
	switch n.Kind {
	case sigma.KindItems, sigma.KindKeywords:
		return rewriteItems(n, replace)
	case sigma.KindAll:
		if len(n.Nodes) == 0 && whole > 0 {
			return nil, nil
		}
	case sigma.KindAny, sigma.KindArray:
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
func rewriteRule(r *sigma.Rule, replace func(*sigma.Node, sigma.Item) (replacement, error)) error {
	var first error
	eachDetection(r, func(d *sigma.Detection) {
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

func rewriteItems(n *sigma.Node, replace func(*sigma.Node, sigma.Item) (replacement, error)) (*sigma.Node, error) {
	var parts []*sigma.Node
	plain := func(items ...sigma.Item) {
		kind := kindOf(items)
		if last := len(parts) - 1; last >= 0 && parts[last].Kind == sigma.KindItems && kind == sigma.KindItems {
			parts[last].Items = append(parts[last].Items, items...)
			return
		}
		parts = append(parts, &sigma.Node{Kind: kind, Items: items, Applied: n.Applied, Line: n.Line})
	}
	for _, it := range n.Items {
		r, err := replace(n, it)
		switch {
		case err != nil:
			return nil, err
		case r.keep:
			plain(it)
		case len(r.alternatives) == 1:
			plain(r.alternatives[0]...)
		case len(r.alternatives) > 1:
			any := &sigma.Node{Kind: sigma.KindAny, Line: n.Line}
			for _, items := range r.alternatives {
				any.Nodes = append(any.Nodes, &sigma.Node{Kind: kindOf(items), Items: items, Line: n.Line})
			}
			parts = append(parts, any)
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
	return &sigma.Node{Kind: sigma.KindAll, Nodes: parts, Line: n.Line}, nil
}

// kindOf is KindKeywords for an item without a field, which stands alone.
func kindOf(items []sigma.Item) sigma.Kind {
	if len(items) == 1 && items[0].Field == "" {
		return sigma.KindKeywords
	}
	return sigma.KindItems
}
