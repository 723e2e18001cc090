package load

import (
	"strings"

	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/sigma/ast"
)

// builder makes the tree of one document's detections.
type builder struct {
	*draft
	version int
	warned  bool // of brackets below version 3
}

// place says where a part of a detection stands: at the event, or inside the
// body of an array block, and below which path.
type place struct {
	member bool
	prefix string // ends in a dot when not empty
}

// String tells places apart.
func (p place) String() string {
	if p.member {
		return "member " + p.prefix
	}
	return p.prefix
}

// self is the field name that means the thing a body is about.
func (p place) self() string {
	if p.prefix == "" {
		return "."
	}
	return strings.TrimSuffix(p.prefix, ".")
}

// detection reads a mapping, a list of mappings or a list of keywords. It never
// returns nil; what is faulty is left out of the node.
func (b *builder) detection(n *document.Node, at place) *ast.Node {
	switch n.Kind {
	case document.Map:
		return b.mapping(n, at)
	case document.List:
		if len(n.Items) == 0 {
			b.failCompile(n.Line, "empty detection")
			return &ast.Node{Kind: ast.KindAny, Line: n.Line}
		}
		for _, it := range n.Items {
			if !it.IsScalar() {
				return b.alternatives(n, at)
			}
		}
		return b.keywords(n, at)
	}
	return b.keywords(n, at)
}

func (b *builder) alternatives(n *document.Node, at place) *ast.Node {
	node := &ast.Node{Kind: ast.KindAny, Line: n.Line, Nodes: make([]*ast.Node, 0, len(n.Items))}
	for _, it := range n.Items {
		node.Nodes = append(node.Nodes, b.detection(it, at))
	}
	return node
}

// keywords reads a scalar, or a list of nothing but scalars. Inside an array
// body the texts are looked for in the member.
func (b *builder) keywords(n *document.Node, at place) *ast.Node {
	item := ast.Item{Values: b.values(n), Line: n.Line}
	if at.member {
		item.Field = at.self()
		item.Modifiers = ast.Modifiers(ast.Contains)
		return &ast.Node{Kind: ast.KindItems, Items: []ast.Item{item}, Line: n.Line}
	}
	return &ast.Node{Kind: ast.KindKeywords, Items: []ast.Item{item}, Line: n.Line}
}

// conjunction gathers the parts of a mapping in the order in which results tell
// them: items and keyword blocks as written, array blocks behind them.
type conjunction struct {
	parts  []*ast.Node
	arrays []*ast.Node
}

func (c *conjunction) item(it ast.Item) {
	if n := len(c.parts); n > 0 && c.parts[n-1].Kind == ast.KindItems {
		c.parts[n-1].Items = append(c.parts[n-1].Items, it)
		return
	}
	c.parts = append(c.parts, &ast.Node{Kind: ast.KindItems, Items: []ast.Item{it}, Line: it.Line})
}

func (c *conjunction) keywords(it ast.Item) {
	c.parts = append(c.parts, &ast.Node{Kind: ast.KindKeywords, Items: []ast.Item{it}, Line: it.Line})
}

func (c *conjunction) node(line int) *ast.Node {
	all := append(c.parts, c.arrays...)
	switch len(all) {
	case 0:
		return &ast.Node{Kind: ast.KindItems, Line: line}
	case 1:
		return all[0]
	}
	return &ast.Node{Kind: ast.KindAll, Nodes: all, Line: line}
}

func (b *builder) mapping(n *document.Node, at place) *ast.Node {
	var c conjunction
	b.entries(&c, n, at)
	return c.node(n.Line)
}

func (b *builder) entries(c *conjunction, n *document.Node, at place) {
	if len(n.Entries) == 0 {
		b.failCompile(n.Line, "empty detection")
	}
	for _, e := range n.Entries {
		if e.Key.Kind != document.String {
			continue // reported by checkKeys
		}
		field, modifiers, ok := b.key(e.Key)
		if ok {
			b.entry(c, row{field, modifiers, e.Value, e.Key.Line}, at)
		}
	}
}

// row is one line of a mapping, its key taken apart.
type row struct {
	field     string
	modifiers ast.Modifiers
	value     *document.Node
	number    int
}

func (b *builder) entry(c *conjunction, r row, at place) {
	switch {
	case r.field != "" && r.field != ".":
		r.field = at.prefix + r.field
	case at.member || at.prefix != "":
		r.field = at.self()
	default:
		r.field = ""
		c.keywords(b.item(r))
		return
	}
	sel, err := splitSelectors(r.field)
	switch {
	case b.version < newestVersion:
		b.warnBrackets(sel, err, r)
	case err != nil:
		b.fail(r.number, "%v", err)
		return
	case sel.quantifier != ast.NoQuantifier:
		if block := b.array(r, sel); block != nil {
			c.arrays = append(c.arrays, block)
		}
		return
	case sel.position && r.value.Kind == document.Map:
		if r.modifiers != 0 {
			b.fail(r.number, "modifiers on '%s', whose value is a mapping", r.field)
			return
		}
		b.entries(c, r.value, place{member: at.member, prefix: r.field + "."})
		return
	}
	c.item(b.item(r))
}

func (b *builder) warnBrackets(sel selectors, err error, r row) {
	if err == nil && (sel.quantifier != ast.NoQuantifier || sel.indexed) && !b.warned {
		b.warned = true
		b.warn(r.number, "'%s' looks like an array selector, which needs sigma-version 3; brackets are ordinary characters here", r.field)
	}
}

func (b *builder) item(r row) ast.Item {
	it := ast.Item{Field: r.field, Modifiers: r.modifiers, Values: b.values(r.value), Line: r.number}
	if r.value.Kind == document.List && len(r.value.Items) == 0 {
		b.warn(r.number, "'%s' has an empty list of values and never matches", r.field)
	}
	return it
}

// values reads a scalar or a list of scalars. Anything else is an alternative
// that never matches.
func (b *builder) values(n *document.Node) []ast.Value {
	if n.Kind != document.List {
		return []ast.Value{b.value(n)}
	}
	out := make([]ast.Value, 0, len(n.Items))
	for _, it := range n.Items {
		out = append(out, b.value(it))
	}
	return out
}

func (b *builder) value(n *document.Node) ast.Value {
	switch n.Kind {
	case document.Null:
		return ast.Value{Kind: ast.Null}
	case document.Bool:
		return ast.Value{Kind: ast.Bool, Text: n.Text}
	case document.Int, document.Float:
		return ast.Value{Kind: ast.Number, Text: n.Text}
	case document.String, document.NonFinite:
		// No event holds a number that is not finite: what was written is a text such as ".inf".
		return ast.StringValue(n.Text)
	}
	b.warn(n.Line, "a mapping or list where a value is expected never matches")
	return ast.Value{Kind: ast.Invalid}
}
