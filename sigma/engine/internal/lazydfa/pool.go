package lazydfa

import (
	"cmp"
	"slices"
)

// Pool holds the machines of one goroutine, by a number of their expression. It
// bounds the memory of all of them: those that were not used for longest give theirs
// back first, and build their states again when they are asked.
type Pool struct {
	machines []*Machine
	bytes    int
	limit    int
	clock    uint64
	lanes    lanes
	steps    uint64 // of all tables
}

// Steps are bytes looked at, and what took about as long, since the beginning.
func (l *Pool) Steps() uint64 { return l.steps + l.lanes.steps }

// PoolBytes is a limit that suits a pool.
const PoolBytes = 64 << 20

// NewPool returns a pool for expressions with numbers below n.
func NewPool(n, limit int) *Pool { return &Pool{machines: make([]*Machine, n), limit: limit} }

// Machine returns the machine of an expression, nil when it has none yet.
func (l *Pool) Machine(number int) *Machine { return l.machines[number] }

// Add makes the machine of an expression.
func (l *Pool) Add(number int, p *Program) *Machine {
	m := &Machine{p: p, pool: l, width: len(p.sample) + 1, idle: true, credit: allowance}
	l.machines[number] = m
	return m
}

// evict makes room, so much that it is needed seldom. It spares the machine at work.
func (l *Pool) evict(except *Machine) {
	var holders []*Machine
	for _, m := range l.machines {
		if m != nil && m != except && m.bytes > 0 {
			holders = append(holders, m)
		}
	}
	slices.SortFunc(holders, func(a, b *Machine) int { return cmp.Compare(a.used, b.used) })
	for _, m := range holders {
		if l.bytes <= l.limit/4*3 {
			return
		}
		m.release()
	}
}
