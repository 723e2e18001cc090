package mailbox

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

const (
	controlCapacity = 64 // messages
	controlStreak   = 16 // control messages in a row while data waits and could proceed

	// turn is how long an actor with work in its lane keeps a processor. The
	// scheduler takes it away after ten milliseconds only, in which the rest of the
	// graph would stand still; who gives it back by itself goes to the end of the
	// queue.
	turn = 200 * time.Microsecond
)

// mailbox implements the library's Mailbox: several lanes behind one mutex, and
// a goroutine only while there is something to deliver.
//
// The fields below mu are guarded by it. Everything an actor's steps touch
// (outboxes, the run in hand, the pool) belongs to the goroutine that processes,
// of which there is at most one at a time.
type mailbox struct {
	cell       *Cell
	invoker    actor.MessageInvoker
	dispatcher actor.Dispatcher
	work       func() // process, as a value that is made once

	// urgent tells a step that something waits which goes before data.
	urgent atomic.Bool

	mu          sync.Mutex
	started     bool
	processing  bool
	suspended   bool // by the library, between a panic and the restart
	closed      bool
	holds       int         // reasons not to deliver data
	streak      int         // control messages since the last step of data
	ticker      *time.Timer // posts ticks; nil without
	ticking     bool
	rest        restState // of a tick
	system      queue[any]
	lifecycle   queue[*actor.MessageEnvelope]
	completions queue[*completion]
	control     queue[*actor.MessageEnvelope]
	released    queue[outboxState] // outboxes whose parked run is in
	drain       drainState
}

func newMailbox(c *Cell) *mailbox {
	m := &mailbox{cell: c, drain: drainState{done: make(chan struct{}), refusing: make(chan struct{})}}
	m.work = m.process
	return m
}

// RegisterHandlers connects the mailbox to its actor.
func (m *mailbox) RegisterHandlers(invoker actor.MessageInvoker, d actor.Dispatcher) {
	m.invoker, m.dispatcher = invoker, d
}

// Start lets the mailbox deliver. Whatever was put before waits until here.
func (m *mailbox) Start() {
	m.mu.Lock()
	m.started = true
	if m.cell.tick > 0 && !m.closed {
		m.ticker = time.AfterFunc(m.cell.tick, m.postTick)
	}
	m.wake()
}

// UserMessageCount is the number of waiting messages outside the data lane.
func (m *mailbox) UserMessageCount() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lifecycle.len() + m.completions.len() + m.control.len()
}

// PostSystemMessage takes a message of the library's own.
func (m *mailbox) PostSystemMessage(message any) {
	m.mu.Lock()
	m.system.push(message)
	m.alert()
}

// PostUserMessage takes a request or a life-cycle message. A request that finds
// the control lane full, or the actor stopped, is answered with a refusal.
func (m *mailbox) PostUserMessage(message any) {
	env := actor.WrapEnvelope(message)
	_, cycle := env.Message.(Lifecycle)
	if q, ok := env.Message.(*question); ok {
		_, cycle = q.message.(Lifecycle)
	}
	m.mu.Lock()
	switch {
	case m.closed:
		m.mu.Unlock()
		m.refuse(env, ErrStopped)
	case cycle:
		m.lifecycle.push(env)
		m.alert()
	case m.control.len() >= controlCapacity:
		m.mu.Unlock()
		m.refuse(env, ErrFull)
	default:
		m.control.push(env)
		m.alert()
	}
}

// refuse answers a request that will not be delivered.
func (m *mailbox) refuse(env *actor.MessageEnvelope, reason error) {
	if env.Sender != nil && m.cell.runtime.Library != nil {
		m.cell.runtime.Library.Root.Send(env.Sender, &Refusal{Actor: m.cell.name, Reason: reason})
	}
}

func (m *mailbox) postTick() {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return
	}
	m.ticker.Reset(m.cell.tick)
	m.ticking = true
	m.alert()
}

// restState says what comes before the next piece of a tick that was not through.
type restState uint8

const (
	restNone   restState = iota
	restBehind           // a step of data, if there is any
	restNext             // nothing: its turn has come
)

// resumeTick has the tick in hand come again behind the next step of data.
func (m *mailbox) resumeTick() {
	m.mu.Lock()
	m.rest = restBehind
	m.mu.Unlock()
}

