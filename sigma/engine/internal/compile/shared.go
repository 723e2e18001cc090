package compile

import (
	"encoding/binary"
	"slices"

	"github.com/sluicehq/sluice/sigma/ast"
)

// What several rules or several places of a rule ask for is compiled once: it becomes
// a predicate of its own, evaluated at most once per event. Small expressions are
// repeated instead, which is faster.

// repeated is how many further predicates may be written for the sake of one expression
// before it is shared.
const repeated = 128

// share returns x, or a predicate in its place, for an expression that is asked for in
// a number of places.
func (b *builder) share(x *Expr, places int) *Expr {
	if places < 2 || x.Op == Atom || !x.heavier(repeated/(places-1)) {
		return x
	}
	if id, ok := b.shared[x]; ok {
		return b.atom(id)
	}
	if b.shared == nil {
		b.shared = make(map[*Expr]uint32)
	}
	id := b.place(Pred{Kind: Shared, More: &Operand{Expr: x}}) // not compared with each other
	b.shared[x] = id
	return b.atom(id)
}

// heavier reports whether x has more than n nodes.
func (x *Expr) heavier(n int) bool { return x.weigh(n) < 0 }

// weigh returns what is left of n after the nodes of x, or less than 0.
func (x *Expr) weigh(n int) int {
	n--
	for i := 0; i < len(x.Args) && n >= 0; i++ {
		n = x.Args[i].weigh(n)
	}
	return n
}

// kept are compiled nodes of the trees that several rules have in common.
type kept struct {
	node *Node
	uses int
}

type keptKey struct {
	node    *ast.Node
	context context
}

// minKept is how many values and nodes make a tree worth remembering.
const minKept = 32

// once compiles a detection. Rules made of one template, and rules with the same
// filter, have the same tree.
func (b *builder) once(n *ast.Node, c context) *Node {
	if c.inBlock || !large(n, minKept) {
		return b.node(n, c)
	}
	key := keptKey{n, c}
	k := b.kept[key]
	if k == nil {
		k = &kept{node: b.node(n, c)}
		b.kept[key] = k
	}
	if k.uses++; k.uses > 1 {
		again := *k.node
		again.Expr = b.share(again.Expr, repeated)
		return &again
	}
	return k.node
}

// large reports whether a tree has more than n nodes and values.
func large(n *ast.Node, most int) bool {
	size := 0
	return !n.Walk(func(n *ast.Node) bool {
		size += 1 + len(n.Items)
		for i := range n.Items {
			size += len(n.Items[i].Values)
		}
		return size <= most
	})
}

// filters compiles the filters of rules, each once.
type filters struct {
	made  map[*ast.Detection]*filter   // by their detections, which rules share
	lists map[*ast.FilterScope][]*Expr // by list: rules with the same filters share it
	sets  map[string]*Expr
}

type filter struct {
	rules  int // that have it
	number uint64
	expr   *Expr
}

// countFilters counts the rules that each filter is merged into.
func (b *builder) countFilters(rules []*ast.Rule) {
	lists := make(map[*ast.FilterScope]int)
	for _, r := range rules {
		if len(r.Filters) > 0 {
			lists[&r.Filters[0]]++
		}
	}
	if len(lists) == 0 {
		return
	}
	b.filters = filters{
		made: make(map[*ast.Detection]*filter), lists: make(map[*ast.FilterScope][]*Expr), sets: make(map[string]*Expr),
	}
	for _, r := range rules {
		if len(r.Filters) == 0 {
			continue
		}
		n := lists[&r.Filters[0]]
		lists[&r.Filters[0]] = 0
		for i := 0; n > 0 && i < len(r.Filters); i++ {
			d := detectionsOf(&r.Filters[i])
			if b.filters.made[d] == nil {
				b.filters.made[d] = &filter{number: uint64(len(b.filters.made))}
			}
			b.filters.made[d].rules += n
		}
	}
}

func detectionsOf(f *ast.FilterScope) *ast.Detection {
	if len(f.Detections) == 0 {
		return nil
	}
	return &f.Detections[0]
}

// ofFilters returns what must hold of the filters of a rule. Those that the same number
// of rules have stand together, since they are mostly the same rules.
func (b *builder) ofFilters(list []ast.FilterScope) []*Expr {
	if len(list) == 0 {
		return nil
	}
	if have, ok := b.filters.lists[&list[0]]; ok {
		return have
	}
	together := make(map[int][]*filter)
	var order []int
	for i := range list {
		b.at.Filter = i
		f := b.filters.made[detectionsOf(&list[i])]
		if f.expr == nil {
			s := b.scope(list[i].Detections, list[i].Conditions, context{version: list[i].Version})
			f.expr = s.any()
		}
		if together[f.rules] == nil {
			order = append(order, f.rules)
		}
		together[f.rules] = append(together[f.rules], f)
	}
	b.at.Filter = -1
	var out []*Expr
	for _, n := range order {
		out = append(out, b.set(together[n], n))
	}
	b.filters.lists[&list[0]] = out
	return out
}

// set returns what it means that all of some filters hold, which a number of rules have.
func (b *builder) set(list []*filter, rules int) *Expr {
	var key []byte
	args := make([]*Expr, 0, len(list))
	for _, f := range list {
		args = append(args, b.share(f.expr, rules))
		key = binary.LittleEndian.AppendUint64(key, f.number)
	}
	x := b.filters.sets[string(key)]
	if x == nil {
		x = b.share(and(args...), rules)
		b.filters.sets[string(key)] = x
	}
	return x
}

// distinct drops what is repeated: a name may stand in a condition many times. It
// changes nothing in list.
func distinct[T comparable](list []T) []T {
	const few = 8
	if len(list) <= few {
		for i := 1; i < len(list); i++ {
			if slices.Contains(list[:i], list[i]) {
				list = slices.Delete(slices.Clone(list), i, i+1)
				i--
			}
		}
		return list
	}
	seen := make(map[T]bool, len(list))
	out := make([]T, 0, len(list))
	for _, x := range list {
		if !seen[x] {
			seen[x] = true
			out = append(out, x)
		}
	}
	return out
}
