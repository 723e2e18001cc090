package compile

import (
	"net/netip"
	"strings"

	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/sigma/engine/internal/literal"
	"github.com/sluicehq/sluice/sigma/event"
	"github.com/sluicehq/sluice/sigma/packed"
)

// Read reads a plan that Append wrote. Its texts share the memory of what is
// read. Whatever is read, the plan is sound in itself: evaluating by it ends and
// stays inside its lists. What is no plan is known by r.Failed.
func Read(r *packed.Reader) *Plan {
	p := &Plan{Rarity: rarity}
	x := reader{Reader: r, plan: p}
	x.fields()
	p.Machines = r.Count()
	p.trees = make([]tree, r.Count())
	x.preds()
	x.tests()
	x.programs()
	for i := range p.trees {
		p.trees[i].packed = r.Text()
	}
	return p
}

type reader struct {
	*packed.Reader
	plan        *Plan
	expressions []*Operand // by number
}

// fields adds the fields again, in their order.
func (r *reader) fields() {
	f := newFields()
	r.plan.Fields = f
	f.Table.Keywords = r.Bool()
	end := firstField + r.Count()
	for want := firstField; want < end && !r.Failed(); want++ {
		var got uint32
		switch r.Byte() {
		case plainField:
			got = f.Add(r.Text(), 0)
		case virtualField:
			name := r.Text()
			if path := event.ParsePath(name, newestVersion); path.Indexed() {
				got = f.addVirtual(name, path)
			}
		case placedField:
			if paths := r.texts(); len(paths) > 0 {
				got = f.AddPaths(paths)
			}
		}
		if int(got) != want {
			r.Fail()
		}
	}
	f.Table.Settle()
}

// newestVersion is the version of documents that names with positions are from.
const newestVersion = 3

func (r *reader) texts() []string {
	out := make([]string, r.Count())
	for i := range out {
		out[i] = r.Text()
	}
	return out
}

func (r *reader) list(limit int) []uint32 { return readList(r.Reader, limit) }

func (r *reader) field() uint32 { return r.Below(len(r.plan.Fields.List)) }

func (r *reader) preds() {
	p := r.plan
	p.Preds = make([]Pred, r.Count())
	p.CandidateStart, p.Candidates = make([]uint32, len(p.Preds)+1), make([]uint32, 0, r.Count())
	for i := range p.Preds {
		x := &p.Preds[i]
		kind, flags := Kind(r.Byte()), r.Byte()
		*x = Pred{Kind: kind, Op: Kind(flags >> 3), Cased: flags&1 != 0, Early: flags&2 != 0, Direct: flags&4 != 0, Field: r.field(), Text: r.Text()}
		if kind >= Glob {
			x.More = r.operand(x, i)
		}
		if kind > Block || kind == Contains && x.Early && !x.Direct && !literal.CanContain(x.Text) {
			r.Fail()
		}
		for range r.Count() {
			p.Candidates = append(p.Candidates, r.Below(len(p.trees)))
		}
		p.CandidateStart[i+1] = uint32(len(p.Candidates))
		if r.Failed() {
			return
		}
	}
}

// operand reads what the text of predicate number id does not say.
func (r *reader) operand(p *Pred, id int) *Operand {
	more := &Operand{}
	switch p.Kind {
	case Glob:
		more.Glob = r.pattern()
	case Regex:
		return r.expression(p.Text)
	case CIDR:
		var err error
		if more.Net, err = netip.ParsePrefix(p.Text); err != nil {
			r.Fail()
		}
	case Equal, Greater, GreaterEqual, Less, LessEqual:
		more.Number = r.number(p.Text)
	case TimePart:
		more.Part = sigma.Modifier(r.Uint())
		_, text, _ := strings.Cut(p.Text, " ")
		more.Number = r.number(text)
	case FieldRef, RefUsable:
		more.Ref = r.field()
	case Expand, ExpandUsable:
		more.Template = make([]Piece, r.Count())
		for i := range more.Template {
			more.Template[i] = Piece{Text: r.Text(), Field: r.field()}
		}
	case AnyOf:
		more.Gates = r.list(id)
		for _, g := range more.Gates {
			if !r.plan.Preds[g].IsText() {
				r.Fail()
			}
		}
	case Block:
		more.Gates = r.list(id)
		b := ruleReader{Reader: r.Reader, plan: r.plan}
		more.Block = b.block()
	default:
		return nil // nothing but the kind
	}
	return more
}

func (r *reader) number(text string) event.Numeric {
	n, ok := event.ParseNumeric([]byte(text))
	if !ok {
		r.Fail()
	}
	return n
}

// expression reads a number, which equal expressions share.
func (r *reader) expression(source string) *Operand {
	n := r.Below(r.plan.Machines)
	for len(r.expressions) <= int(n) {
		r.expressions = append(r.expressions, nil)
	}
	if r.expressions[n] == nil {
		r.expressions[n] = &Operand{Regex: &Expression{Number: int(n), source: source}}
	}
	if r.expressions[n].Regex.source != source {
		r.Fail()
	}
	return r.expressions[n]
}

func (r *reader) pattern() *Pattern {
	p := &Pattern{start: r.Bool(), end: r.Bool(), runs: make([][]element, r.Count())}
	for i := range p.runs {
		if n := r.Count(); n > 0 {
			p.runs[i] = make([]element, n)
		}
		for k := range p.runs[i] {
			p.runs[i][k] = element{dash: r.Bool(), text: r.Text()}
		}
	}
	if len(p.runs) == 0 {
		r.Fail()
	}
	return p
}
