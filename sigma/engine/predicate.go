package engine

import (
	"github.com/sluicehq/sluice/sigma/engine/internal/compile"
	"github.com/sluicehq/sluice/sigma/engine/internal/lazydfa"
	"github.com/sluicehq/sluice/sigma/engine/internal/scan"
	"github.com/sluicehq/sluice/sigma/event"
)

// first returns the first cell of a field, resolving it when it has positions.
func (w *Worker) first(field uint32) int32 {
	if f := &w.set.plan.Fields.List[field]; f.Virtual {
		w.hits = w.view.resolve(field, &f.Paths[0], w.hits)
	}
	return w.view.first(field)
}

// evaluatePredicate evaluates a predicate for the current event.
func (w *Worker) evaluatePredicate(id uint32) bool {
	p := &w.set.plan.Preds[id]
	switch p.Kind {
	case compile.Present:
		if keywordsOf(p.Field) {
			return w.view.strings
		}
		return w.first(p.Field) != none
	case compile.IsNull:
		w.first(p.Field)
		c, ok := w.view.single(p.Field)
		return ok && c.Type == event.Null
	case compile.Shared:
		return w.run(p.More.Program)
	case compile.AnyOf:
		for _, g := range p.More.Gates {
			if w.holds(g) {
				return true
			}
		}
		return false
	case compile.FieldRef, compile.Expand:
		return w.refers(p)
	case compile.RefUsable, compile.ExpandUsable:
		return w.usable(p)
	case compile.Block:
		return w.blockHolds(p.More.Block, w.view.root)
	}
	if keywordsOf(p.Field) {
		for i := range w.view.cells {
			if w.view.cells[i].Flags&scan.Keyword != 0 && w.cellHolds(p, int32(i)) {
				return true
			}
		}
		return false
	}
	for i := w.first(p.Field); i != none; i = w.view.next[i] {
		if w.cellHolds(p, i) {
			return true
		}
	}
	return false
}

// cellHolds evaluates one cell.
func (w *Worker) cellHolds(p *compile.Pred, i int32) bool {
	c := &w.view.cells[i]
	switch {
	case !hasText(c):
		return false
	case p.IsText():
		return w.textHolds(p, i)
	case p.Kind == compile.IsTrue || p.Kind == compile.IsFalse:
		return p.MatchBool(c.Type, w.view.folded(i))
	case p.Kind == compile.TimePart:
		t, ok, scratch := c.Value(w.view.doc).Clock(w.scratch)
		w.scratch = scratch
		return ok && p.MatchTime(t)
	}
	n, ok := w.view.numeric(i)
	return ok && p.MatchNumber(n)
}

// textHolds evaluates the text of a cell that has one.
func (w *Worker) textHolds(p *compile.Pred, i int32) bool {
	if p.Plain() {
		return w.matchText(p, w.view.plain(i))
	}
	return p.MatchText(w.view.folded(i))
}

// matchText evaluates a text form.
func (w *Worker) matchText(p *compile.Pred, text []byte) bool {
	if p.Kind == compile.Regex {
		return w.machine(p.More.Regex).Match(text)
	}
	return p.MatchText(text)
}

// machine returns the worker's automaton for an expression.
func (w *Worker) machine(e *compile.Expression) *lazydfa.Machine {
	if m := w.machines.Machine(e.Number); m != nil {
		return m
	}
	return w.machines.Add(e.Number, e.Program())
}

// valueHolds evaluates a value that has no cell: a member of an array block, or a
// field of a member. An array matches when an element does.
func (w *Worker) valueHolds(p *compile.Pred, v event.Value) bool {
	switch v.Type {
	case event.Array:
		for e := range v.Elements {
			if w.valueHolds(p, e) {
				return true
			}
		}
		return false
	case event.Null, event.Object:
		return false
	}
	switch {
	case p.Kind == compile.AnyOf:
		for _, g := range p.More.Gates {
			if w.valueHolds(&w.set.plan.Preds[g], v) {
				return true
			}
		}
		return false
	case p.IsText(), p.Kind == compile.IsTrue, p.Kind == compile.IsFalse:
		w.scratch, _ = v.AppendText(w.scratch[:0])
		if p.Plain() {
			return w.matchText(p, w.scratch)
		}
		w.folded = event.AppendFolded(w.folded[:0], w.scratch)
		if p.IsText() {
			return p.MatchText(w.folded)
		}
		return p.MatchBool(v.Type, w.folded)
	case p.Kind == compile.TimePart:
		t, ok, scratch := v.Clock(w.scratch)
		w.scratch = scratch
		return ok && p.MatchTime(t)
	}
	n, ok, scratch := v.Numeric(w.scratch)
	w.scratch = scratch
	return ok && p.MatchNumber(n)
}
