package graph

import (
	"sync"
	"sync/atomic"
)

// Parcel is the memory of the lists of one batch. Each of them has a share of it,
// which dispatch gives back, and correlate has one while it adds lists. When the
// last share is back the parcel is used for another batch.
type Parcel struct {
	lists   []List
	results []Result
	listed  int // results that are in a list
	shares  atomic.Int64
	from    *Parcels // nil for one that is not used again
}

// Parcels keeps parcels that nobody needs. The zero value is ready.
type Parcels struct{ idle sync.Pool }

// A list that waits for a sink keeps its whole parcel. So a parcel is used again
// for batches with enough lists only, and while it is not much larger than most.
const (
	parcelLists   = 128 // of a new parcel
	parcelResults = 512
	parcelLeast   = parcelLists / 4 // lists of a batch, if the parcel is to be used again
	parcelMost    = 4 * parcelLists // lists of a parcel that is used again
)

// Get returns an empty parcel for about so many lists and results, with a share
// for the caller.
func (ps *Parcels) Get(lists, results int) *Parcel {
	if lists < parcelLeast {
		p := &Parcel{lists: make([]List, 0, lists), results: make([]Result, 0, results)}
		p.shares.Store(1)
		return p
	}
	p, ok := ps.idle.Get().(*Parcel)
	if !ok {
		p = &Parcel{lists: make([]List, 0, parcelLists), results: make([]Result, 0, parcelResults), from: ps}
	}
	p.shares.Store(1)
	return p
}

// Begin begins a list: results that no list was made of are forgotten.
func (p *Parcel) Begin() { p.results = p.results[:p.listed] }

// Add appends a result to the list that List makes.
func (p *Parcel) Add(r Result) {
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
// its line.
func (p *Parcel) List(t Token) *List {
	if len(p.lists) == cap(p.lists) {
		p.lists = make([]List, 0, 2*cap(p.lists)+1)
	}
	p.lists = append(p.lists, List{Token: t, Results: p.results[p.listed:len(p.results):len(p.results)], parcel: p})
	p.listed = len(p.results)
	p.shares.Add(1)
	return &p.lists[len(p.lists)-1]
}

// Leave gives n shares back; a nil parcel takes any number of them.
func (p *Parcel) Leave(n int) {
	if p == nil || n == 0 || p.shares.Add(int64(-n)) != 0 {
		return
	}
	if p.from == nil || cap(p.lists) > parcelMost || cap(p.results) > parcelMost*parcelResults/parcelLists {
		return
	}
	clear(p.lists)
	clear(p.results)
	p.lists, p.results, p.listed = p.lists[:0], p.results[:0], 0
	p.from.idle.Put(p)
}

// Ended gives back what lists refer to when they have been dispatched. It waits
// with neighbours that share it: the zero value is ready, and the last call is
// Flush.
type Ended struct {
	parcel *Parcel
	chunk  *Chunk
	n      int
}

// List takes a list back. It is not the caller's any more.
func (e *Ended) List(l *List) {
	parcel, chunk := l.parcel, l.Chunk
	if parcel != e.parcel || chunk != e.chunk {
		e.Flush()
		e.parcel, e.chunk = parcel, chunk
	}
	e.n++
}

// Flush gives everything back.
func (e *Ended) Flush() {
	e.chunk.Leave(e.n)
	e.parcel.Leave(e.n)
	*e = Ended{}
}
