package window

// Hits is a window of timestamps for each member of a temporal correlation.
type Hits struct{ members []Counts }

// NewHits returns an empty window for n members.
func NewHits(n int) *Hits { return &Hits{make([]Counts, n)} }

// Member returns the hits of member i.
func (h *Hits) Member(i int) *Counts { return &h.members[i] }

// Members returns the number of members.
func (h *Hits) Members() int { return len(h.members) }

// Pick returns a window of the same hits for other members: member i of it is
// member from[i] of h, or empty where that is negative.
func (h *Hits) Pick(from []int) *Hits {
	picked := NewHits(len(from))
	for i, j := range from {
		if j >= 0 {
			picked.members[i] = h.members[j]
		}
	}
	return picked
}

// Hit reports whether member i has an entry.
func (h *Hits) Hit(i int) bool { return h.members[i].n > 0 }

// Count returns the number of members with entries.
func (h *Hits) Count() int {
	count := 0
	for i := range h.members {
		if h.members[i].n > 0 {
			count++
		}
	}
	return count
}

// InOrder reports whether every member has an entry that is not older than the
// one chosen for the member before. The earliest choice is always as good as any
// other, so each member is looked at once.
func (h *Hits) InOrder() bool {
	if len(h.members) == 0 || h.members[0].n == 0 {
		return false
	}
	ts := h.members[0].First()
	for i := 1; i < len(h.members); i++ {
		var ok bool
		if ts, ok = h.members[i].NotBefore(ts); !ok {
			return false
		}
	}
	return true
}

// Len returns the number of entries over all members.
func (h *Hits) Len() int {
	n := 0
	for i := range h.members {
		n += h.members[i].n
	}
	return n
}

// First returns the oldest timestamp of any member.
func (h *Hits) First() int64 {
	first, found := int64(0), false
	for i := range h.members {
		if m := &h.members[i]; m.n > 0 && (!found || m.First() < first) {
			first, found = m.First(), true
		}
	}
	return first
}

// Last returns the newest timestamp of any member.
func (h *Hits) Last() int64 {
	last, found := int64(0), false
	for i := range h.members {
		if m := &h.members[i]; m.n > 0 && (!found || m.Last() > last) {
			last, found = m.Last(), true
		}
	}
	return last
}

// Add inserts an entry for each member of c.
func (h *Hits) Add(ts int64, c *Contribution, undo *Undo) (more int) {
	for _, i := range c.Members {
		more += h.members[i].Add(ts, c, undo)
	}
	return more
}

// DropBefore removes the entries older than cutoff.
func (h *Hits) DropBefore(cutoff int64) (more int) {
	for i := range h.members {
		more += h.members[i].DropBefore(cutoff)
	}
	return more
}

// Trim removes the oldest entries of each member until limit are left of it.
func (h *Hits) Trim(limit int, keepFirst bool) (more int) {
	for i := range h.members {
		more += h.members[i].Trim(limit, keepFirst)
	}
	return more
}

// Clear removes all entries.
func (h *Hits) Clear() {
	for i := range h.members {
		h.members[i].Clear()
	}
}

// Fork returns the window that goes on.
func (h *Hits) Fork() Window {
	f := &Hits{append([]Counts(nil), h.members...)}
	for i := range f.members {
		f.members[i].sealed.fork()
	}
	return f
}

// Save copies the window into spare.
func (h *Hits) Save(spare Window) Window {
	c, ok := spare.(*Hits)
	if !ok {
		c = new(Hits)
	}
	c.members = append(c.members[:0], h.members...)
	return c
}

// Restore takes a saved copy back.
func (h *Hits) Restore(saved Window) {
	h.members = append(h.members[:0], saved.(*Hits).members...)
}

// Rebuild has nothing to do.
func (h *Hits) Rebuild() {}
