package reference

import (
	"fmt"
	"strconv"

	"github.com/sluicehq/sluice/sigma/ast"
)

// node is a compiled detection, of the same shapes as ast.Node.
type node struct {
	kind       ast.Kind
	items      []*item
	nodes      []*node
	array      path
	quantifier ast.Quantifier
	nested     *block
}

// detection is a named node.
type detection struct {
	name string
	node *node
}

func (c *compiler) detections(in []ast.Detection, version int) ([]detection, error) {
	out := make([]detection, 0, len(in))
	for i := range in {
		n, err := c.node(in[i].Node, version)
		if err != nil {
			return nil, fmt.Errorf("detection %s: %w", in[i].Name, err)
		}
		out = append(out, detection{in[i].Name, n})
	}
	return out, nil
}

func (c *compiler) node(in *ast.Node, version int) (*node, error) {
	n := &node{kind: in.Kind, quantifier: in.Quantifier}
	for i := range in.Items {
		it, err := c.item(&in.Items[i], version, in.Kind == ast.KindKeywords)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", in.Items[i].Field, err)
		}
		n.items = append(n.items, it)
	}
	for _, child := range in.Nodes {
		m, err := c.node(child, version)
		if err != nil {
			return nil, err
		}
		n.nodes = append(n.nodes, m)
	}
	switch in.Kind {
	case ast.KindArray:
		n.array = parsePath(in.Path, version)
	case ast.KindNested:
		b, err := c.block(in.Detections, in.Conditions, version)
		if err != nil {
			return nil, err
		}
		n.nested = b
	}
	return n, nil
}

// holds reports whether a detection holds in a scope.
func (n *node) holds(s scope) bool {
	switch n.kind {
	case ast.KindItems:
		for _, it := range n.items {
			if !it.holds(s) {
				return false
			}
		}
		return true
	case ast.KindAny:
		for _, m := range n.nodes {
			if m.holds(s) {
				return true
			}
		}
		return false
	case ast.KindAll:
		for _, m := range n.nodes {
			if !m.holds(s) {
				return false
			}
		}
		return true
	case ast.KindKeywords:
		return n.items[0].searches(s.ev, s.words())
	case ast.KindNested:
		return n.nested.winner(s) != nil
	}
	return n.arrayHolds(s)
}

// words are the strings a keyword group searches.
func (s scope) words() []*value {
	if s.member != nil {
		return s.member.strings(1, nil)
	}
	return s.ev.keywords()
}

// members lists what an array block is about.
func (n *node) members(s scope) []scope {
	var out []scope
	for _, h := range s.hits(n.array) {
		switch h.value.kind {
		case null:
		case list:
			for i, e := range h.value.list {
				out = append(out, scope{s.ev, e, h.at + "[" + strconv.Itoa(i) + "]"})
			}
		default:
			out = append(out, scope{s.ev, h.value, h.at})
		}
	}
	return out
}

// satisfying lists the members for which the body holds.
func (n *node) satisfying(members []scope) []scope {
	var out []scope
	for _, m := range members {
		if n.nodes[0].holds(m) {
			out = append(out, m)
		}
	}
	return out
}

func (n *node) arrayHolds(s scope) bool {
	members := n.members(s)
	satisfying := len(n.satisfying(members))
	switch n.quantifier {
	case ast.AnyMember:
		return satisfying > 0
	case ast.AllMembers:
		return len(members) > 0 && satisfying == len(members)
	case ast.AllOrEmpty:
		return satisfying == len(members)
	}
	return satisfying == 0
}
