package engine

import (
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/condition"
	"github.com/sluicehq/sluice/sigma/engine/internal/compile"
	"github.com/sluicehq/sluice/sigma/event"
	"github.com/sluicehq/sluice/sigma/result"
)

// blockEntries adds the entries of an array block that holds: one per item and
// satisfying member, or the bare array where no member satisfies.
func (w *Worker) blockEntries(b *compile.ArrayBlock, root event.Value, prefix string, out *result.Batch) {
	list := members(b, root, true)
	if b.Quantifier == ast.NoMember || b.Quantifier == ast.AllOrEmpty && len(list) == 0 {
		w.arrayEntry(b, root, prefix, out)
		return
	}
	n := 0
	for _, m := range list {
		if !w.nodeHolds(b.Body, m.Value) {
			continue
		}
		w.memberEntries(b.Body, m.Value, join(prefix, m.Name), out)
		if n++; n == maxEntries {
			return
		}
	}
}

func join(prefix, name string) string {
	switch {
	case prefix == "":
		return name
	case name == "." || name == "":
		return prefix
	}
	return prefix + "." + name
}

// bareEntry adds the array itself.
func (w *Worker) arrayEntry(b *compile.ArrayBlock, root event.Value, prefix string, out *result.Batch) {
	hits := b.Path.Resolve(nil, root, false)
	if len(hits) == 0 {
		return
	}
	w.fields = append(w.fields, result.Field{
		Name: join(prefix, b.Path.Name), Value: w.renderHits(hits, out), Match: b.Match,
	})
}

// renderHits renders values as one, several as an array.
func (w *Worker) renderHits(hits []event.Hit, out *result.Batch) []byte {
	w.render = w.render[:0]
	if len(hits) > 1 {
		w.render = append(w.render, '[')
	}
	for i, h := range hits {
		if i > 0 {
			w.render = append(w.render, ',')
		}
		w.render = event.AppendCompact(w.render, h.Raw)
	}
	if len(hits) > 1 {
		w.render = append(w.render, ']')
	}
	return w.shared(w.render, out)
}

// memberEntries adds the entries of a body for a member that satisfies it.
func (w *Worker) memberEntries(n *compile.Node, member event.Value, name string, out *result.Batch) {
	switch n.Kind {
	case ast.KindArray:
		w.blockEntries(n.Block, member, name, out)
		return
	case ast.KindNested:
		if k := w.scopeWinner(n.Scope, member); k != nil {
			w.memberWalk(n.Scope, k, member, name, map[int]bool{}, out)
		}
		return
	}
	for i := range n.Items {
		w.memberEntry(&n.Items[i], member, name, out)
	}
	for _, sub := range n.Nodes {
		if n.Kind != ast.KindAny || w.nodeHolds(sub, member) {
			w.memberEntries(sub, member, name, out)
		}
	}
}

func (w *Worker) memberEntry(it *compile.Item, member event.Value, name string, out *result.Batch) {
	hits := memberValues(it, member)
	f := result.Field{Name: join(name, it.Name), Match: it.Match}
	switch {
	case len(hits) > 0:
		f.Value = w.renderHits(hits, out)
	case it.HasNull && it.Match != nil:
		f.Value = []byte("null")
	default:
		return
	}
	w.fields = append(w.fields, f)
}

// memberWalk follows a condition that holds for a member, like walk.
func (w *Worker) memberWalk(s *compile.Scope, k *compile.Cond, member event.Value, name string, seen map[int]bool, out *result.Batch) {
	switch k.Op {
	case condition.And:
		for _, a := range k.Args {
			w.memberWalk(s, a, member, name, seen, out)
		}
	case condition.Or:
		for _, a := range k.Args {
			if w.condHolds(s, a, member) {
				w.memberWalk(s, a, member, name, seen, out)
				return
			}
		}
	case condition.Ident, condition.Quant:
		for _, d := range k.Covers {
			if node := s.Detections[d].Node; !seen[d] && w.nodeHolds(node, member) {
				seen[d] = true
				w.memberEntries(node, member, name, out)
			}
		}
	}
}
