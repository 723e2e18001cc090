package engine

import (
	"math/bits"

	"github.com/sluicehq/sluice/sigma/engine/internal/compile"
)

// truth holds what is known about the predicates for the current event. Most words
// never change, so a second level says which must be reset.
type truth struct {
	bits    []uint64 // predicates that hold
	known   []uint64 // predicates that were evaluated; early ones always are
	early   []uint64
	touched []uint64 // bit n: word n must be reset
}

func (t *truth) init(s *Set) {
	t.bits = make([]uint64, len(s.earlyWords))
	t.early = s.earlyWords
	t.known = append([]uint64{}, s.earlyWords...)
	t.touched = make([]uint64, (len(t.bits)+63)/64)
}

func (t *truth) clear() {
	for i, words := range t.touched {
		for ; words != 0; words &= words - 1 {
			word := i*64 + bits.TrailingZeros64(words)
			t.bits[word], t.known[word] = 0, t.early[word]
		}
		t.touched[i] = 0
	}
}

// set marks a predicate as true.
func (t *truth) set(id uint32) {
	word := id / 64
	t.bits[word] |= 1 << (id % 64)
	t.touched[word/64] |= 1 << (word % 64)
}

// learn stores the value of a predicate.
func (t *truth) learn(id uint32, holds bool) {
	word, mask := id/64, uint64(1)<<(id%64)
	t.known[word] |= mask
	if holds {
		t.bits[word] |= mask
	}
	t.touched[word/64] |= 1 << (word % 64)
}

// holds reports whether a predicate holds. It evaluates the predicate at most once
// per event.
func (w *Worker) holds(id uint32) bool {
	word, mask := id/64, uint64(1)<<(id%64)
	if w.truth.known[word]&mask != 0 {
		return w.truth.bits[word]&mask != 0
	}
	yes := w.evaluatePredicate(id)
	w.truth.learn(id, yes)
	return yes
}

// run executes a program.
func (w *Worker) run(at int32) bool {
	code, tests, hold := w.set.plan.Code, w.set.plan.Tests, w.truth.bits
	for at >= 0 {
		in := &code[at]
		yes := false
		switch in.Op {
		case compile.TestAny:
			for _, t := range tests[in.A:in.B] {
				if hold[t.Word]&t.Mask != 0 {
					yes = true
					break
				}
			}
		case compile.TestAll:
			yes = true
			for _, t := range tests[in.A:in.B] {
				if hold[t.Word]&t.Mask != t.Mask {
					yes = false
					break
				}
			}
		case compile.Ask:
			yes = w.holds(in.A)
		case compile.Has:
			yes = w.view.first(in.A) != none
		case compile.Count:
			yes = w.count(in)
		}
		if yes {
			at = in.Yes
		} else {
			at = in.No
		}
	}
	return at == compile.Holds
}

func (w *Worker) count(in *compile.Instr) bool {
	branches := w.set.plan.Branches[in.B:]
	n := uint32(0)
	for _, start := range branches[1 : 1+branches[0]] {
		if w.run(start) {
			if n++; n >= in.A {
				return true
			}
		}
	}
	return false
}

// expr evaluates an expression of the tree that explains results.
func (w *Worker) expr(x *compile.Expr) bool {
	switch x.Op {
	case compile.True:
		return true
	case compile.Atom:
		return w.holds(x.Pred)
	case compile.Not:
		return !w.expr(x.Args[0])
	case compile.And:
		for _, a := range x.Args {
			if !w.expr(a) {
				return false
			}
		}
		return true
	case compile.Or, compile.AtLeast:
		need := max(x.N, 1)
		for _, a := range x.Args {
			if w.expr(a) {
				if need--; need == 0 {
					return true
				}
			}
		}
	}
	return false
}
