// Package due keeps what is due at a second of the clock.
//
// A Queue is a heap. The clock may go back: what was added for a later second then waits
// until the clock has come there again. An owner keeps one entry for each of its items, at
// or before the second at which there is something to do: when the entry comes out, the
// owner looks at the item itself, and adds it again if it was too early. So an item whose
// time only moves to later seconds costs nothing while it does.
package due

// Queue holds values until they are due. The zero value is empty. It is for one goroutine.
type Queue[T any] struct{ heap []entry[T] }

type entry[T any] struct {
	at    int64
	value T
}

// Len is how many values wait.
func (q *Queue[T]) Len() int { return len(q.heap) }

// Reset drops all values.
func (q *Queue[T]) Reset() { q.heap = nil }

// Add keeps v until the second at.
func (q *Queue[T]) Add(at int64, v T) {
	q.heap = append(q.heap, entry[T]{at, v})
	i := len(q.heap) - 1
	for i > 0 {
		parent := (i - 1) / arity
		if q.heap[parent].at <= q.heap[i].at {
			return
		}
		q.heap[parent], q.heap[i] = q.heap[i], q.heap[parent]
		i = parent
	}
}

// Next is the second of the earliest value, and false when none waits.
func (q *Queue[T]) Next() (at int64, ok bool) {
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.heap[0].at, true
}

// Pop takes the earliest value out if it is due at now. Of values of one second any may
// come first.
func (q *Queue[T]) Pop(now int64) (v T, ok bool) {
	if len(q.heap) == 0 || q.heap[0].at > now {
		return v, false
	}
	v = q.heap[0].value
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.heap[last] = entry[T]{}
	q.heap = q.heap[:last]
	q.sink()
	return v, true
}

// arity is the number of children in the heap: four lie next to each other in the cache.
const arity = 4

// sink moves the first entry down to its place.
func (q *Queue[T]) sink() {
	for i := 0; ; {
		least := i
		for child := arity*i + 1; child <= arity*i+arity && child < len(q.heap); child++ {
			if q.heap[child].at < q.heap[least].at {
				least = child
			}
		}
		if least == i {
			return
		}
		q.heap[least], q.heap[i] = q.heap[i], q.heap[least]
		i = least
	}
}
