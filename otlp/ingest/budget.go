package ingest

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// freeBody is how much memory every body may have.
	freeBody = 256 << 10
	// largeBodies is how many of the largest bodies may be held at once beyond that.
	largeBodies = 16
	// budgetWait is how long a body waits for room.
	budgetWait = 10 * time.Second
)

var errExhausted = errors.New("too many large requests at once")

// budget bounds the memory of all large bodies together. Who finds none waits for it, and
// reads no further meanwhile. Bodies keep what they have while they wait for more, so none
// waits for ever.
type budget struct {
	mu      sync.Mutex // guards the rest
	left    int64
	waiting []*waiter // first come, first served
}

type waiter struct {
	size  int64
	ready chan struct{}
}

func newBudget(size int64) *budget { return &budget{left: size} }

// enter takes some of the budget, and waits for it for a while.
func (r *budget) enter(ctx context.Context, size int64) error {
	r.mu.Lock()
	if len(r.waiting) == 0 && size <= r.left {
		r.left -= size
		r.mu.Unlock()
		return nil
	}
	w := &waiter{size, make(chan struct{})}
	r.waiting = append(r.waiting, w)
	r.mu.Unlock()
	patience := time.NewTimer(budgetWait)
	defer patience.Stop()
	var err error
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-patience.C:
		err = errExhausted
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, other := range r.waiting {
		if other == w {
			r.waiting = append(r.waiting[:i], r.waiting[i+1:]...)
			r.admit()
			return err
		}
	}
	return nil // it was admitted meanwhile
}

// leave gives it back.
func (r *budget) leave(size int64) {
	if size == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left += size
	r.admit()
}

func (r *budget) admit() {
	for len(r.waiting) > 0 && r.waiting[0].size <= r.left {
		r.left -= r.waiting[0].size
		close(r.waiting[0].ready)
		r.waiting = r.waiting[1:]
	}
}
