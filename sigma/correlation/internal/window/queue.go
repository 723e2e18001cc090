package window

import (
	"iter"
	"slices"
	"sort"
)

// An entry knows its timestamp, given the base of the piece it lives in, and
// whether one at ts can be given relative to a base.
type entry interface {
	when(base int64) int64
	fits(ts, base int64) bool
}

const (
	minPiece   = 2
	keptPiece  = 16 // the largest that an empty queue goes on with
	maxPiece   = 256
	splitPiece = 512
)

type piece[E entry] struct {
	base  int64
	items []E    // every slot of the last piece, else exactly the entries
	forks uint32 // of the queue when it was made
}

// queue is a list of entries ordered by time. Nothing that a fork left behind can
// see is ever written again; what a saved copy can see is put back by Undo.
type queue[E entry] struct {
	pieces []piece[E]
	head   uint32 // first entry in the first piece
	tail   uint32 // end of the entries in the last piece
	n      uint32
	forks  uint32 // number of forks so far, and listShared
}

// listShared, in forks, says that a fork left behind sees the list of pieces.
const listShared = 1

// push appends e; its base must be that of the last piece, see open.
func (q *queue[E]) push(e E) {
	q.pieces[len(q.pieces)-1].items[q.tail] = e
	q.tail++
	q.n++
}

// put appends an entry that depends on no base.
func (q *queue[E]) put(e E) {
	if k := len(q.pieces); k == 0 || int(q.tail) == len(q.pieces[k-1].items) {
		q.grow(0)
	}
	q.push(e)
}

// open makes room for one more entry at ts and returns the base of its piece.
func (q *queue[E]) open(ts int64) int64 {
	if k := len(q.pieces); k > 0 {
		last := &q.pieces[k-1]
		var e E
		if int(q.tail) < len(last.items) {
			if e.fits(ts, last.base) {
				return last.base
			}
			q.pieces = slices.Clone(q.pieces)
			q.forks &^= listShared
			last = &q.pieces[k-1]
			last.items = last.items[:q.tail:q.tail]
		}
	}
	q.grow(ts)
	return ts
}

// grow appends an empty piece. One that follows another in a queue that is
// emptied time and again is as large as that.
func (q *queue[E]) grow(base int64) {
	size := uint32(minPiece)
	if k := len(q.pieces); k > 0 {
		size = min(uint32(len(q.pieces[k-1].items)), keptPiece)
		if k == cap(q.pieces) {
			q.pieces = slices.Grow(q.pieces, min(k, 2)+1)
		}
	}
	for size < q.n/2 && size < maxPiece {
		size *= 2
	}
	if q.n == 0 {
		q.pieces, q.head = q.pieces[len(q.pieces):], 0
	}
	q.pieces = append(q.pieces, q.fresh(base, make([]E, max(size, minPiece))))
	q.tail = 0
}

// clear removes all entries. What is left of a small last piece is still used.
func (q *queue[E]) clear() {
	k := len(q.pieces)
	if k == 0 || len(q.pieces[k-1].items) > keptPiece {
		*q = queue[E]{forks: q.forks}
		return
	}
	q.pieces = q.pieces[k-1:]
	q.head, q.n = q.tail, 0
}

// piece returns the entries of piece i.
func (q *queue[E]) piece(i int) []E {
	items := q.pieces[i].items
	if i == len(q.pieces)-1 {
		items = items[:q.tail]
	}
	if i == 0 {
		items = items[q.head:]
	}
	return items
}

func (q *queue[E]) front() (base int64, e E) {
	return q.pieces[0].base, q.pieces[0].items[q.head]
}

func (q *queue[E]) first() int64 {
	base, e := q.front()
	return e.when(base)
}

func (q *queue[E]) last() int64 {
	p := &q.pieces[len(q.pieces)-1]
	return p.items[q.tail-1].when(p.base)
}

func (q *queue[E]) popFront() {
	q.n--
	q.head++
	switch {
	case int(q.head) < len(q.pieces[0].items):
	case q.n == 0:
		q.pieces, q.head, q.tail = nil, 0, 0
	default:
		q.pieces, q.head = q.pieces[1:], 0
	}
}

// all yields the entries from the oldest on, each with the base of its piece.
func (q *queue[E]) all() iter.Seq2[int64, E] {
	return func(yield func(int64, E) bool) {
		for i := range q.pieces {
			for _, e := range q.piece(i) {
				if !yield(q.pieces[i].base, e) {
					return
				}
			}
		}
	}
}

// find returns the piece and, within piece(i), the index of the first entry for
// which after holds. after must be false, then true along the queue.
func (q *queue[E]) find(after func(ts int64) bool) (i, j int) {
	// The last piece whose first entry is not yet after.
	i = sort.Search(len(q.pieces), func(i int) bool {
		items := q.piece(i)
		return len(items) > 0 && after(items[0].when(q.pieces[i].base))
	})
	i = max(i-1, 0)
	items, base := q.piece(i), q.pieces[i].base
	j = sort.Search(len(items), func(j int) bool { return after(items[j].when(base)) })
	return i, j
}

