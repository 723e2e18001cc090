package window

import (
	"iter"
	"math"
)

// run is a number of entries in one second.
type run struct{ offset, n uint32 }

func (r run) when(base int64) int64 { return base + int64(r.offset) }

func (run) fits(ts, base int64) bool { return ts >= base && ts-base <= math.MaxUint32 }

// Counts is a window of bare timestamps. The zero value is empty.
type Counts struct {
	sealed queue[run]
	// The newest second is still being counted, so it is not in the queue.
	openN  uint32
	open   int64
	n      int
	pin    int64
	skip   uint32 // entries of the oldest run that were trimmed
	pinned bool   // the very first entry is kept apart, at pin
}

// Len returns the number of entries.
func (c *Counts) Len() int { return c.n }

// First returns the oldest timestamp.
func (c *Counts) First() int64 {
	switch {
	case c.pinned:
		return c.pin
	case c.sealed.n > 0:
		return c.sealed.first()
	}
	return c.open
}

// Last returns the newest timestamp.
func (c *Counts) Last() int64 {
	if c.openN == 0 {
		return c.pin
	}
	return c.open
}

// Add inserts an entry.
func (c *Counts) Add(ts int64, _ *Contribution, undo *Undo) int {
	runs := int(c.sealed.n)
	c.n++
	if c.pinned && ts < c.pin {
		ts, c.pin = c.pin, ts
	}
	c.addCount(ts, 1, undo)
	return c.since(runs)
}

// since returns by how much Bytes has changed since there were so many runs.
func (c *Counts) since(runs int) int { return (int(c.sealed.n) - runs) * runBytes }

func (c *Counts) addCount(ts int64, n uint32, undo *Undo) {
	switch {
	case c.openN == 0:
		c.open, c.openN = ts, n
	case ts == c.open && c.openN <= math.MaxUint32-n:
		c.openN += n
	case ts >= c.open:
		c.seal()
		c.open, c.openN = ts, n
	default:
		c.addLate(ts, n, undo)
	}
}

func (c *Counts) seal() {
	ts := c.open
	base := c.sealed.open(ts)
	c.sealed.push(run{uint32(ts - base), c.openN})
}

func (c *Counts) addLate(ts int64, n uint32, undo *Undo) {
	if c.sealed.n == 0 {
		open, openN := c.open, c.openN
		c.open, c.openN = ts, n
		c.seal()
		c.open, c.openN = open, openN
		return
	}
	if c.skip > 0 {
		_, front := c.sealed.front()
		front.n -= c.skip
		c.skip = 0
		c.sealed.set(0, 0, front, undo)
	}
	i, j := c.sealed.find(func(t int64) bool { return t > ts })
	if j > 0 {
		if r := c.sealed.piece(i)[j-1]; r.when(c.sealed.pieces[i].base) == ts && r.n <= math.MaxUint32-n {
			r.n += n
			c.sealed.set(i, j-1, r, undo)
			return
		}
	}
	c.sealed.insert(i, j, ts, func(base int64) (run, bool) {
		return run{uint32(ts - base), n}, run{}.fits(ts, base)
	}, undo)
}

// DropBefore removes the entries older than cutoff.
func (c *Counts) DropBefore(cutoff int64) int {
	if c.n == 0 || c.First() >= cutoff {
		return 0
	}
	runs := int(c.sealed.n)
	if c.Last() < cutoff {
		c.Clear()
		return c.since(runs)
	}
	if c.pinned && c.pin < cutoff {
		c.pinned = false
		c.n--
	}
	for c.sealed.n > 0 && c.sealed.first() < cutoff {
		c.dropRun()
	}
	return c.since(runs)
}

func (c *Counts) dropRun() {
	_, r := c.sealed.front()
	c.sealed.popFront()
	c.n -= int(r.n - c.skip)
	c.skip = 0
}

// Trim removes the oldest entries until limit are left.
func (c *Counts) Trim(limit int, keepFirst bool) int {
	if c.n <= limit {
		return 0
	}
	runs := int(c.sealed.n)
	switch {
	case keepFirst && !c.pinned:
		c.pin, c.pinned = c.First(), true
		c.dropOldest(1)
		c.n++ // it moved, it did not leave
	case !keepFirst && c.pinned:
		c.pinned = false
		c.n--
	}
	c.dropOldest(c.n - limit)
	return c.since(runs)
}

// dropOldest removes k entries beside the pinned one.
func (c *Counts) dropOldest(k int) {
	for k > 0 && c.sealed.n > 0 {
		_, r := c.sealed.front()
		if left := int(r.n - c.skip); left <= k {
			k -= left
			c.dropRun()
			continue
		}
		c.skip += uint32(k)
		c.n -= k
		return
	}
	k = min(k, int(c.openN))
	c.openN -= uint32(k)
	c.n -= k
}

// Clear removes all entries.
func (c *Counts) Clear() {
	c.sealed.clear()
	c.openN, c.n, c.skip, c.pinned = 0, 0, 0, false
}

// NotBefore returns the first timestamp at or after ts.
func (c *Counts) NotBefore(ts int64) (int64, bool) {
	if c.pinned && c.pin >= ts {
		return c.pin, true
	}
	if t, ok := c.sealed.notBefore(ts); ok {
		return t, true
	}
	return c.open, c.openN > 0 && c.open >= ts
}

// All yields the seconds that have entries, oldest first, and their number. A
// second may come more than once.
func (c *Counts) All() iter.Seq2[int64, int] {
	return func(yield func(int64, int) bool) {
		if c.pinned && !yield(c.pin, 1) {
			return
		}
		skip := c.skip
		for base, r := range c.sealed.all() {
			if !yield(r.when(base), int(r.n-skip)) {
				return
			}
			skip = 0
		}
		if c.openN > 0 {
			yield(c.open, int(c.openN))
		}
	}
}

// Fork returns the window that goes on.
func (c *Counts) Fork() Window {
	d := *c
	d.sealed.fork()
	return &d
}

// Save copies the window into spare.
func (c *Counts) Save(spare Window) Window {
	d, ok := spare.(*Counts)
	if !ok {
		d = new(Counts)
	}
	*d = *c
	return d
}

// Restore takes a saved copy back.
func (c *Counts) Restore(saved Window) { *c = *saved.(*Counts) }

// Rebuild has nothing to do: the number of entries is part of the window.
func (c *Counts) Rebuild() {}
