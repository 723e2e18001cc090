package kafka

import (
	"cmp"
	"slices"
)

// window is what was read of a partition and is not committed, in the order of offsets.
type window struct {
	entries []entry
	next    int64 // the offset that is committed, -1 when none is known
	epoch   int32 // of the leader that had the message before next
}

type entry struct {
	offset int64
	epoch  int32
	due    bool // its acknowledgement is
}

// enter adds a message behind all others. One that is not behind them was read before.
func (w *window) enter(offset int64, epoch int32) (added bool) {
	if n := len(w.entries); n > 0 && offset <= w.entries[n-1].offset || offset < w.next {
		return false
	}
	w.entries = append(w.entries, entry{offset: offset, epoch: epoch})
	return true
}

// end notes that the acknowledgement of a message is due. It reports whether that is still
// to be committed.
func (w *window) end(offset int64) bool {
	i, found := slices.BinarySearchFunc(w.entries, offset, func(e entry, offset int64) int { return cmp.Compare(e.offset, offset) })
	if found {
		w.entries[i].due = true
	}
	return found || offset >= w.next
}

// due returns the first messages whose acknowledgements are all due.
func (w *window) due() []entry {
	n := 0
	for n < len(w.entries) && w.entries[n].due {
		n++
	}
	return w.entries[:n]
}

// commit forgets the first n messages.
func (w *window) commit(n int) {
	last := w.entries[n-1]
	w.next, w.epoch = last.offset+1, last.epoch
	w.entries = append(w.entries[:0], w.entries[n:]...)
}
