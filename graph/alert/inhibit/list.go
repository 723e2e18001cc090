package inhibit

// list is the sources of all rules, the one seen longest ago first.
type list struct{ root source }

func (l *list) init() { l.root.prev, l.root.next = &l.root, &l.root }

// first is the source that was seen longest ago. The list must not be empty.
func (l *list) first() *source { return l.root.next }

// append puts a source last.
func (l *list) append(s *source) {
	s.prev, s.next = l.root.prev, &l.root
	s.prev.next, s.next.prev = s, s
}

func (l *list) remove(s *source) {
	s.prev.next, s.next.prev = s.next, s.prev
	s.prev, s.next = nil, nil
}

// each yields every source in order.
func (l *list) each(yield func(*source) bool) {
	for s := l.root.next; s != &l.root; s = s.next {
		if !yield(s) {
			return
		}
	}
}