// notBefore returns the time of the first entry at or after ts.
func (q *queue[E]) notBefore(ts int64) (int64, bool) {
	if q.n == 0 || q.last() < ts {
		return 0, false
	}
	i, j := q.find(func(t int64) bool { return t >= ts })
	if j == len(q.piece(i)) {
		i, j = i+1, 0
	}
	return q.piece(i)[j].when(q.pieces[i].base), true
}

// insert puts an entry before entry j of piece i: in place when nobody else sees
// the piece and it has room, else in a copy of it. relative gives the entry for a
// base, or reports that there is none.
func (q *queue[E]) insert(i, j int, ts int64, relative func(base int64) (E, bool), undo *Undo) {
	base := q.pieces[i].base
	e, ok := relative(base)
	if !ok {
		// Out of reach of the base, hence before or behind all of the piece.
		e, _ = relative(ts)
		alone, whole := q.fresh(ts, []E{e}), q.fresh(base, slices.Clip(q.piece(i)))
		whole.forks = q.pieces[i].forks
		if j == 0 {
			q.replace(i, undo, alone, whole)
		} else {
			q.replace(i, undo, whole, alone)
		}
		return
	}
	if q.insertInPlace(i, j, e, undo) {
		return
	}
	items := q.piece(i)
	grown := make([]E, 0, len(items)+1+len(items)/4)
	grown = append(append(append(grown, items[:j]...), e), items[j:]...)
	if len(grown) <= splitPiece {
		q.replace(i, undo, q.fresh(base, grown))
		return
	}
	half := len(grown) / 2
	q.replace(i, undo, q.fresh(base, grown[:half:half]), q.fresh(base, grown[half:]))
}

func (q *queue[E]) insertInPlace(i, j int, e E, undo *Undo) bool {
	if !q.private(i) {
		return false
	}
	last := i == len(q.pieces)-1
	items := q.pieces[i].items
	if last {
		items = items[:q.tail]
	}
	if len(items) == cap(items) || last && int(q.tail) == len(q.pieces[i].items) || len(items) >= splitPiece {
		return false
	}
	if i == 0 {
		j += int(q.head)
	}
	items = items[:len(items)+1]
	copy(items[j+1:], items[j:])
	items[j] = e
	if last {
		q.tail++
		undo.add(func() { copy(items[j:], items[j+1:]) })
	} else {
		q.ownList()
		slot := &q.pieces[i]
		slot.items = items
		undo.add(func() {
			copy(items[j:], items[j+1:])
			slot.items = items[:len(items)-1]
		})
	}
	q.n++
	return true
}

// set overwrites entry j of piece i.
func (q *queue[E]) set(i, j int, e E, undo *Undo) {
	items := q.piece(i)
	if q.private(i) {
		old := items[j]
		items[j] = e
		undo.add(func() { items[j] = old })
		return
	}
	grown := make([]E, len(items), len(items)+1+len(items)/4)
	copy(grown, items)
	grown[j] = e
	q.replace(i, undo, q.fresh(q.pieces[i].base, grown))
}

// fresh makes a piece that nobody else sees.
func (q *queue[E]) fresh(base int64, items []E) piece[E] {
	return piece[E]{base: base, items: items, forks: q.forks >> 1}
}

// private reports whether piece i was made since the last fork.
func (q *queue[E]) private(i int) bool { return q.pieces[i].forks == q.forks>>1 }

// fork is called on what goes on when a copy of the queue stays behind.
func (q *queue[E]) fork() { q.forks = (q.forks + 2) | listShared }

// ownList makes the list of pieces one that no fork left behind sees.
func (q *queue[E]) ownList() {
	if q.forks&listShared != 0 {
		q.pieces = slices.Clone(q.pieces)
		q.forks &^= listShared
	}
}

// replace puts pieces in the place of piece i.
func (q *queue[E]) replace(i int, undo *Undo, by ...piece[E]) {
	last := i == len(q.pieces)-1
	n := int(q.n) - len(q.piece(i))
	for _, p := range by {
		n += len(p.items)
	}
	if last {
		p := &by[len(by)-1]
		q.tail = uint32(len(p.items))
		p.items = p.items[:cap(p.items)]
	}
	q.n = uint32(n)
	if i == 0 {
		q.head = 0
	}
	if len(by) > 1 {
		pieces := make([]piece[E], 0, len(q.pieces)+len(by))
		q.pieces = append(append(append(pieces, q.pieces[:i]...), by...), q.pieces[i+1:]...)
		q.forks &^= listShared
		return
	}
	q.ownList()
	slot := &q.pieces[i]
	old := *slot
	*slot = by[0]
	undo.add(func() { *slot = old })
}
