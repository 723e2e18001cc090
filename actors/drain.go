package actors

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

const (
	// drainGrace is how long an actor may take after the deadline to put aside what
	// it still holds.
	drainGrace = time.Second
	// stageGrace is the same for a stage, which has nowhere to put it, and sinkGrace
	// for a sink. What is left of the grace belongs to the dead-letter queue.
	stageGrace = drainGrace / 2
	sinkGrace  = drainGrace * 9 / 10
	// handOver is how long sinks take, after the deadline, what the last stage is
	// just about to give them.
	handOver = drainGrace / 20
)

// Drained is how an actor ended.
type Drained struct {
	Actor   string
	Export  any  // its final export, nil without state and when it was abandoned
	Expired bool // the deadline passed before it was through
	Lost    int  // units left in its lane, which are not acknowledged
}

// drainState is the mailbox's part of a drain, guarded by its mutex.
type drainState struct {
	asked     bool
	expired   bool
	delivered bool
	ended     bool
	reply     *actor.PID
	done      chan struct{} // closed when the actor is through
	refusing  chan struct{} // closed when the lane takes nothing any more
}

// Drain stops stages in graph order, then the sinks side by side, then the
// dead-letter queue: each when its predecessors have stopped, its lane is empty
// and its workers are idle. When ctx ends, whoever is left stops side by side, so
// that a stage that is stuck does not take from the sinks the second in which they
// put aside what they hold; whoever is not through after that is abandoned. Nothing
// gets past a suspended stage, so the stages up to it do not wait for ctx. Control
// actors are left running.
func (s *System) Drain(ctx context.Context) []Drained {
	var stages, sinks, dlq []*Cell
	blocked := -1
	for _, c := range s.listed() {
		switch {
		case c.kind == KindStage:
			if c.suspended() {
				blocked = len(stages)
			}
			stages = append(stages, c)
		case c.name == NameDLQ:
			dlq = append(dlq, c)
		case c.kind == KindSink:
			sinks = append(sinks, c)
		}
	}
	limits, release := newDrainLimits(ctx)
	defer release()
	ends := make([]Drained, len(stages)+len(sinks))
	var wg sync.WaitGroup
	drain := func(i int, c *Cell, turn <-chan struct{}, late time.Duration, l drainLimits) (ended <-chan struct{}) {
		done := make(chan struct{})
		wg.Go(func() {
			defer close(done)
			select {
			case <-turn:
			case <-l.soft.Done():
				select {
				case <-turn:
				case <-time.After(late):
				}
			}
			ends[i] = c.drain(l)
		})
		return done
	}
	before := make(chan struct{})
	close(before)
	var turn <-chan struct{} = before
	for i, c := range stages {
		l := limits
		if i <= blocked {
			l = limits.now()
		}
		l.grace = stageGrace
		turn = drain(i, c, turn, 0, l)
	}
	l := limits
	l.grace = sinkGrace
	for i, c := range sinks {
		drain(len(stages)+i, c, turn, handOver, l)
	}
	wg.Wait()
	for _, c := range dlq { // it has the rest of the grace to write what the sinks have just handed in
		ends = append(ends, c.drain(drainLimits{soft: limits.hard, hard: limits.hard}))
	}
	return ends
}

// DrainActor stops one actor, which nobody sends data to any more.
func (s *System) DrainActor(ctx context.Context, name string) (Drained, error) {
	c := s.byName(name)
	if c == nil {
		return Drained{}, fmt.Errorf("%w: %s", ErrNoActor, name)
	}
	limits, release := newDrainLimits(ctx)
	defer release()
	return c.drain(limits), nil
}

// drainLimits are the deadline of a drain and its end, a grace later.
type drainLimits struct {
	soft, hard context.Context
	grace      time.Duration // of one actor, within the end
}

func newDrainLimits(ctx context.Context) (l drainLimits, release func()) {
	hard, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(drainGrace):
			cancel()
		case <-hard.Done():
		}
	})
	return drainLimits{soft: ctx, hard: hard, grace: drainGrace}, func() { stop(); cancel() }
}

