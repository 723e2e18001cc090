package sink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/sluicehq/sluice/graph"
)

// Delivery is an item on its way through one sink. Its progress survives every
// failed attempt: a message is never written again once it is confirmed.
type Delivery[T any] struct {
	Item     T
	Messages []graph.Message
	Next     int // the messages before it are confirmed or parked
	ended    bool
}

// outcomes is where a retrier reports what became of its items. Each item ends
// in exactly one call of done or failed; parked comes before that, for single
// messages of it. Next of the delivery is the message in question.
type outcomes[T any] struct {
	done    func(ds []Delivery[T]) // neighbours
	parked  func(d *Delivery[T], attempts int, err error)
	failed  func(d *Delivery[T], attempts int, err error)
	retried func(attempt int, err error)
	partial func(err error) // all was confirmed, with a remark
	panics  func(text string, stack []byte)
}

// retrier takes batches through a transport: it keeps order, retries, and gives
// up. It waits, so it runs in the sink's worker and not in a step of its actor.
type retrier[T any] struct {
	transport Transport
	retry     Retry
	whole     bool // batches are written as a unit, else item by item
	most      int  // items of a unit; 0 for any number
	report    outcomes[T]
	messages  []graph.Message // of the attempt in hand
	joined    []graph.Message // memory for those of several items
	begun     int             // messages of the batch that are confirmed, before its items are told apart
	late      atomic.Int64    // items given up because the drain was over
	state     atomic.Int32
}

// A retrier that writes when the drain is over can be left alone with its
// transport, in case that never returns: what it held is then somebody else's.
const (
	atWork = iota
	writing
	abandoned
)

// errAbandoned ends a retrier that was abandoned while it was writing.
var errAbandoned = errors.New("retrier abandoned")

// abandon takes batch away from a retrier that is writing, and gives it up. The
// retrier never touches it again, and reports nothing more.
func (c *retrier[T]) abandon(batch func() []Delivery[T]) {
	if !c.state.CompareAndSwap(writing, abandoned) {
		return
	}
	left := batch()
	left = left[c.finish(left):]
	tried := min(1, len(left))
	if c.whole {
		tried = len(left)
	}
	c.end(left[:tried], 1, errDrainTimeout)
	c.end(left[tried:], 0, errDrainTimeout)
}

// deliver ends every item of batch, in order. When ctx ends the rest fails with
// errDrainTimeout, without further attempts. first is an attempt at the messages of a whole
// batch, if one was made: it is one of each unit, until there is progress. deliver reports
// false when the batch was abandoned meanwhile.
func (c *retrier[T]) deliver(ctx context.Context, batch []Delivery[T], first attempt) bool {
	if first.made {
		advance(batch, first.confirmed)
		batch = batch[c.finish(batch):]
	}
	for len(batch) > 0 {
		n := 1
		if c.whole {
			n = len(batch)
		}
		if c.most > 0 {
			n = min(n, c.most)
		}
		messages := 0
		for i := range batch[:n] {
			messages += len(batch[i].left())
		}
		end := c.unit(ctx, batch[:n], first)
		if end == takenAway {
			return false
		}
		batch, first = batch[n:], first.after(end, messages)
	}
	return true
}

// ending is how a unit has ended.
type ending int

const (
	over      ending = iota
	exhausted        // it was given up, and nothing of it was done before
	takenAway        // it was abandoned
)

// unit delivers items that are tried together. Attempts are those for the first item that is
// not done: a destination that makes progress is not given up.
func (c *retrier[T]) unit(ctx context.Context, unit []Delivery[T], first attempt) ending {
	attempt, panicked, end := 0, false, exhausted
	for ; ; first.made = false {
		tried := unit
		if panicked {
			tried = unit[:1] // alone, so that only the poisonous item suffers
		}
		var err error
		switch {
		case first.made:
			err = first.err
		case ctx.Err() != nil:
			c.giveUp(unit, attempt, errDrainTimeout)
			return over
		default:
			err = c.try(ctx, tried)
		}
		if errors.Is(err, errAbandoned) {
			return takenAway
		}
		if n := c.finish(unit); n > 0 {
			unit, attempt, panicked, end = unit[n:], 0, false, over
		}
		if len(unit) == 0 {
			return over
		}
		var poison *panicError
		isPanic := errors.As(err, &poison)
		switch {
		case err == nil:
			continue // the rest of a unit whose first item was tried alone
		case ctx.Err() != nil:
			attempt++ // the loop's head gives up what was not taken
			c.spare(unit, attempt, errors.Join(errDrainTimeout, err))
		case first.made && first.behind && !first.counts:
			continue
		case isPanic && !panicked:
			panicked = true
			continue
		case isPanic:
			c.giveUp(unit[:1], attempt+1, poison)
			unit, attempt, panicked, end = unit[1:], 0, false, over
		case IsPermanent(err):
			c.condemn(unit, attempt+1, err)
			attempt, end = 0, over
		case attempt == c.retry.Max:
			c.spare(unit, attempt+1, err)
			c.giveUp(unit[c.finish(unit):], attempt+1, err)
			return end
		case first.made && first.behind:
			attempt++ // the unit before has paused
		default:
			attempt++
			c.report.retried(attempt, err)
			sleep(ctx, c.retry.Delay(attempt, err))
		}
		if n := c.finish(unit); n > 0 {
			unit = unit[n:]
		}
		if len(unit) == 0 {
			return over
		}
	}
}

