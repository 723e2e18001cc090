package mailbox

import "iter"

// Run is what an actor is given to work on: consecutive elements of its lane.
// The mailbox keeps it until every element is finished, through interruptions
// and restarts. It is valid during Receive only.
type Run[T any] struct {
	lane   *Lane[T]
	items  []T
	sizes  []int // units of each item
	first  int   // the first that is not finished
	pos    int
	units  int  // finished since the last delivery
	taken  bool // given away, unless the step panics first
	copied bool // and the taker has a slice of its own
	loaded bool // a run is in hand, or was finished and is not counted yet
}

// All yields the unfinished elements in order and finishes each when the loop's
// body is through with it. It ends early when something waits that goes before
// data, or an outbox wants to be sent; the mailbox then comes back with the
// rest. A body that breaks or returns has not finished its element, which is
// yielded again next time.
func (r *Run[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for r.first < len(r.items) {
			at := r.first
			if !yield(r.items[at]) {
				return
			}
			if r.first == at {
				r.finish()
			}
			if r.Urgent() {
				return
			}
		}
	}
}

// Pass pushes all unfinished elements to o and finishes them. It is for a stage that
// has nothing to do with them but to look, which it does before.
func (r *Run[T]) Pass(o *Outbox[T]) {
	if o != nil {
		o.pending = append(o.pending, r.items[r.first:]...)
	}
	for _, n := range r.sizes[r.first:] {
		r.units += n
	}
	clear(r.items[r.first:])
	r.first, r.pos = len(r.items), 0
	r.lane.cell.box.commit()
}

// Rest are the unfinished elements, which stay in hand.
func (r *Run[T]) Rest() []T { return r.items[r.first:] }

// Done finishes the element at hand before the loop's body is through with it:
// its change is made and its outcome pushed, so a panic in what follows must not
// bring it back.
func (r *Run[T]) Done() { r.finish() }

// Pos is the position inside the current element at which work goes on: 0, or
// what SetPos left there before an interruption or a panic.
func (r *Run[T]) Pos() int { return r.pos }

// SetPos says that the current element is finished up to, not including, pos,
// and that what was pushed so far is to be sent whatever happens afterwards.
func (r *Run[T]) SetPos(pos int) {
	r.pos = pos
	r.lane.cell.box.commit()
}

// Urgent reports whether the actor should return so that something else is
// served first. The element at hand is then given again.
func (r *Run[T]) Urgent() bool {
	if r.lane.cell.box.urgent.Load() {
		return true
	}
	for _, o := range r.lane.cell.outboxes {
		if o.full() {
			return true
		}
	}
	return false
}

// Len is the number of unfinished elements.
func (r *Run[T]) Len() int { return len(r.items) - r.first }

// Take gives all unfinished elements away; they count as finished when the pool
// job that is started with them is, or else when Receive returns.
func (r *Run[T]) Take() []T {
	r.taken = true
	return r.items[r.first:len(r.items):len(r.items)]
}

// TakeInto is Take into memory of the caller's: it appends to dst.
func (r *Run[T]) TakeInto(dst []T) []T {
	r.taken, r.copied = true, true
	return append(dst, r.items[r.first:]...)
}

func (r *Run[T]) waiting() bool { return r.first < len(r.items) }

func (r *Run[T]) finish() {
	var none T
	r.items[r.first] = none
	r.units += r.sizes[r.first]
	r.first++
	r.pos = 0
	r.lane.cell.box.commit()
}

// returned is called when Receive came back.
func (r *Run[T]) returned() {
	if r.taken {
		for _, n := range r.sizes[r.first:] {
			r.units += n
		}
		r.forget()
	}
	c := r.lane.cell
	if r.units > 0 {
		c.counters.events.Add(int64(r.units))
		r.units = 0
	}
	if r.loaded && !r.waiting() {
		r.loaded = false
		c.counters.batches.Add(1)
		r.reset()
	}
}

// commitTaken is called when a worker has begun with what was taken: a panic of
// the actor does not bring it back, and the job counts it.
func (r *Run[T]) commitTaken() {
	if r.taken {
		r.forget()
		r.loaded = false
	}
}

// restore is called after a panic: what was taken and not begun is back in hand.
func (r *Run[T]) restore() {
	r.taken, r.copied = false, false
	r.returned()
}

// rest removes what is unfinished.
func (r *Run[T]) rest() []T {
	left := append([]T(nil), r.items[r.first:]...)
	r.reset()
	r.loaded = false
	return left
}

// forget empties the run of what was taken.
func (r *Run[T]) forget() {
	if !r.copied {
		r.items = nil // the taker's now
	}
	r.reset()
}

func (r *Run[T]) reset() {
	clear(r.items)
	r.items, r.sizes, r.first, r.pos, r.taken, r.copied = r.items[:0], r.sizes[:0], 0, 0, false, false
}
