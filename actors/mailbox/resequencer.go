package mailbox

// resequencer restores the order of what parallel workers finish out of order. It is
// bounded: nothing can be further than the window behind the next one.
type resequencer[T any] struct {
	next  uint64
	slots []slot[T]
}

type slot[T any] struct {
	value T
	full  bool
}

func newResequencer[T any](window int) *resequencer[T] {
	return &resequencer[T]{slots: make([]slot[T], max(1, window))}
}

// add stores the element with the given number, counting from 0. It reports false and
// changes nothing when the number was already seen or lies outside the window.
func (r *resequencer[T]) add(seq uint64, v T) bool {
	s := &r.slots[seq%uint64(len(r.slots))]
	if seq < r.next || seq-r.next >= uint64(len(r.slots)) || s.full {
		return false
	}
	*s = slot[T]{value: v, full: true}
	return true
}

// pop removes and returns the next element in order, if it has arrived.
func (r *resequencer[T]) pop() (T, bool) {
	s := &r.slots[r.next%uint64(len(r.slots))]
	v, full := s.value, s.full
	if full {
		*s = slot[T]{}
		r.next++
	}
	return v, full
}
