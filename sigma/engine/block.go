package engine

import (
	"slices"
	"strconv"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/condition"
	"github.com/sluicehq/sluice/sigma/engine/internal/compile"
	"github.com/sluicehq/sluice/sigma/event"
)

// Array blocks are evaluated by walking the document: they are rare, and their
// fields are relative to a member, so nothing is known about them beforehand.

// members returns what an array block looks at, with positions when named.
func members(b *compile.ArrayBlock, root event.Value, named bool) []event.Hit {
	var out []event.Hit
	hits := b.Path.Resolve(nil, root, named)
	for _, h := range hits {
		switch h.Type {
		case event.Null:
		case event.Array:
			i := 0
			for e := range h.Elements {
				m := event.Hit{Value: e}
				if named {
					m.Name = h.Name + "[" + strconv.Itoa(i) + "]"
				}
				out = append(out, m)
				i++
			}
		default:
			out = append(out, h)
		}
	}
	return out
}

// blockHolds evaluates an array block rooted at an event or at a member.
func (w *Worker) blockHolds(b *compile.ArrayBlock, root event.Value) bool {
	list := members(b, root, false)
	switch b.Quantifier {
	case ast.AnyMember:
		for _, m := range list {
			if w.nodeHolds(b.Body, m.Value) {
				return true
			}
		}
		return false
	case ast.NoMember:
		for _, m := range list {
			if w.nodeHolds(b.Body, m.Value) {
				return false
			}
		}
		return true
	}
	for _, m := range list {
		if !w.nodeHolds(b.Body, m.Value) {
			return false
		}
	}
	return len(list) > 0 || b.Quantifier == ast.AllOrEmpty
}

// nodeHolds evaluates a node of a body for a member.
func (w *Worker) nodeHolds(n *compile.Node, member event.Value) bool {
	switch n.Kind {
	case ast.KindArray:
		return w.blockHolds(n.Block, member)
	case ast.KindNested:
		return w.scopeWinner(n.Scope, member) != nil
	case ast.KindAny:
		for _, sub := range n.Nodes {
			if w.nodeHolds(sub, member) {
				return true
			}
		}
		return false
	}
	for i := range n.Items {
		if !w.itemHolds(&n.Items[i], member) {
			return false
		}
	}
	for _, sub := range n.Nodes {
		if !w.nodeHolds(sub, member) {
			return false
		}
	}
	return true
}

// scopeWinner returns the first condition that holds for a member.
func (w *Worker) scopeWinner(s *compile.Scope, member event.Value) *compile.Cond {
	if s.Repeats {
		outer, begin := w.asked, len(w.answers)
		w.answers = append(w.answers, make([]answer, len(s.Detections))...)
		w.asked = w.answers[begin:]
		defer func() { w.asked, w.answers = outer, w.answers[:begin] }()
	}
	for _, k := range s.Conditions {
		if w.condHolds(s, k, member) {
			return k
		}
	}
	return nil
}

func (w *Worker) condHolds(s *compile.Scope, k *compile.Cond, member event.Value) bool {
	switch k.Op {
	case condition.Ident:
		return w.detectionHolds(s, k.Covers[0], member)
	case condition.Not:
		return !w.condHolds(s, k.Args[0], member)
	case condition.And:
		for _, a := range k.Args {
			if !w.condHolds(s, a, member) {
				return false
			}
		}
		return true
	case condition.Or:
		for _, a := range k.Args {
			if w.condHolds(s, a, member) {
				return true
			}
		}
		return false
	}
	n := 0
	for _, d := range k.Covers {
		if w.detectionHolds(s, d, member) {
			n++
		}
	}
	return n >= k.Count
}

// detectionHolds evaluates a detection of a scope for a member, once when conditions
// ask for it in several places.
func (w *Worker) detectionHolds(s *compile.Scope, i int, member event.Value) bool {
	n := s.Detections[i].Node
	if !s.Repeats || w.asked == nil {
		return w.nodeHolds(n, member)
	}
	asked := w.asked // of this scope, whatever scopes are below n
	if asked[i] == unasked {
		asked[i] = no
		if w.nodeHolds(n, member) {
			asked[i] = yes
		}
	}
	return asked[i] == yes
}

// answer is whether a detection holds for the member at hand.
type answer uint8

const (
	unasked answer = iota
	no
	yes
)

// memberValues returns the values an item of a body has in a member.
func memberValues(it *compile.Item, member event.Value) []event.Hit {
	if it.Path == nil {
		return []event.Hit{{Value: member}}
	}
	return it.Path.Resolve(nil, member, false)
}

// itemHolds evaluates an item of a body for a member.
func (w *Worker) itemHolds(it *compile.Item, member event.Value) bool {
	values := memberValues(it, member)
	present := len(values) > 0
	isNull := len(values) == 1 && values[0].Type == event.Null
	switch {
	case it.Exists != 0:
		return (present && !isNull) == (it.Exists > 0)
	case !present:
		return it.HasNull && !it.All && !it.Neq
	}
	n := 0
	for _, id := range it.Alts {
		if w.altHolds(id, values, isNull) {
			n++
		}
	}
	switch {
	case it.Neq:
		return n == 0 && w.anyUsable(it)
	case it.All:
		return n == len(it.Alts) && n > 0
	}
	return n > 0
}

// anyUsable reports whether a neq item over references has one to compare with.
func (w *Worker) anyUsable(it *compile.Item) bool {
	for _, id := range it.Usable {
		if w.usable(&w.set.plan.Preds[id]) {
			return true
		}
	}
	return it.Usable == nil
}

func (w *Worker) altHolds(id uint32, values []event.Hit, isNull bool) bool {
	p := &w.set.plan.Preds[id]
	switch p.Kind {
	case compile.IsNull:
		return isNull
	case compile.FieldRef, compile.Expand:
		return slices.ContainsFunc(values, func(h event.Hit) bool { return w.valueRefers(p, h.Value) })
	}
	for i := range values {
		if w.valueHolds(p, values[i].Value) {
			return true
		}
	}
	return false
}
