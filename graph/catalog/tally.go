package catalog

import (
	"sync/atomic"
	"time"
)

// Tally counts the hits of a rule. One goroutine adds, any number read.
type Tally struct {
	hits atomic.Uint64
	last atomic.Int64 // Unix seconds
}

// Add counts n hits at a time in Unix seconds.
func (t *Tally) Add(n int, now int64) {
	t.last.Store(now)
	t.hits.Store(t.hits.Load() + uint64(n)) // nobody else adds
}

// Hits are the number of hits and when the last was; the zero time is never.
func (t *Tally) Hits() (n uint64, last time.Time) {
	if n = t.hits.Load(); n > 0 {
		last = time.Unix(t.last.Load(), 0).UTC()
	}
	return n, last
}
