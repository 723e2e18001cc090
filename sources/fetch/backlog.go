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

// message is a payload with its place in the order of arrival, which begins with 1.
type message struct {
	payload
	number uint64
}

// backlog holds messages until they are read, in order, within bounds.
type backlog struct {
	some chan struct{} // holds a token when messages may be there

	mu      sync.Mutex // guards the rest
	waiting []message
	bytes   int
	arrived uint64 // the number of the last message
}

func newBacklog() *backlog { return &backlog{some: make(chan struct{}, 1)} }

// put adds a message. Without room for it, it is not there: ok is false. It never waits.
func (b *backlog) put(p payload) (m message, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.arrived++
	m = message{p, b.arrived}
	if len(b.waiting) > 0 && (len(b.waiting) == maxWaiting || b.bytes+len(p.data) > maxWaitingBytes) {
		return m, false
	}
	b.waiting = append(b.waiting, m)
	b.bytes += len(p.data)
	wake(b.some)
	return m, true
}

// pass takes out the messages that arrived before one, and returns how many they were.
func (b *backlog) pass(number uint64) (passed int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.waiting) > 0 && b.waiting[0].number < number {
		b.shift()
		passed++
	}
	return passed
}

// next takes out the oldest message. Without one it is not ok.
func (b *backlog) next() (m message, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		b.waiting = nil // and the room of those before
		return message{}, false
	}
	return b.shift(), true
}

// shift takes out the oldest message, of at least one.
func (b *backlog) shift() message {
	m := b.waiting[0]
	b.waiting[0] = message{}
	b.waiting, b.bytes = b.waiting[1:], b.bytes-len(m.data)
	return m
}

// each calls take with every message until ctx ends, and idle whenever it was woken and
// there is none.
func (b *backlog) each(ctx context.Context, take func(message), idle func()) {
	for ctx.Err() == nil {
		if m, ok := b.next(); ok {
			take(m)
			continue
		}
		idle()
		select {
		case <-b.some:
		case <-ctx.Done():
		}
	}
}

// wake puts a token into a channel that has room for one.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
