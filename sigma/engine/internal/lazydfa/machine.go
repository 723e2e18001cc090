package lazydfa

import (
	"bytes"
	"regexp/syntax"
	"slices"
)

// Machine runs a program. It belongs to one goroutine.
type Machine struct {
	p      *Program
	pool   *Pool
	width  int     // entries of a state: one per class and one for the end
	next   []int32 // by state and class; a state is the index of its first entry
	states []state
	ids    map[string]int32
	bytes  int // of all that, about

	used   uint64 // when, by the clock of the pool
	idle   bool   // there are no states
	credit int    // steps that building may take

	stack  []uint32
	seen   []bool
	marked []uint32
	key    []byte

	found        []uint32 // the state that there was no room for
	foundContext uint8
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

const (
	// MaxBytes bounds the memory of one machine. Beyond it all states are dropped,
	// and built again as texts need them.
	MaxBytes = 1 << 20

	// allowance is how many steps building may take that texts have not paid for. A
	// text pays half of what lanes would take for it, so that building takes less than
	// doing without.
	allowance = 1 << 18
)

// Match reports whether the text matches.
func (m *Machine) Match(text []byte) bool {
	m.pool.clock++
	m.used = m.pool.clock
	m.credit = min(m.credit+m.p.pace*len(text), allowance)
	if m.credit > 0 {
		m.pool.steps += uint64(len(text))
		if match, ok := m.table(text); ok {
			return match
		}
	}
	if m.p.whole != nil {
		m.pool.steps += uint64(len(text))
		return bytes.Contains(text, m.p.whole)
	}
	return m.pool.lanes.match(m.p.parts(), text)
}

// table reports whether a text, all ASCII, matches. It reports ok false when the text
// has another character, or needs more states than there is credit for.
func (m *Machine) table(text []byte) (match, ok bool) {
	if m.idle {
		m.wake()
	}
	at := 0
	class, next := &m.p.class, m.next
	for _, c := range text {
		if c >= 128 {
			return false, false
		}
		k := int(class[c])
		to := next[at+k]
		if to < 0 {
			if to == unbuilt {
				if m.credit <= 0 {
					return false, false
				}
				to = m.build(at, k)
			}
			switch to {
			case matched:
				return true, true
			case rejected:
				return false, true
			case exhausted:
				m.drop()
				to = m.state(m.found, m.foundContext)
			}
			next = m.next
		}
		at = int(to)
	}
	to := next[at+m.width-1]
	if to == unbuilt {
		to = m.build(at, m.width-1)
	}
	return to == matched, true
}

// wake makes the first state again.
func (m *Machine) wake() {
	m.idle = false
	m.ids, m.seen = make(map[string]int32), make([]bool, len(m.p.prog.Inst))
	m.grow(len(m.seen))
	m.spend(len(m.seen))
	m.state([]uint32{uint32(m.p.prog.Start)}, contextBegin)
}

// spend counts steps of building.
func (m *Machine) spend(steps int) {
	m.credit -= steps
	m.pool.steps += uint64(steps)
}

// drop forgets all states.
func (m *Machine) drop() {
	m.grow(len(m.seen) - m.bytes)
	m.states, m.next = m.states[:0], m.next[:0]
	clear(m.ids)
	m.state([]uint32{uint32(m.p.prog.Start)}, contextBegin)
}

// release gives all memory back, until the machine is asked again.
func (m *Machine) release() {
	m.grow(-m.bytes)
	m.idle = true
	m.states, m.next, m.ids, m.seen = nil, nil, nil, nil
	m.stack, m.marked, m.key = nil, nil, nil
}

// grow accounts for memory.
func (m *Machine) grow(bytes int) {
	m.bytes += bytes
	m.pool.bytes += bytes
}

// build follows one transition for the first time.
func (m *Machine) build(at, class int) int32 {
	s := m.states[at/m.width]
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
	m.spend(stepsPerState + stepsPerInstruction*len(m.marked))
	m.marked = m.marked[:0]
	if to != exhausted {
		m.next[at+class] = to
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

// state returns a state, making it when it is new.
func (m *Machine) state(pcs []uint32, ctx uint8) int32 {
	m.key = append(m.key[:0], ctx)
	for _, pc := range pcs {
		m.key = append(m.key, byte(pc), byte(pc>>8), byte(pc>>16))
	}
	if id, ok := m.ids[string(m.key)]; ok {
		return id
	}
	size := 4*m.width + 7*len(pcs) + stateOverhead
	if m.bytes+size > MaxBytes && len(m.states) > 1 {
		m.found, m.foundContext = pcs, ctx
		return exhausted
	}
	id := int32(len(m.next))
	m.states = append(m.states, state{pcs, ctx})
	for range m.width {
		m.next = append(m.next, unbuilt)
	}
	m.ids[string(m.key)] = id
	m.grow(size)
	if m.pool.bytes > m.pool.limit {
		m.pool.evict(m)
	}
	return id
}

// What building a transition takes, about, beside what it takes for each instruction.
const (
	stepsPerState       = 256
	stepsPerInstruction = 16
)

// stateOverhead is what a state takes beside its entries and instructions.
const stateOverhead = 128
