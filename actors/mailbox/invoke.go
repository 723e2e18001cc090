package mailbox

import (
	"fmt"
	"runtime/debug"

	"github.com/asynkron/protoactor-go/actor"
)

// relayed is a panic that was recovered somewhere below the actor's boundary and
// goes on with the stack of its origin.
type relayed struct {
	value any
	stack []byte
}

// Error is the original panic value as text, should it ever leave the package.
func (r relayed) Error() string { return fmt.Sprint(r.value) }

// invoke does one step. A panic in it ends here: the library restarts the actor,
// and the mailbox keeps what was in hand.
func (m *mailbox) invoke(s step) {
	defer func() {
		if v := recover(); v != nil {
			m.failed(s, v)
		}
	}()
	switch s.kind {
	case stepSystem:
		m.invokeSystem(s.message)
	case stepFlush:
		s.message.(outboxState).resume()
		return
	case stepDrained:
		m.stop()
		return
	case stepLifecycle, stepControl:
		m.invoker.InvokeUserMessage(s.env)
	case stepTick:
		m.invoker.InvokeUserMessage(Tick{})
	case stepCompletion:
		m.cell.pool.finish(s.message.(*completion))
	case stepOutcome:
		m.invokeOutcome()
	case stepData:
		m.cell.lane.deliver(m.invoker)
	case stepDrain:
		m.invokeDrain()
	}
	m.settle()
}

// settle ends a step that returned: its outgoing elements are sent.
func (m *mailbox) settle() {
	for _, o := range m.cell.outboxes {
		o.commit()
		o.flush()
	}
}

// commit makes the outgoing elements pushed so far survive a panic.
func (m *mailbox) commit() {
	for _, o := range m.cell.outboxes {
		o.commit()
	}
}

func (m *mailbox) invokeSystem(message any) {
	switch message.(type) {
	case *actor.SuspendMailbox:
		m.setSuspended(true)
	case *actor.ResumeMailbox:
		m.setSuspended(false)
		m.cell.resumed()
	default:
		m.invoker.InvokeSystemMessage(message)
		if _, ok := message.(*actor.Stop); ok {
			m.close()
		}
	}
}

func (m *mailbox) setSuspended(to bool) {
	m.mu.Lock()
	m.suspended = to
	m.mu.Unlock()
}

// invokeOutcome gives the actor what a worker returned. It is forgotten when the
// actor has received it without a panic.
func (m *mailbox) invokeOutcome() {
	ready := &m.cell.pool.ready
	m.invoker.InvokeUserMessage(*ready.at(0))
	ready.pop()
}

// failed is the actor's boundary: it records the panic, takes back what the
// broken step pushed, answers a request, and leaves the rest to the supervisor.
func (m *mailbox) failed(s step, value any) {
	stack := debug.Stack()
	if r, ok := value.(relayed); ok {
		value, stack = r.value, r.stack
	}
	for _, o := range m.cell.outboxes {
		o.rollback()
	}
	if m.cell.lane != nil {
		m.cell.lane.restore()
	}
	m.cell.panicked(value, stack)
	switch s.kind {
	case stepControl, stepLifecycle:
		m.refuse(s.env, ErrPanicked)
	case stepDrain:
		m.mu.Lock()
		m.drain.delivered = true
		m.mu.Unlock()
	}
	var message any
	if s.env != nil {
		message = s.env.Message
	}
	m.invoker.EscalateFailure(value, message)
}
