package window

import (
	"iter"
	"math"

	"github.com/sluicehq/sluice/sigma/correlation/internal/exact"
	"github.com/sluicehq/sluice/sigma/correlation/internal/rank"
)

type number struct {
	ts int64
	v  float64
}

func (n number) when(int64) int64 { return n.ts }

func (number) fits(int64, int64) bool { return true }

// Numbers is a window of finite numbers that knows their sum or, made by
// NewRanked, their order. The zero value is empty and sums.
type Numbers struct {
	list  list[number]
	sum   exact.Sum
	ranks *rank.Tree // nil when the window sums
}

// NewRanked returns a window that keeps its numbers in order.
func NewRanked() *Numbers { return &Numbers{ranks: new(rank.Tree)} }

// Len returns the number of entries.
func (n *Numbers) Len() int { return n.list.len() }

// First returns the oldest timestamp.
func (n *Numbers) First() int64 { return n.list.first() }

// Last returns the newest timestamp.
func (n *Numbers) Last() int64 { return n.list.last() }

// Add inserts an entry.
func (n *Numbers) Add(ts int64, c *Contribution, undo *Undo) int {
	n.list.add(ts, number{ts, c.Number}, undo)
	if n.ranks != nil {
		n.ranks.Insert(c.Number)
		return entryBytes + rankBytes
	}
	n.sum.Add(c.Number)
	return entryBytes
}

// weight is what one entry takes.
func (n *Numbers) weight() int {
	if n.ranks != nil {
		return entryBytes + rankBytes
	}
	return entryBytes
}

func (n *Numbers) count(v float64) {
	if n.ranks != nil {
		n.ranks.Insert(v)
	} else {
		n.sum.Add(v)
	}
}

func (n *Numbers) forget(e number) {
	if n.ranks != nil {
		n.ranks.Delete(e.v)
	} else {
		n.sum.Sub(e.v)
	}
}

// DropBefore removes the entries older than cutoff.
func (n *Numbers) DropBefore(cutoff int64) int {
	if n.Len() > 0 && n.Last() < cutoff {
		less := n.Len() * n.weight()
		n.Clear()
		return -less
	}
	before := n.Len()
	for n.Len() > 0 && n.First() < cutoff {
		n.forget(n.list.pop())
	}
	return (n.Len() - before) * n.weight()
}

// Trim removes the oldest entries until limit are left.
func (n *Numbers) Trim(limit int, keepFirst bool) int {
	before := n.Len()
	for n.Len() > limit {
		n.forget(n.list.trim(keepFirst))
	}
	return (n.Len() - before) * n.weight()
}

// Clear removes all entries.
func (n *Numbers) Clear() {
	n.list.clear()
	n.empty()
}

// empty resets the aggregate; a tree that a fork left behind is not touched.
func (n *Numbers) empty() {
	n.sum = exact.Sum{}
	if n.ranks != nil {
		n.ranks = new(rank.Tree)
	}
}

// Sum returns the exact sum, rounded once. The window must not be ranked.
func (n *Numbers) Sum() float64 { return n.sum.Value() }

// Average returns the mean of the numbers. The window must not be ranked or
// empty.
func (n *Numbers) Average() float64 { return n.sum.Value() / float64(n.Len()) }

// Percentile returns the value at percentile p of 0 to 100, interpolated between
// the two nearest ranks. The window must be ranked and not empty.
func (n *Numbers) Percentile(p float64) float64 { return Percentile(p, n.Len(), n.ranks.At) }

// Median returns the middle number, or the mean of the two middle ones. The
// window must be ranked and not empty.
func (n *Numbers) Median() float64 { return Median(n.Len(), n.ranks.At) }

// Percentile is the percentile of count numbers, at giving them in order.
func Percentile(p float64, count int, at func(int) float64) float64 {
	r := p / 100 * float64(count-1)
	lo, hi := math.Floor(r), math.Ceil(r)
	low, high := at(int(lo)), at(int(hi))
	return low + (r-lo)*(high-low)
}

// Median is the median of count numbers, at giving them in order.
func Median(count int, at func(int) float64) float64 {
	if count%2 == 1 {
		return at(count / 2)
	}
	low, high := at(count/2-1), at(count/2)
	if sum := low + high; !math.IsInf(sum, 0) {
		return sum / 2
	}
	return low/2 + high/2
}

// All yields the entries, oldest first.
func (n *Numbers) All() iter.Seq2[int64, float64] {
	return func(yield func(int64, float64) bool) {
		for e := range n.list.all() {
			if !yield(e.ts, e.v) {
				return
			}
		}
	}
}

// Fork returns the window that goes on.
func (n *Numbers) Fork() Window {
	c := *n
	c.list.queue.fork()
	return &c
}

// Save copies the window into spare.
func (n *Numbers) Save(spare Window) Window {
	c, ok := spare.(*Numbers)
	if !ok {
		c = new(Numbers)
	}
	c.list = n.list
	return c
}

// Restore takes a saved copy back.
func (n *Numbers) Restore(saved Window) {
	n.list = saved.(*Numbers).list
}

// Rebuild computes the sum or the order again.
func (n *Numbers) Rebuild() {
	n.empty()
	for e := range n.list.all() {
		n.count(e.v)
	}
}
