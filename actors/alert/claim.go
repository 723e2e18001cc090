package alert

import "sync/atomic"

// claim decides once whether a change is made: by the actor, which makes it, or by the
// client, which waits no longer and takes back what it has stored.
type claim struct{ taken atomic.Bool }

// take reports whether the caller is the first.
func (c *claim) take() bool { return c.taken.CompareAndSwap(false, true) }
