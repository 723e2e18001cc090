package engine

import (
	"github.com/sluicehq/sluice/sigma/engine/internal/compile"
	"github.com/sluicehq/sluice/sigma/engine/internal/scan"
	"github.com/sluicehq/sluice/sigma/engine/internal/textset"
	"github.com/sluicehq/sluice/sigma/event"
)

// references are what field references and templates stand for in the current event,
// made when a rule first asks. They are sets, which are never combined with each other,
// so that a comparison costs steps for the values it compares.
type references struct {
	epoch   uint64
	sets    map[fieldTexts]*textset.Set
	rows    map[*compile.Pred][]*textset.Set
	objects map[uint32][]*textset.Set // values without a text, in canonical form
	finder  textset.Finder
	texts   [][]byte // scratch
}

// fieldTexts names the texts of a field, folded unless cased.
type fieldTexts struct {
	field uint32
	cased bool
}

// current returns the references of the current event.
func (w *Worker) current() *references {
	r := &w.references
	if r.rows == nil {
		r.sets, r.rows, r.objects = make(map[fieldTexts]*textset.Set), make(map[*compile.Pred][]*textset.Set), make(map[uint32][]*textset.Set)
	}
	if now := uint64(w.view.wraps)<<32 | uint64(w.view.epoch); r.epoch != now {
		clear(r.sets)
		clear(r.rows)
		clear(r.objects)
		r.epoch = now
	}
	return r
}

// where says which part of a text an operator compares.
func where(op compile.Kind) textset.Where {
	return textset.Where{
		Start: op == compile.Exact || op == compile.Prefix,
		End:   op == compile.Exact || op == compile.Suffix,
	}
}

// text returns the text of cell i as a comparison wants it.
func (w *Worker) text(i int32, cased bool) []byte {
	if cased {
		return w.view.plain(i)
	}
	return w.view.folded(i)
}

// refers evaluates a reference or a template for the current event.
func (w *Worker) refers(p *compile.Pred) bool {
	i := w.first(p.Field)
	if i == none {
		return false
	}
	if p.Kind == compile.FieldRef { // the fast path: one text on either side
		j := w.first(p.More.Ref)
		if j == none {
			return false
		}
		v := &w.view
		if v.next[i] == none && v.next[j] == none && hasText(&v.cells[i]) && hasText(&v.cells[j]) {
			return compile.Compare(p.Op, w.text(i, p.Cased), w.text(j, p.Cased))
		}
	}
	if row := w.row(p); row != nil {
		finder, at := &w.references.finder, where(p.Op)
		for ; i != none; i = w.view.next[i] {
			if hasText(&w.view.cells[i]) && finder.Match(w.text(i, p.Cased), row, at) {
				return true
			}
		}
	}
	if p.Kind != compile.FieldRef || p.Op != compile.Exact {
		return false
	}
	row := w.nonTexts(p.More.Ref)
	if row == nil {
		return false
	}
	for i := w.first(p.Field); i != none; i = w.view.next[i] {
		if c := &w.view.cells[i]; c.Flags&scan.Terminal != 0 && w.nonTextRefers(c.Value(w.view.doc), row) {
			return true
		}
	}
	return false
}

// nonTextRefers compares a value without a text, or the elements of an array.
func (w *Worker) nonTextRefers(v event.Value, row []*textset.Set) bool {
	return eachNonText(v, func(form []byte) bool { return w.references.finder.Match(form, row, where(compile.Exact)) })
}

// valueRefers evaluates a reference or a template for a value that has no cell.
func (w *Worker) valueRefers(p *compile.Pred, v event.Value) bool {
	if v.Type == event.Array {
		for e := range v.Elements {
			if w.valueRefers(p, e) {
				return true
			}
		}
		return false
	}
	text, ok := v.AppendText(w.scratch[:0])
	w.scratch = text
	if !ok {
		if p.Kind != compile.FieldRef || p.Op != compile.Exact {
			return false
		}
		row := w.nonTexts(p.More.Ref)
		return row != nil && w.nonTextRefers(v, row)
	}
	row := w.row(p)
	if row == nil {
		return false
	}
	if !p.Cased {
		w.folded = event.AppendFolded(w.folded[:0], text)
		text = w.folded
	}
	return w.references.finder.Match(text, row, where(p.Op))
}

// usable reports whether what a predicate refers to is there: for a template, a text
// for every name.
func (w *Worker) usable(p *compile.Pred) bool {
	if p.Kind == compile.RefUsable {
		return w.first(p.More.Ref) != none
	}
	return w.row(p) != nil
}

// row returns the sets whose texts, one behind the other, the predicate compares with;
// nil when one of them is empty.
func (w *Worker) row(p *compile.Pred) []*textset.Set {
	r := w.current()
	row, known := r.rows[p]
	if !known {
		if p.More.Template == nil {
			if s := w.texts(p.More.Ref, p.Cased); len(s.Texts()) > 0 {
				row = []*textset.Set{s}
			}
		} else {
			row = w.fill(p)
		}
		r.rows[p] = row
	}
	return row
}

// fill returns the sets of a template. Neighbours that have one text each are one.
func (w *Worker) fill(p *compile.Pred) []*textset.Set {
	var row []*textset.Set
	var single []byte // what the last set has, if that is one text
	for _, piece := range p.More.Template {
		var s *textset.Set
		if piece.Field == 0 {
			text := piece.Text
			if !p.Cased {
				text = event.Fold(text)
			}
			s = textset.New([][]byte{[]byte(text)})
		} else if s = w.texts(piece.Field, p.Cased); len(s.Texts()) == 0 {
			return nil
		}
		if len(s.Texts()) > 1 {
			row, single = append(row, s), nil
			continue
		}
		if single == nil {
			single = append(make([]byte, 0, 64), s.Texts()[0]...)
			row = append(row, nil)
		} else {
			single = append(single, s.Texts()[0]...)
		}
		row[len(row)-1] = textset.New([][]byte{single})
	}
	return row
}

// texts returns the texts of a field and of the elements of its arrays.
func (w *Worker) texts(field uint32, cased bool) *textset.Set {
	r, key := w.current(), fieldTexts{field, cased}
	s := r.sets[key]
	if s == nil {
		r.texts = r.texts[:0]
		for i := w.first(field); i != none; i = w.view.next[i] {
			if hasText(&w.view.cells[i]) {
				r.texts = append(r.texts, w.text(i, cased))
			}
		}
		s = textset.New(append([][]byte(nil), r.texts...))
		r.sets[key] = s
	}
	return s
}

// nonTexts returns the values of a field, and elements of its arrays, without a text;
// nil when there are none.
func (w *Worker) nonTexts(field uint32) []*textset.Set {
	r := w.current()
	row, known := r.objects[field]
	if !known {
		var forms [][]byte
		for i := w.first(field); i != none; i = w.view.next[i] {
			if c := &w.view.cells[i]; c.Flags&scan.Terminal != 0 {
				eachNonText(c.Value(w.view.doc), func(form []byte) bool { forms = append(forms, form); return false })
			}
		}
		if forms != nil {
			row = []*textset.Set{textset.New(forms)}
		}
		r.objects[field] = row
	}
	return row
}

// eachNonText gives visit the canonical form of a value without a text, or of such
// elements of an array, until it returns true, and returns that.
func eachNonText(v event.Value, visit func(form []byte) bool) bool {
	switch v.Type {
	case event.Array:
		for e := range v.Elements {
			if eachNonText(e, visit) {
				return true
			}
		}
	case event.Null, event.Object:
		return visit(v.AppendCanonical(nil))
	}
	return false
}
