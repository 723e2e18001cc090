package logging

import (
	"sync"
	"time"
)

// Every is how often a repeating condition is logged.
const Every = 10 * time.Second

// Limiter thins out a repeating condition. It is safe for concurrent use; its
// zero value lets the first line through.
type Limiter struct {
	mu     sync.Mutex // guards the rest
	last   time.Time
	begun  bool
	missed int
}

// Allow reports whether a line may be written now, and how many times the
// condition held unlogged since the last line that was.
func (l *Limiter) Allow(now time.Time) (missed int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begun && now.Sub(l.last) < Every {
		l.missed++
		return 0, false
	}
	missed, l.missed = l.missed, 0
	l.last, l.begun = now, true
	return missed, true
}
