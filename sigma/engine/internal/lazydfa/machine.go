package lazydfa

import (
	"regexp/syntax"
	"slices"
)

// Machine runs a program. It belongs to one goroutine.
type Machine struct {
	p      *Program
	width  int     // entries of a state: one per class and one for the end
	next   []int32 // by state and class
	states []state
	ids    map[string]int32
	failed bool

	stack  []uint32
	seen   []bool
	marked []uint32
	key    []byte
}

// state is a set of instructions still to be followed, and what stands before.
type state struct {
	pcs     []uint32
	context uint8
}

// Entries of next that are no states.
const (
	unbuilt int32 = -1 - iota
	matched
	exhausted
	rejected
)

// maxStates bounds a machine's memory.
const maxStates = 256

// NewMachine returns a machine without states.
func NewMachine(p *Program) *Machine {
	m := &Machine{p: p, width: len(p.sample) + 1, ids: make(map[string]int32), seen: make([]bool, len(p.prog.Inst))}
	m.state([]uint32{uint32(p.prog.Start)}, contextBegin)
	return m
}

// Match reports whether the text, all ASCII, matches. It reports ok false when
// the text has another character or the machine has given up.
func (m *Machine) Match(text []byte) (match, ok bool) {
	if m.failed {
		return false, false
	}
	at := int32(0)
	class := &m.p.class
	for _, c := range text {
		if c >= 128 {
			return false, false
		}
		k := int(class[c])
		to := m.next[int(at)*m.width+k]
		if to < 0 {
			if to == unbuilt {
				to = m.build(at, k)
			}
			switch to {
			case matched:
				return true, true
			case rejected:
				return false, true
			case exhausted:
				return false, false
			}
		}
		at = to
	}
	to := m.next[int(at)*m.width+m.width-1]
	if to == unbuilt {
		to = m.build(at, m.width-1)
	}
	return to == matched, true
}

// build follows one transition for the first time.
func (m *Machine) build(at int32, class int) int32 {
	s := m.states[at]
	next := rune(-1)
	if class < len(m.p.sample) {
		next = m.p.sample[class]
	}
	flags := syntax.EmptyOpContext(before(s.context), next)
	found := m.follow(s.pcs, flags, next)
	to := matched
	if !found {
		to = m.target(next)
	}
	for _, pc := range m.marked {
		m.seen[pc] = false
	}
	m.marked = m.marked[:0]
	if !m.failed {
		m.next[int(at)*m.width+class] = to
	}
	return to
}

// follow marks what is reached from pcs without a character under the flags, and
// reports whether that is a match.
func (m *Machine) follow(pcs []uint32, flags syntax.EmptyOp, next rune) bool {
	m.stack = append(m.stack[:0], pcs...)
	for len(m.stack) > 0 {
		pc := m.stack[len(m.stack)-1]
		m.stack = m.stack[:len(m.stack)-1]
		if m.seen[pc] {
			continue
		}
		m.seen[pc] = true
		m.marked = append(m.marked, pc)
		switch in := &m.p.prog.Inst[pc]; in.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			m.stack = append(m.stack, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			m.stack = append(m.stack, in.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^flags == 0 {
				m.stack = append(m.stack, in.Out)
			}
		}
	}
	return false
}

// target returns the state after the character, given what follow marked.
func (m *Machine) target(next rune) int32 {
	if next < 0 {
		return rejected
	}
	var pcs []uint32
	for _, pc := range m.marked {
		switch in := &m.p.prog.Inst[pc]; in.Op {
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if in.MatchRune(next) {
				pcs = append(pcs, in.Out)
			}
		}
	}
	if !m.p.anchored {
		pcs = append(pcs, uint32(m.p.prog.Start))
	}
	if len(pcs) == 0 {
		return rejected
	}
	slices.Sort(pcs)
	return m.state(slices.Compact(pcs), context(next))
}

// state returns the number of a state, making it when it is new.
func (m *Machine) state(pcs []uint32, ctx uint8) int32 {
	m.key = append(m.key[:0], ctx)
	for _, pc := range pcs {
		m.key = append(m.key, byte(pc), byte(pc>>8), byte(pc>>16))
	}
	if id, ok := m.ids[string(m.key)]; ok {
		return id
	}
	if len(m.states) >= maxStates {
		m.failed = true
		m.states, m.next, m.ids = nil, nil, nil
		return exhausted
	}
	id := int32(len(m.states))
	m.states = append(m.states, state{pcs, ctx})
	for range m.width {
		m.next = append(m.next, unbuilt)
	}
	m.ids[string(m.key)] = id
	return id
}