// forget lets go of the messages in hand, so that memory they lie in can be used again.
func (c *retrier[T]) forget() {
	clear(c.joined)
	c.messages = nil
}

// try offers what is left of the unit to the transport once, up to a message that
// could not be rendered. If that is the first, it is the outcome.
func (c *retrier[T]) try(ctx context.Context, unit []Delivery[T]) (err error) {
	c.forget()
	c.messages = c.joined[:0]
	if len(unit) == 1 {
		c.messages = unit[0].left()
	} else {
		for i := range unit {
			c.messages = append(c.messages, unit[i].left()...)
		}
		c.joined = c.messages
	}
	for i := range c.messages {
		if cause := c.messages[i].Err(); cause != nil && i == 0 {
			return renderError{cause}
		} else if cause != nil {
			c.messages = c.messages[:i]
			break
		}
	}
	confirmed, err := c.offer(ctx, nil)
	if !errors.Is(err, errAbandoned) {
		advance(unit, confirmed)
	}
	return err
}

// advance counts confirmed messages of a unit.
func advance[T any](unit []Delivery[T], confirmed int) {
	for i := range unit {
		n := min(confirmed, len(unit[i].left()))
		unit[i].Next += n
		confirmed -= n
	}
}

// offer has the transport write c.messages once. lines are their bodies, each with a line
// feed behind it, if they lie so.
func (c *retrier[T]) offer(ctx context.Context, lines []byte) (confirmed int, err error) {
	confirmed, err = c.write(ctx, lines)
	if !c.state.CompareAndSwap(writing, atWork) {
		return 0, errAbandoned
	}
	switch all := confirmed >= len(c.messages); {
	case err == nil && !all:
		err = io.ErrShortWrite
	case err != nil && all:
		c.report.partial(err)
		err = nil
	}
	return confirmed, err
}

// write has the transport write, and makes a panic of it an error.
func (c *retrier[T]) write(ctx context.Context, lines []byte) (confirmed int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{text: fmt.Sprint(p)}
			c.report.panics(fmt.Sprint(p), debug.Stack())
		}
	}()
	c.state.Store(writing)
	if w, ok := c.transport.(LineWriter); ok && lines != nil {
		return w.WriteLines(ctx, c.messages, lines)
	}
	return c.transport.Write(ctx, c.messages)
}

// finish reports the leading items that are complete.
func (c *retrier[T]) finish(unit []Delivery[T]) int {
	n, from := 0, 0 // of those to report
	for ; n < len(unit); n++ {
		d := &unit[n]
		if len(d.left()) > 0 && !d.ended {
			break
		}
		if d.ended {
			c.report.done(unit[from:n])
			from = n + 1
		}
		d.ended = true
	}
	c.report.done(unit[from:n])
	return n
}

// condemn gives up the messages that a permanent error is about: an item as a whole when
// they are all that is left of it, else message by message.
func (c *retrier[T]) condemn(unit []Delivery[T], attempts int, err error) {
	var about interface{ Messages() int }
	if !errors.As(err, &about) {
		c.park(&unit[0], attempts, err)
		return
	}
	for n := about.Messages(); n > 0 && len(unit) > 0; unit = unit[1:] {
		d := &unit[0]
		if left := len(d.left()); left <= n {
			c.giveUp(unit[:1], attempts, err)
			n -= left
			continue
		}
		for ; n > 0; n-- {
			c.park(d, attempts, err)
		}
	}
}

// spare ends the items of which the destination has confirmed messages behind the first
// one that it has not: only the others are given up.
func (c *retrier[T]) spare(unit []Delivery[T], attempts int, err error) {
	var some interface{ Confirmed(i int) bool }
	if !errors.As(err, &some) {
		return
	}
	for at := 0; len(unit) > 0; unit = unit[1:] {
		d := &unit[0]
		left, confirmed := len(d.left()), 0
		for i := range left {
			if some.Confirmed(at + i) {
				confirmed++
			}
		}
		for i := range left {
			switch {
			case confirmed == 0:
			case some.Confirmed(at + i):
				d.Next++
			default:
				c.park(d, attempts, err)
			}
		}
		switch {
		case confirmed == 0:
			c.giveUp(unit[:1], attempts, err)
		case confirmed < left && errors.Is(err, errDrainTimeout):
			c.late.Add(1)
		}
		at += left
	}
}

// park takes the message that can never be delivered out of its item.
func (c *retrier[T]) park(d *Delivery[T], attempts int, err error) {
	c.transport.Abandon()
	c.report.parked(d, attempts, err)
	d.Next++
}

func (c *retrier[T]) giveUp(unit []Delivery[T], attempts int, err error) {
	c.transport.Abandon()
	c.end(unit, attempts, err)
}

// end reports items that will not be tried again.
func (c *retrier[T]) end(unit []Delivery[T], attempts int, err error) {
	for i := range unit {
		if d := &unit[i]; !d.ended {
			d.ended = true
			if errors.Is(err, errDrainTimeout) {
				c.late.Add(1)
			}
			c.report.failed(d, attempts, err)
		}
	}
}

func (d *Delivery[T]) left() []graph.Message { return d.Messages[d.Next:] }

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
