package compile

import (
	"encoding/binary"

	"github.com/sluicehq/sluice/sigma/packed"
)

// Append appends the plan in the form that Read reads.
func (p *Plan) Append(dst []byte) []byte {
	w := writer{dst}
	w.fields(p.Fields)
	w.preds(p)
	w.programs(p)
	for i := range p.trees {
		t := &p.trees[i]
		if r := t.built.Load(); r != nil {
			w.text(string(appendRule(nil, r)))
		} else {
			w.text(t.packed)
		}
	}
	return w.dst
}

type writer struct{ dst []byte }

func (w *writer) byte(b byte)   { w.dst = append(w.dst, b) }
func (w *writer) bool(b bool)   { w.dst = packed.AppendBool(w.dst, b) }
func (w *writer) uint(n uint64) { w.dst = binary.AppendUvarint(w.dst, n) }
func (w *writer) int(n int64)   { w.dst = binary.AppendVarint(w.dst, n) }
func (w *writer) text(s string) { w.dst = packed.AppendText(w.dst, s) }

func (w *writer) list(numbers []uint32) {
	w.uint(uint64(len(numbers)))
	for _, n := range numbers {
		w.uint(uint64(n))
	}
}

// fields writes what each field was made of. Numbers follow from the order.
func (w *writer) fields(f *Fields) {
	w.bool(f.Table.Keywords)
	w.uint(uint64(len(f.List) - firstField))
	for i := range f.List[firstField:] {
		x := &f.List[firstField+i]
		switch {
		case x.ReadByPath:
			w.byte(placedField)
			w.uint(uint64(len(x.Paths)))
			for _, p := range x.Paths {
				w.text(p.Name)
			}
		case x.Virtual:
			w.byte(virtualField)
			w.text(x.written)
		default:
			w.byte(plainField)
			w.text(x.Name)
		}
	}
}

// The kinds of fields.
const (
	plainField byte = iota
	virtualField
	placedField
)

func (w *writer) preds(p *Plan) {
	w.uint(uint64(p.Machines))
	w.uint(uint64(len(p.trees)))
	w.uint(uint64(len(p.Preds)))
	w.uint(uint64(len(p.Candidates)))
	for i := range p.Preds {
		x := &p.Preds[i]
		w.byte(byte(x.Kind))
		w.byte(byte(x.Op)<<3 | flag(x.Cased, 1) | flag(x.Early, 2) | flag(x.Direct, 4))
		w.uint(uint64(x.Field))
		w.text(x.Text)
		w.operand(x)
		waiting := p.Candidates[p.CandidateStart[i]:p.CandidateStart[i+1]]
		w.list(waiting)
	}
}

func flag(b bool, bit byte) byte {
	if b {
		return bit
	}
	return 0
}

// operand writes what does not follow from the text.
func (w *writer) operand(p *Pred) {
	switch p.Kind {
	case Glob:
		w.pattern(p.More.Glob)
	case Regex:
		w.uint(uint64(p.More.Regex.Number))
	case TimePart:
		w.uint(uint64(p.More.Part))
	case FieldRef, RefUsable:
		w.uint(uint64(p.More.Ref))
	case Expand, ExpandUsable:
		w.uint(uint64(len(p.More.Template)))
		for _, t := range p.More.Template {
			w.text(t.Text)
			w.uint(uint64(t.Field))
		}
	case AnyOf:
		w.list(p.More.Gates)
	case Block:
		w.list(p.More.Gates)
		b := ruleWriter{}
		b.block(p.More.Block)
		w.dst = append(w.dst, b.rest...)
	}
}

func (w *writer) pattern(p *Pattern) {
	w.bool(p.start)
	w.bool(p.end)
	w.uint(uint64(len(p.runs)))
	for _, run := range p.runs {
		w.uint(uint64(len(run)))
		for _, e := range run {
			w.bool(e.dash)
			w.text(e.text)
		}
	}
}

func (w *writer) programs(p *Plan) {
	w.list(p.Always)
	w.uint(uint64(len(p.Tests)))
	for _, t := range p.Tests {
		w.uint(uint64(t.Word))
		w.dst = binary.LittleEndian.AppendUint64(w.dst, t.Mask)
	}
	w.uint(uint64(len(p.Branches)))
	for _, b := range p.Branches {
		w.int(int64(b))
	}
	w.uint(uint64(len(p.Code)))
	for i := range p.Code {
		x := &p.Code[i]
		w.byte(byte(x.Op))
		w.uint(uint64(x.A))
		w.uint(uint64(x.B))
		w.int(int64(x.Yes))
		w.int(int64(x.No))
	}
	for _, start := range p.Programs {
		w.int(int64(start))
	}
}
