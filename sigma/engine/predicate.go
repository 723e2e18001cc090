package engine

import (
	"bytes"
	"encoding/json"
	"reflect"

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
	case compile.AnyOf:
		for _, g := range p.More.Gates {
			if w.holds(g) {
				return true
			}
		}
		return false
	case compile.FieldRef:
		if holds, ok := w.textsRefer(p); ok {
			return holds
		}
		return w.evaluateReference(p, w.values(nil, p.Field))
	case compile.RefUsable, compile.Expand, compile.ExpandUsable:
		return w.evaluateReference(p, w.values(nil, p.Field))
	case compile.Shared:
		return w.run(p.More.Program)
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

// matchText evaluates a text form. Regular expressions run on a lazy automaton, and
// on package regexp where the automaton has no answer.
func (w *Worker) matchText(p *compile.Pred, text []byte) bool {
	if p.Kind == compile.Regex {
		if match, ok := w.machine(p.More.Regex).Match(text); ok {
			return match
		}
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

// values appends the values of a field.
func (w *Worker) values(dst []event.Value, field uint32) []event.Value {
	for i := w.first(field); i != none; i = w.view.next[i] {
		if c := &w.view.cells[i]; c.Flags&scan.Terminal != 0 {
			dst = append(dst, c.Value(w.view.doc))
		}
	}
	return dst
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

// evaluateReference compares the values of a field with values of other fields.
func (w *Worker) evaluateReference(p *compile.Pred, values []event.Value) bool {
	switch p.Kind {
	case compile.RefUsable:
		return w.first(p.More.Ref) != none
	case compile.FieldRef:
		others := w.values(nil, p.More.Ref)
		for _, v := range values {
			for _, o := range others {
				if referEqual(p, v, o) {
					return true
				}
			}
		}
		return false
	}
	texts := w.expansions(p)
	if p.Kind == compile.ExpandUsable {
		return len(texts) > 0
	}
	for _, v := range values {
		for _, t := range texts {
			if anyText(v, func(text []byte) bool { return compile.Compare(p.Op, foldUnless(p.Cased, text), t) }) {
				return true
			}
		}
	}
	return false
}

// textsRefer compares the texts of two fields, the common case of
// evaluateReference. It returns ok false when a value is no text.
func (w *Worker) textsRefer(p *compile.Pred) (holds, ok bool) {
	text := w.view.folded
	if p.Cased {
		text = w.view.plain
	}
	for i := w.first(p.Field); i != none; i = w.view.next[i] {
		for j := w.first(p.More.Ref); j != none; j = w.view.next[j] {
			if !hasText(&w.view.cells[i]) || !hasText(&w.view.cells[j]) {
				return false, false
			}
			holds = holds || compile.Compare(p.Op, text(i), text(j))
		}
	}
	return holds, true
}

// anyText calls test with the text forms of v, of the elements of an array.
func anyText(v event.Value, test func([]byte) bool) bool {
	if v.Type == event.Array {
		for e := range v.Elements {
			if anyText(e, test) {
				return true
			}
		}
		return false
	}
	text, ok := v.AppendText(nil)
	return ok && test(text)
}

// referEqual compares two values, arrays on either side pair by pair.
func referEqual(p *compile.Pred, a, b event.Value) bool {
	switch {
	case a.Type == event.Array:
		for e := range a.Elements {
			if referEqual(p, e, b) {
				return true
			}
		}
		return false
	case b.Type == event.Array:
		for e := range b.Elements {
			if referEqual(p, a, e) {
				return true
			}
		}
		return false
	case a.Type == event.Null || b.Type == event.Null:
		return p.Op == compile.Exact && a.Type == b.Type
	case a.Type == event.Object || b.Type == event.Object:
		return p.Op == compile.Exact && a.Type == b.Type && sameObject(a.Raw, b.Raw)
	}
	x, _ := a.AppendText(nil)
	y, _ := b.AppendText(nil)
	return compile.Compare(p.Op, foldUnless(p.Cased, x), foldUnless(p.Cased, y))
}

func sameObject(a, b []byte) bool {
	var x, y any
	dx, dy := json.NewDecoder(bytes.NewReader(a)), json.NewDecoder(bytes.NewReader(b))
	dx.UseNumber()
	dy.UseNumber()
	return dx.Decode(&x) == nil && dy.Decode(&y) == nil && reflect.DeepEqual(plainNumbers(x), plainNumbers(y))
}

// plainNumbers writes numbers in their text form.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return json.Number(event.AppendNumberText(nil, []byte(v)))
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plainNumbers(v[k])
		}
	}
	return v
}

func foldUnless(cased bool, text []byte) []byte {
	if cased {
		return text
	}
	return event.AppendFolded(nil, text)
}

// maxExpansions bounds the texts that arrays in a template multiply to.
const maxExpansions = 4096

// expansions returns the texts a template stands for in the current event,
// folded like the comparison wants; none when a placeholder has no text.
func (w *Worker) expansions(p *compile.Pred) [][]byte {
	texts := [][]byte{nil}
	for _, piece := range p.More.Template {
		var options [][]byte
		if piece.Field == 0 {
			options = [][]byte{[]byte(piece.Text)}
		}
		for _, v := range w.values(nil, piece.Field) {
			anyText(v, func(text []byte) bool { options = append(options, text); return false })
		}
		var longer [][]byte
		for _, t := range texts {
			for _, o := range options {
				if len(longer) < maxExpansions {
					longer = append(longer, append(t[:len(t):len(t)], o...))
				}
			}
		}
		texts = longer
	}
	for i := range texts {
		texts[i] = foldUnless(p.Cased, texts[i])
	}
	return texts
}
