package pipeline

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluicehq/sluice/sigma/ast"
)

// cloneRule copies what a pipeline may change of a rule, except its trees: they belong to
// other rules, too, and a node is copied when it changes.
func cloneRule(r *ast.Rule) *ast.Rule {
	out := *r
	out.Meta = cloneMeta(r.Meta)
	out.Detections, out.Conditions, out.Filters = slices.Clone(r.Detections), slices.Clone(r.Conditions), slices.Clone(r.Filters)
	return &out
}

// shareUnchanged lets out have the lists of r that it has not changed.
func shareUnchanged(out, r *ast.Rule) {
	same := func(a, b ast.Detection) bool { return a.Node == b.Node && a.Name == b.Name }
	if slices.EqualFunc(out.Detections, r.Detections, same) {
		out.Detections = r.Detections
	}
	if slices.EqualFunc(out.Conditions, r.Conditions, func(a, b ast.Condition) bool { return a.Expr == b.Expr && a.Text == b.Text }) {
		out.Conditions = r.Conditions
	}
	if slices.EqualFunc(out.Filters, r.Filters, func(a, b ast.FilterScope) bool { return slices.EqualFunc(a.Detections, b.Detections, same) }) {
		out.Filters = r.Filters
	}
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

// eachDetection visits the rule's detections and those of its filters, whose lists belong
// to other rules, too.
func eachDetection(r *ast.Rule, visit func(*ast.Detection)) {
	for i := range r.Detections {
		visit(&r.Detections[i])
	}
	for i := range r.Filters {
		f := &r.Filters[i]
		for k, d := range f.Detections {
			if visit(&d); d.Node != f.Detections[k].Node {
				f.Detections = slices.Clone(f.Detections)
				f.Detections[k] = d
			}
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
	eachItem(r, func(_ *ast.Node, it *ast.Item) {
		if it.Applied != nil { // only what this rule alone has
			it.Applied = nil
		}
	})
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
// Nodes that nothing changes stay as they are; others are copied.
func rewrite(n *ast.Node, replace func(n *ast.Node, it ast.Item) (replacement, error)) (*ast.Node, error) {
	out := n
	for i, c := range n.Nodes {
		m, err := rewrite(c, replace)
		if err != nil {
			return nil, err
		}
		if m != c {
			out = owned(out, n)
			out.Nodes[i] = m
		}
	}
	for i := range n.Detections {
		m, err := rewrite(n.Detections[i].Node, replace)
		if err == nil && m == nil {
			err = errEmpty
		}
		if err != nil {
			return nil, err
		}
		if m != n.Detections[i].Node {
			out = owned(out, n)
			out.Detections[i].Node = m
		}
	}
	whole := len(n.Nodes)
	if out != n {
		out.Nodes = slices.DeleteFunc(out.Nodes, func(c *ast.Node) bool { return c == nil })
	}
	switch n.Kind {
	case ast.KindItems, ast.KindKeywords:
		return rewriteItems(out, replace)
	case ast.KindAll:
		if len(out.Nodes) == 0 && whole > 0 {
			return nil, nil
		}
	case ast.KindAny, ast.KindArray:
		if len(out.Nodes) < whole {
			return nil, errEmpty
		}
	}
	return out, nil
}

// owned returns a copy of n that may change, which out is already unless it is n.
func owned(out, n *ast.Node) *ast.Node {
	if out != n {
		return out
	}
	c := *n
	c.Nodes, c.Detections = slices.Clone(n.Nodes), slices.Clone(n.Detections)
	return &c
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
	changed := false
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
		changed = changed || !whole.keep
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
	case !changed: // also of a faulty document without items: nothing was lost here
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
