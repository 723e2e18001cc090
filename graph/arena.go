package graph

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// ResultArena is the memory of the lists of one batch. Each of them has a share of it,
// which dispatch gives back, and correlate has one while it adds lists. When the
// last share is back the arena is used for another batch.
type ResultArena struct {
	lists   []ResultSet
	results []Result
	listed  int // results that are in a list
	shares  atomic.Int64
	from    *ResultArenas // nil for one that is not used again
}

// ResultArenas keeps arenas that nobody needs. The zero value is ready.
type ResultArenas struct{ idle sync.Pool }

// A list that waits for a sink keeps its whole arena. So a arena is used again
// for batches with enough lists only, and while it is not much larger than most.
const (
	arenaLists   = 128 // of a new arena
	arenaResults = 512
	arenaLeast   = arenaLists / 4 // lists of a batch, if the arena is to be used again
	arenaMost    = 4 * arenaLists // lists of a arena that is used again
)

const resultBytes = int(unsafe.Sizeof(Result{}))

// Get returns an empty arena for about so many lists and results, with a share
// for the caller.
func (ps *ResultArenas) Get(lists, results int) *ResultArena {
	if lists < arenaLeast {
		p := &ResultArena{lists: make([]ResultSet, 0, lists), results: make([]Result, 0, results)}
		p.shares.Store(1)
		return p
	}
	p, ok := ps.idle.Get().(*ResultArena)
	if !ok {
		p = &ResultArena{lists: make([]ResultSet, 0, arenaLists), results: make([]Result, 0, arenaResults), from: ps}
	}
	p.shares.Store(1)
	return p
}

// Begin begins a list: results that no list was made of are forgotten.
func (p *ResultArena) Begin() { p.results = p.results[:p.listed] }

// Add appends a result to the list that List makes.
func (p *ResultArena) Add(r Result) {
	if len(p.results) == cap(p.results) {
		// Lists that were made are read elsewhere by now: they keep the memory they
		// lie in, and only what is in no list yet moves.
		begun := p.results[p.listed:]
		p.results = append(make([]Result, 0, 2*cap(p.results)+1), begun...)
		p.listed = 0
	}
	p.results = append(p.results, r)
}

// List returns a list of the results added since Begin. The caller gives it
// its line, and adds to Held what the results refer to.
func (p *ResultArena) List(t Token) *ResultSet {
	if len(p.lists) == cap(p.lists) {
		p.lists = make([]ResultSet, 0, 2*cap(p.lists)+1)
	}
	results := p.results[p.listed:len(p.results):len(p.results)]
	p.lists = append(p.lists, ResultSet{Token: t, Results: results, Held: len(results) * resultBytes, arena: p})
	p.listed = len(p.results)
	p.shares.Add(1)
	return &p.lists[len(p.lists)-1]
}

// Release gives n shares back; a nil arena takes any number of them.
func (p *ResultArena) Release(n int) {
	if p == nil || n == 0 || p.shares.Add(int64(-n)) != 0 {
		return
	}
	if p.from == nil || cap(p.lists) > arenaMost || cap(p.results) > arenaMost*arenaResults/arenaLists {
		return
	}
	clear(p.lists)
	clear(p.results)
	p.lists, p.results, p.listed = p.lists[:0], p.results[:0], 0
	p.from.idle.Put(p)
}

// Releaser gives back what lists refer to when they have been dispatched. It waits
// with neighbours that share it: the zero value is ready, and the last call is
// Flush.
type Releaser struct {
	arena *ResultArena
	chunk *Buffer
	n     int
}

// List takes a list back. It is not the caller's any more.
func (e *Releaser) List(l *ResultSet) {
	arena, chunk := l.arena, l.Buffer
	if arena != e.arena || chunk != e.chunk {
		e.Flush()
		e.arena, e.chunk = arena, chunk
	}
	e.n++
}

// Flush gives everything back.
func (e *Releaser) Flush() {
	e.chunk.Release(e.n)
	e.arena.Release(e.n)
	*e = Releaser{}
}
