package mailbox

import (
	"sync"
	"time"
)

// ticker posts ticks without a goroutine of its own.
type ticker struct {
	every time.Duration
	post  func()

	mu      sync.Mutex // guards the rest
	timer   *time.Timer
	stopped bool
}

func newTicker(every time.Duration, post func()) *ticker {
	return &ticker{every: every, post: post}
}

func (t *ticker) start() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer == nil && !t.stopped {
		t.timer = time.AfterFunc(t.every, t.fire)
	}
}

func (t *ticker) fire() {
	t.post()
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.stopped {
		t.timer.Reset(t.every)
	}
}

func (t *ticker) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	if t.timer != nil {
		t.timer.Stop()
	}
}
