// Package ratelog limits how often a condition that repeats is logged.
package ratelog

import (
	"sync"
	"time"
)

// pause is how long a Limit without Every holds messages back.
const pause = 10 * time.Second

// known is the number of distinct messages that a Limit remembers.
const known = 256

// Limit lets each distinct message through once in a while, and counts what it holds
// back. The zero value lets one through in ten seconds. It is safe for concurrent use.
type Limit struct {
	Every time.Duration // 0: ten seconds

	mu   sync.Mutex // guards told
	told map[string]message
}

type message struct {
	at   time.Time // when it was last let through
	held int       // since then
}

// Allow reports whether a message that stands for n occurrences may be logged at now.
// If so, held is the number of occurrences that it kept back since the last one;
// otherwise n is kept back too. key distinguishes messages.
func (l *Limit) Allow(key string, n int, now time.Time) (held int, ok bool) {
	every := l.Every
	if every == 0 {
		every = pause
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	last, seen := l.told[key]
	if seen && now.Sub(last.at) < every {
		last.held += n
		l.told[key] = last
		return 0, false
	}
	if l.told == nil || len(l.told) >= known {
		l.told = make(map[string]message)
	}
	l.told[key] = message{at: now}
	return last.held, true
}

// Rest returns the number of occurrences of a message that are kept back, and forgets
// it: the next one is let through. It is for the end, when no later message will tell.
func (l *Limit) Rest(key string) (held int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	held = l.told[key].held
	delete(l.told, key)
	return held
}

// RestAll is Rest of every message that was kept back, by key.
func (l *Limit) RestAll() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make(map[string]int)
	for key, m := range l.told {
		if m.held > 0 {
			all[key] = m.held
		}
	}
	l.told = nil
	return all
}
