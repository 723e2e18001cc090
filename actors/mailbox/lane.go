package mailbox

import (
	"context"
	"math"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// LaneOptions describe a data lane.
type LaneOptions[T any] struct {
	Capacity  int                        // units, at least 1
	Bytes     int                        // 0: not bounded in bytes
	Size      func(T) (units, bytes int) // nil: one unit, no bytes
	Join      int                        // units joined into one run at most; 0: each element is a run
	JoinBytes int                        // bytes joined into one run at most; 0: any number
	Linger    time.Duration              // how long a run that is not full waits for more; 0: never
}

// laneState is what a mailbox needs of its lane, whatever the element. ready and
// stats are called under the mailbox's lock, the others are not.
type laneState interface {
	ready() bool
	deliver(actor.MessageInvoker)
	restore()
	commitTaken()
	closeLane()
	discard() int
	resize(int)
	stats() LaneStats
}

// LaneStats are the figures of a lane at one moment.
type LaneStats struct {
	Capacity      int
	Depth         int           // units admitted and not taken by the actor yet
	HighWatermark int           // highest depth since the start or the last resize
	Parked        int           // units of senders that wait for room
	Blocked       time.Duration // time senders spent waiting, those that still wait included
	Waits         int64         // how many times a sender had to wait
}

// Lane is the data lane of an actor: FIFO, bounded in units and in bytes. An
// element larger than the whole lane is admitted when the lane is empty.
type Lane[T any] struct {
	cell *Cell
	o    LaneOptions[T]
	run  Run[T]

	// Guarded by the mailbox's mutex.
	capacity    int
	depth       int
	bytes       int
	high        int
	elements    queue[sized[T]]
	waiters     queue[*waiter[T]]
	parked      int
	closed      bool
	blocked     blockedClock
	waits       int64
	lingerUntil time.Time
	lingering   *time.Timer
}

var _ Outlet[int] = (*Lane[int])(nil)

type sized[T any] struct {
	value        T
	units, bytes int
}

// waiter is a sender whose run did not fit.
type waiter[T any] struct {
	run      []T // what is not admitted yet
	since    time.Time
	admitted func()
	gone     bool // taken back
}

// NewLane gives the cell its data lane.
func NewLane[T any](c *Cell, o LaneOptions[T]) *Lane[T] {
	if o.Size == nil {
		o.Size = func(T) (int, int) { return 1, 0 }
	}
	l := &Lane[T]{cell: c, o: o, capacity: max(1, o.Capacity)}
	l.run.lane = l
	c.lane = l
	return l
}

// TryPut admits the leading part of run that fits, without waiting.
func (l *Lane[T]) TryPut(run []T) int {
	m := l.cell.box
	m.mu.Lock()
	if l.waiters.len() > 0 || l.closed {
		m.mu.Unlock()
		return 0
	}
	n := l.admit(run)
	if n == 0 {
		m.mu.Unlock()
		return 0
	}
	m.wake()
	return n
}

// Put admits run, waiting for room until ctx is done or the lane closes. It
// returns how many elements were admitted, which is the leading part, and why it
// stopped: ctx's error or ErrStopped. The others are never processed.
func (l *Lane[T]) Put(ctx context.Context, run []T) (admitted int, err error) {
	admitted = l.TryPut(run)
	if admitted == len(run) {
		return admitted, nil
	}
	if l.Closed() {
		return admitted, &Refusal{Actor: l.cell.name, Reason: ErrStopped}
	}
	n, err := l.Queue(run[admitted:])(ctx)
	return admitted + n, err
}

// Queue gives run its place behind everybody who waits for room, at once. The returned
// function, which has to be called, waits like Put. So a sender that owes others an
// order keeps it without making them wait.
func (l *Lane[T]) Queue(run []T) (wait func(ctx context.Context) (admitted int, err error)) {
	in := make(chan struct{})
	takeBack := l.Park(run, func() { close(in) })
	return func(ctx context.Context) (admitted int, err error) {
		select {
		case <-in:
			return len(run), nil
		case <-ctx.Done():
			err = ctx.Err()
		case <-l.cell.box.drain.refusing:
			err = &Refusal{Actor: l.cell.name, Reason: ErrStopped}
		}
		left := len(takeBack())
		if left == 0 {
			return len(run), nil // it was admitted meanwhile
		}
		return len(run) - left, err
	}
}

// Closed reports whether the lane takes nothing any more.
func (l *Lane[T]) Closed() bool {
	l.cell.box.mu.Lock()
	defer l.cell.box.mu.Unlock()
	return l.closed
}

// Available is how many units and bytes fit in at this moment. A single sender can
// count on them until the lane is made smaller.
func (l *Lane[T]) Available() (units, bytes int) {
	l.cell.box.mu.Lock()
	defer l.cell.box.mu.Unlock()
	if l.waiters.len() > 0 || l.closed {
		return 0, 0
	}
	units, bytes = max(0, l.capacity-l.depth), math.MaxInt
	if l.o.Bytes > 0 {
		bytes = max(0, l.o.Bytes-l.bytes)
	}
	return units, bytes
}

// Stats are the lane's figures.
func (l *Lane[T]) Stats() LaneStats {
	l.cell.box.mu.Lock()
	defer l.cell.box.mu.Unlock()
	return l.stats()
}

func (l *Lane[T]) stats() LaneStats {
	return LaneStats{
		Capacity: l.capacity, Depth: l.depth, HighWatermark: l.high,
		Parked: l.parked, Blocked: l.blocked.total(), Waits: l.waits,
	}
}

// fits reports whether an element may come in now.
func (l *Lane[T]) fits(units, bytes int) bool {
	if l.elements.len() == 0 {
		return true
	}
	return l.depth+units <= l.capacity && (l.o.Bytes <= 0 || l.bytes+bytes <= l.o.Bytes)
}

// admit takes in the leading part of run that fits.
func (l *Lane[T]) admit(run []T) int {
	for i := range run {
		units, bytes := l.o.Size(run[i])
		if !l.fits(units, bytes) {
			return i
		}
		l.depth += units
		l.bytes += bytes
		l.high = max(l.high, l.depth)
		slot := l.elements.grow()
		slot.value, slot.units, slot.bytes = run[i], units, bytes
	}
	return len(run)
}

// ready reports whether there is a run to deliver, under the mailbox's lock.
func (l *Lane[T]) ready() bool {
	if l.run.waiting() {
		return true
	}
	if l.elements.len() == 0 {
		return false
	}
	full := l.depth >= l.join() || l.o.JoinBytes > 0 && l.bytes >= l.o.JoinBytes
	return l.o.Linger <= 0 || full || l.closed || l.lingered()
}

// lingered reports whether the first element of the next run has waited long
// enough, and arranges to be asked again when it has not.
func (l *Lane[T]) lingered() bool {
	now := time.Now()
	if l.lingerUntil.IsZero() {
		l.lingerUntil = now.Add(l.o.Linger)
	}
	wait := l.lingerUntil.Sub(now)
	if wait <= 0 {
		return true
	}
	if l.lingering == nil {
		l.lingering = time.AfterFunc(wait, func() {
			l.cell.box.mu.Lock()
			l.lingering = nil
			l.cell.box.wake()
		})
	}
	return false
}

func (l *Lane[T]) join() int { return min(l.o.Join, l.capacity) }

// take moves the next run into hand and lets waiting senders follow when there is room.
func (l *Lane[T]) take() {
	m := l.cell.box
	m.mu.Lock()
	l.lingerUntil = time.Time{}
	limit, units, bytes := l.join(), 0, 0
	l.run.loaded = true
	for l.elements.len() > 0 {
		next := l.elements.at(0)
		if units > 0 && (units+next.units > limit || l.o.JoinBytes > 0 && bytes+next.bytes > l.o.JoinBytes) {
			break
		}
		units += next.units
		bytes += next.bytes
		l.run.items = append(l.run.items, next.value)
		l.run.sizes = append(l.run.sizes, next.units)
		l.elements.drop()
	}
	l.depth -= units
	l.bytes -= bytes
	var served [followers]func()
	admitted := served[:0]
	if l.roomy() {
		admitted = l.followUp(admitted)
	}
	m.mu.Unlock()
	for _, f := range admitted {
		f()
	}
}

// wave is how many runs may be taken before senders who wait are let in.
const wave = 8

// roomy reports whether there is room for senders who wait. They are let in together when a
// quarter of the lane is free, or room for several runs: a lane that stays full behind a slow
// actor would else wake every stage before it for each run.
func (l *Lane[T]) roomy() bool {
	return l.capacity-l.depth >= min(l.capacity/4, wave*l.join())
}

// deliver invokes the actor with the run in hand.
func (l *Lane[T]) deliver(to actor.MessageInvoker) {
	if !l.run.waiting() {
		l.take()
	}
	to.InvokeUserMessage(&l.run)
	l.run.returned()
}

func (l *Lane[T]) restore()     { l.run.restore() }
func (l *Lane[T]) commitTaken() { l.run.commitTaken() }
