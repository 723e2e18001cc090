package compile

import (
	"encoding/binary"

	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/sigma/event"
	"github.com/sluicehq/sluice/sigma/packed"
	"github.com/sluicehq/sluice/sigma/result"
)

// appendRule packs a rule. Its expressions share parts, so each is written once,
// behind its parts, and meant by its number from 1; 0 is none.
func appendRule(dst []byte, r *Rule) []byte {
	w := ruleWriter{numbers: make(map[*Expr]uint64)}
	w.uint(w.number(r.Match))
	w.scope(&r.Scope)
	dst = binary.AppendUvarint(dst, uint64(len(w.numbers)))
	return append(append(dst, w.exprs...), w.rest...)
}

type ruleWriter struct {
	numbers map[*Expr]uint64
	exprs   []byte
	rest    []byte
}

func (w *ruleWriter) uint(n uint64) { w.rest = binary.AppendUvarint(w.rest, n) }
func (w *ruleWriter) int(n int)     { w.rest = binary.AppendVarint(w.rest, int64(n)) }
func (w *ruleWriter) text(s string) { w.rest = packed.AppendText(w.rest, s) }
func (w *ruleWriter) bool(b bool)   { w.rest = packed.AppendBool(w.rest, b) }

func (w *ruleWriter) number(x *Expr) uint64 {
	if x == nil {
		return 0
	}
	if n := w.numbers[x]; n != 0 {
		return n
	}
	args := make([]uint64, len(x.Args))
	for i, a := range x.Args {
		args[i] = w.number(a)
	}
	w.exprs = append(w.exprs, byte(x.Op))
	w.exprs = binary.AppendUvarint(w.exprs, uint64(x.Pred))
	w.exprs = binary.AppendUvarint(w.exprs, uint64(x.N))
	w.exprs = binary.AppendUvarint(w.exprs, uint64(len(args)))
	for _, n := range args {
		w.exprs = binary.AppendUvarint(w.exprs, n)
	}
	w.numbers[x] = uint64(len(w.numbers) + 1)
	return w.numbers[x]
}

func (w *ruleWriter) scope(s *Scope) {
	w.uint(uint64(len(s.Detections)))
	for i := range s.Detections {
		w.text(s.Detections[i].Name)
		w.node(s.Detections[i].Node)
	}
	w.uint(uint64(len(s.Conditions)))
	for _, k := range s.Conditions {
		w.cond(k)
	}
}

func (w *ruleWriter) cond(k *Cond) {
	w.rest = append(w.rest, byte(k.Op))
	w.uint(w.number(k.Expr))
	w.int(k.Count)
	w.uint(uint64(len(k.Covers)))
	for _, d := range k.Covers {
		w.uint(uint64(d))
	}
	w.uint(uint64(len(k.Args)))
	for _, a := range k.Args {
		w.cond(a)
	}
}

func (w *ruleWriter) node(n *Node) {
	w.rest = append(w.rest, byte(n.Kind))
	w.uint(w.number(n.Expr))
	w.uint(uint64(len(n.Items)))
	for i := range n.Items {
		w.item(&n.Items[i])
	}
	w.uint(uint64(len(n.Nodes)))
	for _, sub := range n.Nodes {
		w.node(sub)
	}
	switch n.Kind {
	case sigma.KindArray:
		w.block(n.Block)
	case sigma.KindNested:
		w.scope(n.Scope)
	}
}

func (w *ruleWriter) block(b *ArrayBlock) {
	w.path(&b.Path)
	w.rest = append(w.rest, byte(b.Quantifier))
	w.match(b.Match)
	w.node(b.Body)
}

func (w *ruleWriter) item(it *Item) {
	w.uint(uint64(it.Field))
	w.text(it.Name)
	w.bool(it.Path != nil)
	if it.Path != nil {
		w.path(it.Path)
	}
	for _, b := range []bool{it.Keyword, it.All, it.Neq, it.HasNull, it.NullTest} {
		w.bool(b)
	}
	w.int(int(it.Exists))
	w.preds(it.Alts)
	w.preds(it.Usable)
	w.uint(w.number(it.Expr))
	w.match(it.Match)
}

func (w *ruleWriter) preds(list []uint32) {
	w.uint(uint64(len(list)))
	for _, id := range list {
		w.uint(uint64(id))
	}
}

func (w *ruleWriter) path(p *event.Path) {
	w.text(p.Name)
	w.uint(uint64(len(p.Segments)))
	for _, s := range p.Segments {
		w.text(s.Key)
		w.bool(s.Any)
		w.bool(s.Indexed)
		w.int(s.Index)
	}
}

func (w *ruleWriter) match(m *result.Match) {
	w.bool(m != nil)
	if m == nil {
		return
	}
	w.text(m.Selection)
	w.text(m.Matcher)
	w.text(m.Pattern)
	for _, b := range []bool{m.HasPattern, m.ShowCase, m.CaseSensitive, m.Negated} {
		w.bool(b)
	}
}
