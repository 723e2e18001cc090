package mailbox

import "time"

// followers is how many senders are usually served at once, at most.
const followers = 4

// Park leaves run with the lane until all of it is admitted. Waiters are served
// in order, each up to what fits.
func (l *Lane[T]) Park(run []T, admitted func()) (takeBack func() []T) {
	m := l.cell.box
	w := &waiter[T]{run: run, since: time.Now(), admitted: admitted}
	m.mu.Lock()
	l.waits++
	l.blocked.begin(w.since)
	for _, v := range run {
		units, _ := l.o.Size(v)
		l.parked += units
	}
	l.waiters.push(w)
	l.serve() // room may have appeared since the caller looked
	return func() []T { return l.takeBack(w) }
}

func (l *Lane[T]) takeBack(w *waiter[T]) []T {
	m := l.cell.box
	m.mu.Lock()
	if len(w.run) == 0 || w.gone {
		m.mu.Unlock()
		return nil
	}
	l.blocked.end(w.since)
	l.unpark(w.run)
	w.gone = true
	left := w.run
	l.serve() // somebody behind w may fit
	return left
}

// serve admits from waiting senders what fits, and ends the mailbox's critical section.
func (l *Lane[T]) serve() {
	var served [followers]func()
	admitted := l.followUp(served[:0])
	l.cell.box.wake()
	for _, f := range admitted {
		f()
	}
}

// followUp admits from waiting senders what fits, under the lock. The caller
// calls what it returns, appended to admitted, after unlocking.
func (l *Lane[T]) followUp(admitted []func()) []func() {
	for l.waiters.len() > 0 && !l.closed {
		w := *l.waiters.at(0)
		if !w.gone {
			n := l.admit(w.run)
			l.unpark(w.run[:n])
			w.run = w.run[n:]
			if len(w.run) > 0 {
				break
			}
			l.blocked.end(w.since)
			admitted = append(admitted, w.admitted)
		}
		l.waiters.pop()
	}
	return admitted
}

func (l *Lane[T]) unpark(run []T) {
	for _, v := range run {
		units, _ := l.o.Size(v)
		l.parked -= units
	}
}

// resize changes the capacity. Nothing is dropped: the depth stays above a
// smaller one until enough is worked off.
func (l *Lane[T]) resize(capacity int) {
	m := l.cell.box
	m.mu.Lock()
	l.capacity = capacity
	l.high = l.depth
	l.serve()
}

// closeLane refuses everything from now on; what was admitted stays.
func (l *Lane[T]) closeLane() {
	m := l.cell.box
	m.mu.Lock()
	l.closed = true
	m.wake()
}

// discard drops what waits and reports how many units that were.
func (l *Lane[T]) discard() int {
	m := l.cell.box
	m.mu.Lock()
	defer m.mu.Unlock()
	units := l.depth
	l.elements = queue[sized[T]]{}
	l.depth, l.bytes = 0, 0
	if l.lingering != nil {
		l.lingering.Stop()
		l.lingering = nil
	}
	return units
}

// Remaining takes everything out of the lane, the run in hand included. Only the
// actor may ask, when a Drain has Expired.
func (l *Lane[T]) Remaining() []T {
	left := l.run.rest()
	m := l.cell.box
	m.mu.Lock()
	defer m.mu.Unlock()
	for l.elements.len() > 0 {
		left = append(left, l.elements.pop().value)
	}
	l.depth, l.bytes = 0, 0
	return left
}

// blockedClock sums the time of overlapping waits without a list of them.
type blockedClock struct {
	ended time.Duration
	open  int
	epoch time.Time     // what offsets count from
	begun time.Duration // sum of the offsets at which open waits began
}

func (b *blockedClock) begin(at time.Time) {
	if b.epoch.IsZero() {
		b.epoch = at
	}
	b.open++
	b.begun += at.Sub(b.epoch)
}

func (b *blockedClock) end(begun time.Time) {
	b.open--
	b.begun -= begun.Sub(b.epoch)
	b.ended += time.Since(begun)
}

func (b *blockedClock) total() time.Duration {
	if b.open == 0 {
		return b.ended
	}
	return b.ended + time.Duration(b.open)*time.Since(b.epoch) - b.begun
}
