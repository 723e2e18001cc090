package mailbox

import "github.com/asynkron/protoactor-go/actor"

// Drain is the last message of an actor: its predecessors have stopped, its lane
// is empty and its workers are idle. The reply is the actor's final export; an actor
// that has nothing to save does not reply. What it still pushes is delivered before
// it stops.
type Drain struct {
	Expired bool // the deadline passed first: what the lane still holds is lost unless it is taken now
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

// Draining is the end of an actor that is under way.
type Draining struct {
	cell    *Cell
	answers inbox
	self    *actor.PID
	done    <-chan struct{}
}

// Drain closes the data lane and has the actor end when it is through. The caller
// calls Finish in any case.
func (c *Cell) Drain() *Draining {
	d := &Draining{cell: c}
	d.answers, d.self = c.newInbox()
	d.done = c.box.beginDrain(d.self)
	return d
}

// Done is closed when the actor is through and all that it pushed has left.
func (d *Draining) Done() <-chan struct{} { return d.done }

// Expire makes the actor end as it is.
func (d *Draining) Expire() { d.cell.box.expireDrain() }

// Finish stops the actor. It returns the final export, nil without one, and how
// many units were left in the lane.
func (d *Draining) Finish() (export any, lost int) {
	c := d.cell
	defer c.removeInbox(d.self)
	if c.lane != nil {
		lost = c.lane.discard()
	}
	c.box.close()
	c.runtime.Library.Root.Stop(c.runtime.PID)
	select {
	case answer := <-d.answers:
		switch answer.(type) {
		case error, *actor.DeadLetterResponse:
		default:
			export = answer
		}
	default:
	}
	return export, lost
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
	if m.cell.pool != nil {
		m.cell.pool.cancel()
	}
	if m.cell.runtime.Host != nil {
		m.cell.runtime.Host.Closed()
	}
	m.mu.Lock()
	if !m.drain.asked {
		m.drain.asked = true
		close(m.drain.refusing)
	}
	m.closed = true
	if m.ticker != nil {
		m.ticker.Stop()
	}
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