// now is the same drain for an actor that cannot get rid of what it has.
func (l drainLimits) now() drainLimits {
	over, cancel := context.WithCancel(l.soft)
	cancel()
	return drainLimits{soft: over, hard: l.hard, grace: l.grace}
}

func (c *Cell) suspended() bool {
	c.life.mu.Lock()
	defer c.life.mu.Unlock()
	return c.life.state == StateSuspended
}

// drain asks the actor to end and waits for it.
func (c *Cell) drain(l drainLimits) Drained {
	d := Drained{Actor: c.name}
	answers, self := c.system.newInbox()
	defer c.system.removeInbox(self)
	done := c.box.beginDrain(self)
	select {
	case <-done:
	case <-l.soft.Done():
		d.Expired = true
		c.box.expireDrain()
		if !c.suspended() {
			select {
			case <-done:
			case <-l.hard.Done():
			case <-time.After(l.grace):
			}
		}
	}
	if c.lane != nil {
		d.Lost = c.lane.discard()
	}
	c.box.close()
	c.system.root().Stop(c.pid)
	select {
	case answer := <-answers:
		switch answer.(type) {
		case NoExport, error, *actor.DeadLetterResponse:
		default:
			d.Export = answer
		}
	default:
	}
	return d
}

// beginDrain closes the data lane and has the actor end when it is through.
func (m *mailbox) beginDrain(reply *actor.PID) (done <-chan struct{}) {
	if m.cell.lane != nil {
		m.cell.lane.closeLane()
	}
	m.mu.Lock()
	if !m.drain.asked {
		m.drain.asked, m.drain.reply = true, reply
		close(m.drain.refusing)
	}
	done = m.drain.done
	m.alert()
	return done
}

// expireDrain makes the actor end as it is.
func (m *mailbox) expireDrain() {
	if m.cell.pool != nil {
		m.cell.pool.cancel()
	}
	m.mu.Lock()
	m.drain.expired = true
	m.alert()
}

// nextDrain decides, when nothing else can be done, whether the actor is
// through: first it gets the message, then what it pushed has to leave.
func (m *mailbox) nextDrain() step {
	d := &m.drain
	if !d.asked || d.ended {
		return step{}
	}
	working := m.completions.len() > 0 || (m.cell.pool != nil && !m.cell.pool.idle())
	waiting := m.holds > 0 || (m.cell.lane != nil && m.cell.lane.ready())
	switch {
	case !d.delivered && (d.expired || !working && !waiting):
		return step{kind: stepDrain}
	case d.delivered && !working && m.cell.sent():
		d.ended = true
		return step{kind: stepDrained}
	}
	return step{}
}

// sent reports whether everything that was pushed has left.
func (c *Cell) sent() bool {
	for _, o := range c.outboxes {
		if !o.idle() {
			return false
		}
	}
	return true
}

func (m *mailbox) invokeDrain() {
	m.mu.Lock()
	expired, reply := m.drain.expired, m.drain.reply
	m.mu.Unlock()
	m.invoker.InvokeUserMessage(&actor.MessageEnvelope{Message: Drain{Expired: expired}, Sender: reply})
	m.mu.Lock()
	m.drain.delivered = true
	m.mu.Unlock()
}

// stop ends the drain.
func (m *mailbox) stop() { close(m.drain.done) }

// close refuses everything from now on and answers the requests that wait.
func (m *mailbox) close() {
	if m.cell.lane != nil {
		m.cell.lane.closeLane()
	}
	if m.cell.tick != nil {
		m.cell.tick.stop()
	}
	if m.cell.pool != nil {
		m.cell.pool.cancel()
	}
	m.cell.life.stop()
	m.mu.Lock()
	if !m.drain.asked {
		m.drain.asked = true
		close(m.drain.refusing)
	}
	m.closed = true
	var waiting []*actor.MessageEnvelope
	for m.lifecycle.len() > 0 {
		waiting = append(waiting, m.lifecycle.pop())
	}
	for m.control.len() > 0 {
		waiting = append(waiting, m.control.pop())
	}
	m.wake()
	for _, env := range waiting {
		m.refuse(env, ErrStopped)
	}
}
