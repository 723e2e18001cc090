// Package ratelog limits how often a repeating condition is logged.
package ratelog

import (
	"sync"
	"time"
)

// Every is how often a Limit lets a text through.
const Every = time.Minute

// known is the number of distinct texts that a Limit remembers.
const known = 256

// Limit lets each distinct text through once a minute. The zero value is ready. It is
// safe for concurrent use.
type Limit struct {
	mu   sync.Mutex // guards seen
	seen map[string]repeated
}

type repeated struct {
	at   time.Time
	more int // suppressed since
}

// Allow reports whether text may be logged at now, and how many times it was
// suppressed since it last was.
func (l *Limit) Allow(text string, now time.Time) (suppressed int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, seen := l.seen[text]
	if seen && now.Sub(last.at) < Every {
		last.more++
		l.seen[text] = last
		return 0, false
	}
	if l.seen == nil || len(l.seen) >= known {
		l.seen = make(map[string]repeated)
	}
	l.seen[text] = repeated{at: now}
	return last.more, true
}
