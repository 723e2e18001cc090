package scan

import (
	"maps"

	"github.com/sluicehq/sluice/sigma/event"
)

// Table maps names to fields. It is filled once and then only read.
type Table struct {
	Keywords bool // list every string, not only those of fields

	nodes  []node
	fields uint32
}

type node struct {
	targets  []target
	children map[string]int32
	any      int32 // child for every key, 0 for none
	other    int32 // a node whose children are those for keys without one here, 0 for none
}

type target struct {
	field      uint32
	rank       uint16
	shared     bool
	textInside bool // an object is not the value: its #text is
}

// The nodes that always exist. A value below nowhere interests no field.
const (
	nowhere int32 = -1
	root    int32 = 0
)

// NewTable returns a table without names.
func NewTable() *Table { return &Table{nodes: make([]node, 1)} }

// Fields returns one more than the highest field number.
func (t *Table) Fields() int { return int(t.fields) + 1 }

// AddName lets the whole key name of the root object lead to the field.
func (t *Table) AddName(field uint32, name string, rank int, shared, textInside bool) {
	t.add(t.child(root, name), target{field, uint16(rank), shared, textInside})
}

// AddPath lets a path without positions lead to the field. A path of a single
// segment is a name.
func (t *Table) AddPath(field uint32, segments []event.Segment, rank int, textInside bool) {
	at := root
	for _, s := range segments {
		if s.Any {
			at = t.anyChild(at)
		} else {
			at = t.child(at, s.Key)
		}
	}
	t.add(at, target{field, uint16(rank), true, textInside})
}

func (t *Table) add(at int32, g target) {
	t.fields = max(t.fields, g.field)
	n := &t.nodes[at]
	for _, have := range n.targets {
		if have.field == g.field {
			return
		}
	}
	n.targets = append(n.targets, g)
	if g.textInside {
		g.textInside = false
		t.add(t.child(at, "#text"), g)
	}
}

func (t *Table) child(at int32, key string) int32 {
	if c, ok := t.nodes[at].children[key]; ok {
		return c
	}
	c := int32(len(t.nodes))
	t.nodes = append(t.nodes, node{})
	if t.nodes[at].children == nil {
		t.nodes[at].children = make(map[string]int32)
	}
	t.nodes[at].children[key] = c
	return c
}

func (t *Table) anyChild(at int32) int32 {
	if t.nodes[at].any == 0 {
		c := int32(len(t.nodes))
		t.nodes = append(t.nodes, node{})
		t.nodes[at].any = c
	}
	return t.nodes[at].any
}

// Settle completes the table after the last name: what any key leads to, a key
// with a child of its own leads to as well.
func (t *Table) Settle() {
	for at := int32(0); at < int32(len(t.nodes)); at++ { // grows while it is walked
		if t.nodes[at].any == 0 {
			continue
		}
		for _, c := range t.nodes[at].children {
			t.merge(c, t.nodes[at].any)
		}
	}
}

// merge lets everything below from be reached from at, too. What only from has stays
// where it is.
func (t *Table) merge(at, from int32) {
	if o := t.nodes[at].other; o != 0 { // what is added now would hide it
		t.nodes[at].other = 0
		t.copy(at, o, nil)
	}
	for _, g := range t.nodes[from].targets {
		t.add(at, g)
	}
	if t.nodes[at].any != 0 || t.nodes[from].any != 0 || t.nodes[from].other != 0 {
		t.copy(at, from, nil)
		return
	}
	fewer, more := t.nodes[at].children, t.nodes[from].children
	if len(fewer) > len(more) {
		fewer, more = more, fewer
	}
	for key := range fewer {
		if _, both := more[key]; both {
			t.merge(t.nodes[at].children[key], t.nodes[from].children[key])
		}
	}
	t.nodes[at].other = from
}

// copy gives at a child for every key that leads on from from, except hidden ones.
func (t *Table) copy(at, from int32, hidden map[string]int32) {
	n := t.nodes[from]
	for key, c := range n.children {
		if hidden[key] == 0 {
			t.merge(t.child(at, key), c)
		}
	}
	if n.any != 0 {
		t.merge(t.anyChild(at), n.any)
	}
	if n.other != 0 {
		all := maps.Clone(n.children)
		if all == nil {
			all = make(map[string]int32)
		}
		maps.Copy(all, hidden)
		t.copy(at, n.other, all)
	}
}

// lookup finds where key leads from a node.
func (t *Table) lookup(at int32, key []byte) int32 {
	if at == nowhere {
		return nowhere
	}
	n := &t.nodes[at]
	if c, ok := n.children[string(key)]; ok {
		return c
	}
	if n.any != 0 {
		return n.any
	}
	if n.other != 0 {
		return t.lookup(n.other, key)
	}
	return nowhere
}

// lone returns the only field that a string leads to by the node, 0 for none; ok
// is false when there are several, or when others could give way to it.
func (t *Table) lone(at int32) (ok bool, field uint32, rank uint16) {
	if at == nowhere || len(t.nodes[at].targets) == 0 {
		return true, 0, 0
	}
	g := &t.nodes[at].targets[0]
	return len(t.nodes[at].targets) == 1 && !g.shared, g.field, g.rank
}

// Flat returns the cells' target of a whole name, for events that are lists of
// pairs. Only ways by the whole name count.
func (t *Table) Flat(name []byte, visit func(field uint32, rank uint16)) {
	c, ok := t.nodes[root].children[string(name)]
	if !ok {
		return
	}
	for _, g := range t.nodes[c].targets {
		visit(g.field, g.rank)
	}
}

// Reserve makes Fields count the field even if no name leads to it.
func (t *Table) Reserve(field uint32) { t.fields = max(t.fields, field) }
