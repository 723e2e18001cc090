package kafka

import (
	"cmp"
	"slices"
)

// uncommitted is what was read of a partition and is not committed, in the order of offsets.
type uncommitted struct {
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
func (u *uncommitted) enter(offset int64, epoch int32) (added bool) {
	if n := len(u.entries); n > 0 && offset <= u.entries[n-1].offset || offset < u.next {
		return false
	}
	u.entries = append(u.entries, entry{offset: offset, epoch: epoch})
	return true
}

// end notes that the acknowledgement of a message is due. It reports whether that is still
// to be committed.
func (u *uncommitted) end(offset int64) bool {
	i, found := slices.BinarySearchFunc(u.entries, offset, func(e entry, offset int64) int { return cmp.Compare(e.offset, offset) })
	if found {
		u.entries[i].due = true
	}
	return found || offset >= u.next
}

// due returns the first messages whose acknowledgements are all due.
func (u *uncommitted) due() []entry {
	n := 0
	for n < len(u.entries) && u.entries[n].due {
		n++
	}
	return u.entries[:n]
}

// commit forgets the first n messages.
func (u *uncommitted) commit(n int) {
	last := u.entries[n-1]
	u.next, u.epoch = last.offset+1, last.epoch
	u.entries = append(u.entries[:0], u.entries[n:]...)
}
