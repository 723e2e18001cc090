package graph

import (
	"maps"
	"sync"
	"sync/atomic"
)

// Epoch counts the tokens issued between two barriers. It ends when it is
// closed, every token counted in it is settled and the epoch before it ended.
type Epoch struct {
	number uint64       // grows by one with every barrier, from 1
	tokens atomic.Int64 // open ones, plus one until it is closed, plus one for the epoch before
	open   *Open        // of all epochs; nil when nobody counts
	ended  chan struct{}
	next   *Epoch
}

// NewEpoch returns the first epoch of a stream, whose lines are counted in open.
func NewEpoch(open *Open) *Epoch {
	e := &Epoch{number: 1, open: open, ended: make(chan struct{})}
	e.tokens.Store(1)
	return e
}

// Close ends the counting and returns the epoch for the tokens that follow.
// The caller is parse, when a barrier leaves it.
func (e *Epoch) Close() *Epoch {
	e.next = NewEpoch(e.open)
	e.next.number = e.number + 1
	e.next.tokens.Add(1)
	e.done()
	return e.next
}

// Ended is closed when every token issued up to the end of this epoch is settled.
func (e *Epoch) Ended() <-chan struct{} { return e.ended }

func (e *Epoch) done() {
	for e != nil && e.tokens.Add(-1) == 0 {
		close(e.ended)
		e = e.next // its count included us
	}
}

// Barrier cuts the stream for a checkpoint. It travels the data lanes from parse to
// dispatch; each stage exports its state when it passes.
type Barrier struct {
	id      uint64
	epoch   *Epoch
	mu      sync.Mutex // guards exports and the closing of passed
	exports map[Stage]any
	passed  chan struct{}
}

// NewBarrier returns a barrier that has not entered the graph yet.
func NewBarrier(id uint64) *Barrier {
	return &Barrier{id: id, exports: make(map[Stage]any), passed: make(chan struct{})}
}

// ID is the number the barrier was made with.
func (b *Barrier) ID() uint64 { return b.id }

// Enter is called by parse before it sends the barrier on: tokens issued so far
// belong before it. It returns the epoch of the tokens behind the barrier.
func (b *Barrier) Enter(e *Epoch) *Epoch {
	b.epoch = e
	return e.Close()
}

// Export hands in a stage's state as it was when the barrier passed: an
// immutable view, nil for a stage without state. Exporting at dispatch ends the
// barrier's way.
func (b *Barrier) Export(s Stage, view any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if view != nil {
		b.exports[s] = view
	}
	if s == StageDispatch {
		select {
		case <-b.passed:
		default:
			close(b.passed)
		}
	}
}

// Passed is closed when the barrier has reached its end and every export is in.
func (b *Barrier) Passed() <-chan struct{} { return b.passed }

// Exports are the views handed in so far.
func (b *Barrier) Exports() map[Stage]any {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.exports)
}

// Epoch is the number of the last epoch before the barrier: a line lies before it
// when parse took it in this epoch or an earlier one. It may be called once the
// barrier has Passed.
func (b *Barrier) Epoch() uint64 { return b.epoch.number }

// Released is closed when every token issued before the barrier is settled.
// It may be called once the barrier has Passed.
func (b *Barrier) Released() <-chan struct{} { return b.epoch.Ended() }