func (m *mailbox) complete(c *completion) {
	m.mu.Lock()
	m.completions.push(c)
	m.alert()
}

func (m *mailbox) hold() {
	m.mu.Lock()
	m.holds++
	m.mu.Unlock()
}

func (m *mailbox) release() {
	m.mu.Lock()
	m.holds--
	m.wake()
}

// releaseOutbox is called from the successor's goroutine when it has admitted
// the outbox's parked run.
func (m *mailbox) releaseOutbox(o outboxState) {
	m.mu.Lock()
	m.released.push(o)
	m.wake()
}

// alert is wake after something was posted that goes before data.
func (m *mailbox) alert() {
	m.urgent.Store(true)
	m.wake()
}

// wake starts processing if it should and does not run, and unlocks mu.
func (m *mailbox) wake() {
	begin := m.started && !m.processing
	if begin {
		m.processing = true
	}
	m.mu.Unlock()
	if begin {
		m.dispatcher.Schedule(m.work)
	}
}

// step is one thing to do.
type step struct {
	kind    stepKind
	message any
	env     *actor.MessageEnvelope
}

type stepKind uint8

const (
	stepNone stepKind = iota
	stepSystem
	stepFlush
	stepLifecycle
	stepCompletion // a worker is through
	stepOutcome    // the actor gets what it returned
	stepControl
	stepTick
	stepData
	stepDrain
	stepDrained
)

// process delivers until nothing is left that may be delivered now.
func (m *mailbox) process() {
	slot, began := m.cell.busy.begin()
	for {
		s := m.next()
		if s.kind == stepNone {
			break
		}
		m.invoke(s)
		if (s.kind == stepData || s.kind == stepOutcome) && m.cell.busy.since(began) >= turn {
			m.cell.busy.end(slot)
			runtime.Gosched()
			slot, began = m.cell.busy.begin()
		}
	}
	m.cell.busy.end(slot)
}

// next decides what comes first. Without anything it ends the processing, in the
// same critical section, so that whoever posts next starts it again.
func (m *mailbox) next() step {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.system.len() > 0 {
		return step{kind: stepSystem, message: m.system.pop()}
	}
	if m.released.len() > 0 {
		return step{kind: stepFlush, message: m.released.pop()}
	}
	if m.suspended || m.closed {
		m.processing = false
		return step{}
	}
	for m.lifecycle.len() > 0 {
		if env := m.lifecycle.pop(); unwrap(env) {
			return step{kind: stepLifecycle, env: env}
		}
	}
	if m.cell.pool != nil && m.cell.pool.ready.len() > 0 {
		return step{kind: stepOutcome}
	}
	if m.completions.len() > 0 {
		return step{kind: stepCompletion, message: m.completions.pop()}
	}
	data := m.holds == 0 && m.cell.lane != nil && m.cell.lane.ready()
	if s := m.nextControl(data); s.kind != stepNone {
		return s
	}
	if data {
		if m.rest == restBehind {
			m.rest = restNext
		}
		m.streak = 0
		m.urgent.Store(m.control.len() > 0 || m.ticking)
		return step{kind: stepData}
	}
	m.urgent.Store(false)
	if s := m.nextDrain(); s.kind != stepNone {
		return s
	}
	m.processing = false
	return step{}
}

// nextControl returns the next request or tick, unless it is the data's turn.
func (m *mailbox) nextControl(data bool) step {
	if data && m.streak >= controlStreak {
		return step{}
	}
	for m.control.len() > 0 {
		if env := m.control.pop(); unwrap(env) {
			m.streak++
			return step{kind: stepControl, env: env}
		}
	}
	if m.holds == 0 && (m.ticking || m.rest == restNext || m.rest == restBehind && !data) {
		m.ticking, m.rest = false, restNone
		m.streak++
		return step{kind: stepTick}
	}
	return step{}
}

// unwrap takes the request out of its question, unless the deadline has passed.
func unwrap(env *actor.MessageEnvelope) bool {
	q, ok := env.Message.(*question)
	if !ok {
		return true
	}
	if !q.take() {
		return false
	}
	env.Message = q.message
	return true
}
