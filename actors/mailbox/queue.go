package mailbox

// queue is a FIFO over a growing ring. A ring that proves too large for a while
// is given up, so that a burst does not stay in memory and a steady stream does
// not allocate.
type queue[T any] struct {
	ring []T
	head int
	n    int
	high int // most elements since it was empty
	idle int // how often in a row it ran empty without having used much
}

const (
	queueKeeps    = 64 // slots that are never given up
	queuePatience = 64 // times that a large ring may be used little
)

func (q *queue[T]) len() int { return q.n }

func (q *queue[T]) push(v T) { *q.grow() = v }

// grow adds an element, which the caller sets, and returns it.
func (q *queue[T]) grow() *T {
	if q.n == len(q.ring) {
		grown := make([]T, max(8, 2*q.n))
		for i := range q.n {
			grown[i] = *q.at(i)
		}
		q.ring, q.head = grown, 0
	}
	q.n++
	q.high = max(q.high, q.n)
	return q.at(q.n - 1)
}

// at returns the i-th element from the front.
func (q *queue[T]) at(i int) *T {
	i += q.head
	if i >= len(q.ring) {
		i -= len(q.ring)
	}
	return &q.ring[i]
}

func (q *queue[T]) pop() T {
	v := *q.at(0)
	q.drop()
	return v
}

// drop removes the first element.
func (q *queue[T]) drop() {
	var none T
	*q.at(0) = none
	q.head++
	if q.head == len(q.ring) {
		q.head = 0
	}
	if q.n--; q.n == 0 {
		q.emptied()
	}
}

// emptied decides whether the ring stays.
func (q *queue[T]) emptied() {
	if 4*q.high > len(q.ring) || len(q.ring) <= queueKeeps {
		q.idle = 0
	} else if q.idle++; q.idle > queuePatience {
		*q = queue[T]{}
	}
	q.high = 0
}
