package engine

import (
	"slices"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/condition"
	"github.com/sluicehq/sluice/sigma/engine/internal/compile"
	"github.com/sluicehq/sluice/sigma/engine/internal/scan"
	"github.com/sluicehq/sluice/sigma/event"
	"github.com/sluicehq/sluice/sigma/result"
)

// maxEntries bounds the entries of a keyword group and the members of a block.
const maxEntries = 16

// explain sets w.names and w.fields to the reasons why the rule fired.
func (w *Worker) explain(rule uint32, out *result.Batch) {
	w.names, w.fields = w.names[:0], w.fields[:0]
	r := w.set.plan.Rules[rule]
	for _, k := range r.Conditions {
		if len(r.Conditions) == 1 || w.expr(k.Expr) {
			w.walk(&r.Scope, k, out)
			return
		}
	}
}

// walk follows a condition that holds and explains the detections that support
// it, each once.
func (w *Worker) walk(s *compile.Scope, k *compile.Cond, out *result.Batch) {
	switch k.Op {
	case condition.And:
		for _, a := range k.Args {
			w.walk(s, a, out)
		}
	case condition.Or:
		for _, a := range k.Args {
			if w.expr(a.Expr) {
				w.walk(s, a, out)
				return
			}
		}
	case condition.Ident:
		w.support(&s.Detections[k.Covers[0]], out)
	case condition.Quant:
		for _, d := range k.Covers {
			if w.expr(s.Detections[d].Node.Expr) {
				w.support(&s.Detections[d], out)
			}
		}
	}
}

func (w *Worker) support(d *compile.Detection, out *result.Batch) {
	known := len(w.names)
	if w.names = appendNew(w.names, d.Name); len(w.names) > known {
		w.entries(d.Node, out)
	}
}

// appendNew appends a name that is not among names yet.
func appendNew(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

// entries adds the entries of a node that holds.
func (w *Worker) entries(n *compile.Node, out *result.Batch) {
	for i := range n.Items {
		w.entry(&n.Items[i], out)
	}
	switch n.Kind {
	case ast.KindArray:
		w.blockEntries(n.Block, w.view.root, "", out)
		return
	case ast.KindNested:
		for _, k := range n.Scope.Conditions {
			if w.expr(k.Expr) {
				w.nested(n.Scope, k, out)
				return
			}
		}
	}
	for _, sub := range n.Nodes {
		if n.Kind != ast.KindAny || w.expr(sub.Expr) {
			w.entries(sub, out)
		}
	}
}

// nested adds the entries of the detections that support a condition inside a
// detection, whose own names are not reported.
func (w *Worker) nested(s *compile.Scope, k *compile.Cond, out *result.Batch) {
	kept := w.names
	w.names = nil
	w.walk(s, k, out)
	w.names = kept
}

// entry adds the entry of an item that holds.
func (w *Worker) entry(it *compile.Item, out *result.Batch) {
	if it.Keyword {
		w.keywordEntries(it, out)
		return
	}
	name, value := w.fieldValue(it, out)
	if value == nil {
		if it.HasNull && it.Match != nil {
			w.fields = append(w.fields, result.Field{Name: it.Name, Value: []byte("null"), Match: it.Match})
		}
		return
	}
	w.fields = append(w.fields, result.Field{Name: name, Value: value, Match: it.Match})
}

func (w *Worker) appendValue(dst []byte, c *scan.Cell) []byte {
	raw := w.view.doc[c.Start:c.End]
	switch {
	case c.Type == event.Text:
		return event.AppendQuoted(dst, raw)
	case c.Type == event.Array || c.Type == event.Object || c.Flags&scan.High != 0:
		return event.AppendCompact(dst, raw)
	}
	return append(dst, raw...)
}

// pathName returns the name of the path in which a cell was found.
func (w *Worker) pathName(it *compile.Item, c *scan.Cell) string {
	f := &w.set.plan.Fields.List[it.Field]
	if !f.ReadByPath {
		return it.Name
	}
	p := &f.Paths[c.Rank/2]
	for _, h := range p.Resolve(nil, w.view.root, false) {
		if h.Type != event.Object {
			return p.Name
		}
		for key, m := range h.Members {
			if event.KeyIs(key, "#text") && cap(m.Raw) == cap(w.view.doc)-int(c.Start) {
				return p.Name + ".#text"
			}
		}
	}
	return p.Name
}

// keywordEntries adds the strings in which a keyword group was found.
func (w *Worker) keywordEntries(it *compile.Item, out *result.Batch) {
	if it.Match == nil || it.Neq {
		return
	}
	n := 0
	for i := range w.view.cells {
		if w.view.cells[i].Flags&scan.Keyword == 0 || !w.anyAlt(it, int32(i)) {
			continue
		}
		w.render = w.appendValue(w.render[:0], &w.view.cells[i])
		w.fields = append(w.fields, result.Field{Name: it.Name, Value: w.shared(w.render, out), Match: it.Match})
		if n++; n == maxEntries {
			return
		}
	}
}

func (w *Worker) anyAlt(it *compile.Item, cell int32) bool {
	for _, id := range it.Alts {
		p := &w.set.plan.Preds[id]
		if p.Kind != compile.AnyOf {
			if w.cellHolds(p, cell) {
				return true
			}
			continue
		}
		for _, g := range p.More.Gates {
			if w.cellHolds(&w.set.plan.Preds[g], cell) {
				return true
			}
		}
	}
	return false
}
