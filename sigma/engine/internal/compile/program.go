package compile

import (
	"cmp"
	"slices"

	"github.com/sluicehq/sluice/sigma/ast"
)

// Instr is one step of a program. It tests something and goes on at Yes or No.
type Instr struct {
	Op      Code
	A, B    uint32
	Yes, No int32
}

// Code is the operation of an instruction.
type Code uint8

// The operations.
const (
	TestAny Code = iota // one of Tests[A:B] has a bit set
	TestAll             // all of Tests[A:B] have all their bits set
	Ask                 // predicate A, which is not early
	Has                 // the field A, which is no virtual one, is there
	Count               // at least A of the programs that begin at Branches[B:B+Branches[B]] hold
)

// The ends of a program.
const (
	Holds int32 = -1
	Fails int32 = -2
)

// Test is a set of early predicates in one word.
type Test struct {
	Word uint32
	Mask uint64
}

// compile writes the programs of all rules. At tells which one is at work.
func (p *Plan) compile(at *ast.Fault) {
	p.Programs = make([]int32, len(p.Rules))
	for i, r := range p.Rules {
		at.Rule = i
		p.Programs[i] = p.emit(r.Match, Holds, Fails)
	}
	at.Rule = -1 // what follows is no single rule's
	for id := range p.Preds {
		if x := &p.Preds[id]; x.Kind == Shared {
			x.More.Program = p.emit(x.More.Expr, Holds, Fails)
		}
	}
}

// emit writes the instructions for x and returns where they begin. Code is
// written back to front, so that targets are known.
func (p *Plan) emit(x *Expr, yes, no int32) int32 {
	switch x.Op {
	case True:
		return yes
	case False:
		return no
	case Not:
		return p.emit(x.Args[0], no, yes)
	case And:
		return p.emitJoin(x, TestAll, yes, no)
	case Or:
		return p.emitJoin(x, TestAny, yes, no)
	case AtLeast:
		starts := []int32{int32(len(x.Args))}
		for _, a := range x.Args {
			starts = append(starts, p.emit(a, Holds, Fails))
		}
		at := len(p.Branches)
		p.Branches = append(p.Branches, starts...)
		return p.add(Instr{Op: Count, A: uint32(x.N), B: uint32(at), Yes: yes, No: no})
	}
	if p.Preds[x.Pred].Early {
		return p.add(p.tests(TestAny, []uint32{x.Pred}, yes, no))
	}
	if pred := &p.Preds[x.Pred]; pred.Kind == Present && pred.Field > Keywords && !p.Fields.List[pred.Field].Virtual {
		return p.add(Instr{Op: Has, A: pred.Field, Yes: yes, No: no})
	}
	return p.add(Instr{Op: Ask, A: x.Pred, Yes: yes, No: no})
}

// emitJoin writes a conjunction or a disjunction: bit tests first, then what is
// cheap, then the rest.
func (p *Plan) emitJoin(x *Expr, op Code, yes, no int32) int32 {
	var early []uint32
	var rest []*Expr
	for _, a := range x.Args {
		if a.Op == Atom && p.Preds[a.Pred].Early {
			early = append(early, a.Pred)
		} else {
			rest = append(rest, a)
		}
	}
	slices.SortStableFunc(rest, func(a, b *Expr) int {
		return cmp.Or(cmp.Compare(p.effort(a), p.effort(b)), cmp.Compare(p.guard(a), p.guard(b)))
	})
	next := yes
	if op == TestAny {
		next = no
	}
	for len(rest) > 0 {
		n := 1 // the last ones ask about one field
		for field := p.guard(rest[len(rest)-1]); field != 0 && n < len(rest) && p.guard(rest[len(rest)-1-n]) == field; {
			n++
		}
		next = p.emitGroup(rest[len(rest)-n:], op, yes, no, next)
		rest = rest[:len(rest)-n]
	}
	if len(early) == 0 {
		return next
	}
	if op == TestAny {
		return p.add(p.tests(op, early, yes, next))
	}
	return p.add(p.tests(op, early, next, no))
}

// emitGroup writes args of one join, before what begins at next. Several
// predicates of one field that is absent fail together.
func (p *Plan) emitGroup(args []*Expr, op Code, yes, no, next int32) int32 {
	after := next
	for _, a := range slices.Backward(args) {
		if op == TestAny {
			next = p.emit(a, yes, next)
		} else {
			next = p.emit(a, next, no)
		}
	}
	if op == TestAny && len(args) > 1 {
		return p.add(Instr{Op: Has, A: p.guard(args[0]), Yes: next, No: after})
	}
	return next
}

// guard returns the field without which x, a single predicate, cannot hold; 0
// when there is none that is cheap to look at.
func (p *Plan) guard(x *Expr) uint32 {
	if x.Op != Atom {
		return 0
	}
	pred := &p.Preds[x.Pred]
	text := pred.IsText() || Equal <= pred.Kind && pred.Kind <= TimePart
	if !text || pred.Field <= Keywords || p.Fields.List[pred.Field].Virtual {
		return 0
	}
	return pred.Field
}

func (p *Plan) tests(op Code, preds []uint32, yes, no int32) Instr {
	slices.Sort(preds)
	from := len(p.Tests)
	for _, id := range preds {
		word, mask := id/64, uint64(1)<<(id%64)
		if n := len(p.Tests); n > from && p.Tests[n-1].Word == word {
			p.Tests[n-1].Mask |= mask
		} else {
			p.Tests = append(p.Tests, Test{word, mask})
		}
	}
	return Instr{Op: op, A: uint32(from), B: uint32(len(p.Tests)), Yes: yes, No: no}
}

func (p *Plan) add(i Instr) int32 {
	p.Code = append(p.Code, i)
	return int32(len(p.Code) - 1)
}

// effort guesses what evaluating x costs, in the unit of one bit test.
func (p *Plan) effort(x *Expr) int {
	switch x.Op {
	case True, False:
		return 0
	case Atom:
		return p.Preds[x.Pred].effort()
	}
	sum := 1
	for _, a := range x.Args {
		sum += p.effort(a)
	}
	return sum
}

func (p *Pred) effort() int {
	if p.Early {
		return 1
	}
	switch p.Kind {
	case Present, IsNull:
		return 2
	case Exact, Prefix, Suffix, IsTrue, IsFalse, Among:
		return 8
	case Contains:
		return 16
	case Regex, Block, Shared, Expand, FieldRef:
		return 200
	}
	return 40
}
