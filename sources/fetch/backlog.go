//go:build !no_nats

package fetch

import (
	"context"
	"sync"
)

// Bounds of what waits to be read of a subscription.
const (
	maxWaiting      = 1024
	maxWaitingBytes = 64 << 20
)

// backlog holds messages until they are read, in order. When it is full the oldest one gives
// way: of values that replace each other the newest counts.
type backlog struct {
	some chan struct{} // holds a token when messages may be there

	mu      sync.Mutex // guards the rest
	waiting []payload
	bytes   int
}

func newBacklog() *backlog { return &backlog{some: make(chan struct{}, 1)} }

// put adds a message and returns how many gave way. It never waits.
func (b *backlog) put(message payload) (lost int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = append(b.waiting, message)
	b.bytes += len(message.data)
	for len(b.waiting) > 1 && (len(b.waiting) > maxWaiting || b.bytes > maxWaitingBytes) {
		b.bytes -= len(b.waiting[0].data)
		b.waiting[0] = payload{}
		b.waiting = b.waiting[1:]
		lost++
	}
	select {
	case b.some <- struct{}{}:
	default:
	}
	return lost
}

// each calls take with every message until ctx ends.
func (b *backlog) each(ctx context.Context, take func(payload)) {
	for ctx.Err() == nil {
		message, ok := b.next()
		if ok {
			take(message)
			continue
		}
		select {
		case <-b.some:
		case <-ctx.Done():
		}
	}
}

func (b *backlog) next() (payload, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		b.waiting = nil // and the room of those before
		return payload{}, false
	}
	message := b.waiting[0]
	b.waiting[0] = payload{}
	b.waiting, b.bytes = b.waiting[1:], b.bytes-len(message.data)
	return message, true
}
