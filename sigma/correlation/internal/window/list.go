package window

import "iter"

// list is a queue of entries that carry their own timestamp, the very first of
// which may be kept apart when others are trimmed.
type list[E entry] struct {
	queue  queue[E]
	pin    *E    // written once
	newest int64 // of the queue's last entry, when it has one
}

func (l *list[E]) len() int {
	if l.pin != nil {
		return int(l.queue.n) + 1
	}
	return int(l.queue.n)
}

func (l *list[E]) first() int64 {
	if l.pin != nil {
		return (*l.pin).when(0)
	}
	return l.queue.first()
}

func (l *list[E]) last() int64 {
	if l.queue.n == 0 {
		return (*l.pin).when(0)
	}
	return l.newest
}

// add inserts e, whose time is ts.
func (l *list[E]) add(ts int64, e E, undo *Undo) {
	switch {
	case l.pin != nil && ts < (*l.pin).when(0):
		l.addFirst(e, undo)
	case l.queue.n == 0 || ts >= l.newest:
		l.queue.put(e)
		l.newest = ts
	default:
		i, j := l.queue.find(func(t int64) bool { return t > ts })
		l.queue.insert(i, j, 0, func(int64) (E, bool) { return e, true }, undo)
	}
}

// addFirst puts e in the place of the pinned entry, which joins the others.
func (l *list[E]) addFirst(e E, undo *Undo) {
	second := *l.pin
	l.pin = &e
	if l.queue.n == 0 {
		l.queue.put(second)
		l.newest = second.when(0)
		return
	}
	l.queue.insert(0, 0, 0, func(int64) (E, bool) { return second, true }, undo)
}

// clear removes all entries.
func (l *list[E]) clear() {
	l.pin = nil
	l.queue.clear()
}

// pop removes the oldest entry.
func (l *list[E]) pop() E {
	if l.pin != nil {
		e := *l.pin
		l.pin = nil
		return e
	}
	_, e := l.queue.front()
	l.queue.popFront()
	return e
}

// trim removes the oldest entry, or the oldest but one.
func (l *list[E]) trim(keepFirst bool) E {
	if !keepFirst {
		return l.pop()
	}
	if l.pin == nil {
		e := l.pop()
		l.pin = &e
	}
	_, e := l.queue.front()
	l.queue.popFront()
	return e
}

func (l *list[E]) all() iter.Seq[E] {
	return func(yield func(E) bool) {
		if l.pin != nil && !yield(*l.pin) {
			return
		}
		for _, e := range l.queue.all() {
			if !yield(e) {
				return
			}
		}
	}
}
