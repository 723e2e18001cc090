package ast

import (
	"maps"
	"slices"
)

// Equal reports whether both say the same on the same lines.
func (d Detection) Equal(o Detection) bool {
	return d.Name == o.Name && d.Line == o.Line && d.Node.Equal(o.Node)
}

// Equal reports whether both say the same on the same lines.
func (c Condition) Equal(o Condition) bool {
	return c.Text == o.Text && c.Line == o.Line && c.Expr.Equal(o.Expr)
}

// Equal reports whether both trees say the same on the same lines.
func (n *Node) Equal(o *Node) bool {
	return n == o || n != nil && o != nil &&
		n.Kind == o.Kind && n.Path == o.Path && n.Quantifier == o.Quantifier && n.Line == o.Line &&
		slices.EqualFunc(n.Items, o.Items, Item.Equal) && slices.EqualFunc(n.Nodes, o.Nodes, (*Node).Equal) &&
		slices.EqualFunc(n.Detections, o.Detections, Detection.Equal) &&
		slices.EqualFunc(n.Conditions, o.Conditions, Condition.Equal) && slices.Equal(n.Applied, o.Applied)
}

// Equal reports whether both say the same on the same lines.
func (i Item) Equal(o Item) bool {
	return i.Field == o.Field && i.Modifiers == o.Modifiers && i.Line == o.Line && slices.Equal(i.Paths, o.Paths) &&
		equalValues(i.Values, o.Values) &&
		maps.EqualFunc(i.References, o.References, slices.Equal) && slices.Equal(i.Applied, o.Applied)
}

// equalValues compares lists, which are often one and the same.
func equalValues(a, b []Value) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.EqualFunc(a, b, Value.Equal))
}

// Equal reports whether both are written alike and mean the same.
func (v Value) Equal(o Value) bool {
	return v.Kind == o.Kind && v.Text == o.Text && v.Inserted == o.Inserted && slices.Equal(v.Parts, o.Parts)
}

// Equal reports whether both have equal detections, conditions and filters, on the same
// lines.
func (f FilterScope) Equal(o FilterScope) bool {
	return f.Title == o.Title && f.ID == o.ID && f.Version == o.Version && f.Origin == o.Origin &&
		slices.EqualFunc(f.Detections, o.Detections, Detection.Equal) && slices.EqualFunc(f.Conditions, o.Conditions, Condition.Equal)
}

// EqualLogic reports whether both rules ask the same of events: their detections,
// conditions and filters are equal.
func (r *Rule) EqualLogic(o *Rule) bool {
	return r.Version == o.Version && slices.EqualFunc(r.Detections, o.Detections, Detection.Equal) &&
		slices.EqualFunc(r.Conditions, o.Conditions, Condition.Equal) && slices.EqualFunc(r.Filters, o.Filters, FilterScope.Equal)
}
