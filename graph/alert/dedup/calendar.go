package dedup

import "github.com/sluicehq/sluice/graph/alert/due"

// calendar lists numbers by a second of theirs. Numbers are small; each is listed at one
// second at most. To move one costs the same whatever the size of the calendar, so that what
// is due is always known exactly.
type calendar struct {
	first   map[int64]int32  // of the list of a second
	links   []link           // by number
	seconds due.Queue[int64] // those of first; some have no list any more, or come twice
	taken   []int64          // memory for due
}

// link is the place of a number in the list of its second.
type link struct{ before, behind int32 }

const none = -1

// put lists a number that is not listed.
func (c *calendar) put(n int32, second int64) {
	if c.first == nil {
		c.first = make(map[int64]int32)
	}
	for len(c.links) <= int(n) {
		c.links = append(c.links, link{})
	}
	next, ok := c.first[second]
	if !ok {
		c.tidy()
		c.seconds.Add(second, second)
		next = none
	} else {
		c.links[next].before = n
	}
	c.links[n] = link{before: none, behind: next}
	c.first[second] = n
}

// drop takes out a number that is listed at that second.
func (c *calendar) drop(n int32, second int64) {
	at := c.links[n]
	if at.behind != none {
		c.links[at.behind].before = at.before
	}
	switch {
	case at.before != none:
		c.links[at.before].behind = at.behind
	case at.behind != none:
		c.first[second] = at.behind
	default:
		delete(c.first, second)
	}
}

// tidy forgets the seconds that have no list any more, once they are the most.
func (c *calendar) tidy() {
	if c.seconds.Len() < 2*len(c.first)+64 {
		return
	}
	c.seconds.Reset()
	for second := range c.first {
		c.seconds.Add(second, second)
	}
}

// due appends the numbers whose second is not later than until. They stay listed.
func (c *calendar) due(dst []int32, until int64) []int32 {
	c.taken = c.taken[:0]
	for {
		second, ok := c.seconds.Pop(until)
		if !ok {
			break
		}
		n, ok := c.first[second]
		if !ok || len(c.taken) > 0 && c.taken[len(c.taken)-1] == second {
			continue
		}
		c.taken = append(c.taken, second)
		for ; n != none; n = c.links[n].behind {
			dst = append(dst, n)
		}
	}
	for _, second := range c.taken {
		c.seconds.Add(second, second)
	}
	return dst
}

// earliest is the first second at which a number is listed.
func (c *calendar) earliest() (second int64, ok bool) {
	for {
		second, ok = c.seconds.Next()
		if !ok {
			return 0, false
		}
		if _, lists := c.first[second]; lists {
			return second, true
		}
		c.seconds.Pop(second)
	}
}
