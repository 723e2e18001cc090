package graph

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// ResultArena is the memory of the result sets of one batch. Each of them has a
// share of it, which dispatch gives back. The stage that adds the sets has the spare
// ones until it leaves.
// When the last share is back the arena is used for another batch.
type ResultArena struct {
	sets    []ResultSet
	results []Result
	taken   int // results that are in a set
	shares  atomic.Int64
	spare   int           // shares that no set has yet
	from    *ResultArenas // nil for one that is not used again
}

// ResultArenas keeps arenas that nobody needs. The zero value is ready.
type ResultArenas struct{ idle sync.Pool }

// A set that waits for room in dispatch keeps its whole arena. So an arena is used
// again for batches with enough sets only, and while it is not much larger than most.
const (
	arenaSets    = 128 // of a new arena
	arenaResults = 512
	arenaLeast   = arenaSets / 4 // sets of a batch, if the arena is to be used again
	arenaMost    = 4 * arenaSets // sets of an arena that is used again
)

const resultBytes = int(unsafe.Sizeof(Result{}))

// Get returns an empty arena for about so many sets and results. The caller leaves it
// when it has added them.
func (ps *ResultArenas) Get(sets, results int) *ResultArena {
	if sets < arenaLeast {
		p := &ResultArena{sets: make([]ResultSet, 0, sets), results: make([]Result, 0, results)}
		p.enter()
		return p
	}
	p, ok := ps.idle.Get().(*ResultArena)
	if !ok {
		p = &ResultArena{sets: make([]ResultSet, 0, arenaSets), results: make([]Result, 0, arenaResults), from: ps}
	}
	p.enter()
	return p
}

func (p *ResultArena) enter() {
	p.spare = SpareShares
	p.shares.Store(SpareShares)
}

// Leave gives the spare shares back: no set is added any more. A nil arena has none.
func (p *ResultArena) Leave() {
	if p != nil {
		p.release(p.spare)
	}
}

// Begin begins a set: results that no set was made of are forgotten.
func (p *ResultArena) Begin() { p.results = p.results[:p.taken] }

// Add appends a result to the set that List makes.
func (p *ResultArena) Add(r Result) {
	if len(p.results) == cap(p.results) {
		// Sets that were made are read elsewhere by now: they keep the memory they
		// lie in, and only what is in no set yet moves.
		begun := p.results[p.taken:]
		p.results = append(make([]Result, 0, 2*cap(p.results)+1), begun...)
		p.taken = 0
	}
	p.results = append(p.results, r)
}

// List returns a set of the results added since Begin. The caller gives it its
// line, and adds to Held what the results refer to.
func (p *ResultArena) List(t Token) *ResultSet {
	if len(p.sets) == cap(p.sets) {
		p.sets = make([]ResultSet, 0, 2*cap(p.sets)+1)
	}
	results := p.results[p.taken:len(p.results):len(p.results)]
	p.sets = append(p.sets, ResultSet{Token: t, Results: results, Held: len(results) * resultBytes, arena: p})
	p.taken = len(p.results)
	p.spare--
	return &p.sets[len(p.sets)-1]
}

// release gives n shares back; a nil arena takes any number of them.
func (p *ResultArena) release(n int) {
	if p == nil || n == 0 || p.shares.Add(int64(-n)) != 0 {
		return
	}
	if p.from == nil || cap(p.sets) > arenaMost || cap(p.results) > arenaMost*arenaResults/arenaSets {
		return
	}
	clear(p.sets)
	clear(p.results)
	p.sets, p.results, p.taken = p.sets[:0], p.results[:0], 0
	p.from.idle.Put(p)
}

// Releaser gives back what result sets refer to when they have been dispatched. It
// collects neighbours that lie in the same memory: the zero value is ready, and the
// last call is Flush.
type Releaser struct {
	arena  *ResultArena
	buffer *Buffer
	n      int
}

// List takes a set back. It is not the caller's any more.
func (e *Releaser) List(s *ResultSet) {
	if s.arena != e.arena || s.Buffer != e.buffer {
		e.Flush()
		e.arena, e.buffer = s.arena, s.Buffer
	}
	e.n++
}

// Flush gives everything back.
func (e *Releaser) Flush() {
	e.buffer.Release(e.n)
	e.arena.release(e.n)
	*e = Releaser{}
}
