package mailbox

import (
	"errors"
	"fmt"
)

// ErrSequence is wrapped by the errors of a Resequencer.
var ErrSequence = errors.New("sequence number outside the window")

// Resequencer restores the order of what parallel workers finish out of order.
// It is bounded: with n workers nothing can be more than n behind the next one.
type Resequencer[T any] struct {
	next  uint64
	slots []slot[T]
}

type slot[T any] struct {
	value T
	full  bool
}

// NewResequencer returns a resequencer that begins with the sequence number
// first and holds at most window elements.
func NewResequencer[T any](first uint64, window int) *Resequencer[T] {
	return &Resequencer[T]{next: first, slots: make([]slot[T], max(1, window))}
}

// Add stores the element with the given number. A number that was already seen
// or lies beyond the window is an error and changes nothing.
func (r *Resequencer[T]) Add(seq uint64, v T) error {
	if seq < r.next || seq-r.next >= uint64(len(r.slots)) {
		return fmt.Errorf("add %d with %d next: %w", seq, r.next, ErrSequence)
	}
	s := &r.slots[seq%uint64(len(r.slots))]
	if s.full {
		return fmt.Errorf("add %d twice: %w", seq, ErrSequence)
	}
	*s = slot[T]{value: v, full: true}
	return nil
}

// Next removes and returns the next element in order, if it has arrived.
func (r *Resequencer[T]) Next() (T, bool) {
	s := &r.slots[r.next%uint64(len(r.slots))]
	if !s.full {
		var none T
		return none, false
	}
	v := s.value
	*s = slot[T]{}
	r.next++
	return v, true
}

// Waiting is the number of elements held back.
func (r *Resequencer[T]) Waiting() int {
	n := 0
	for i := range r.slots {
		if r.slots[i].full {
			n++
		}
	}
	return n
}
