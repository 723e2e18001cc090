package actors

import (
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors/mailbox"
)

// RestartState is what a new instance of an actor starts with. Both fields are nil
// for the first instance, and for one that has to start empty.
type RestartState struct {
	State  any // what the previous instance returned from State, when it was left whole
	Export any // the actor's view in the save that is current, when the state was suspect
}

// Stateful is an actor whose state survives a panic that left it whole.
type Stateful interface {
	actor.Actor
	State() any
}

// errorLimit is the length of the text of a record's last error, in bytes.
const errorLimit = 512

// member is an actor of the system: its cell, and what the supervisor knows of its
// life.
type member struct {
	system *System
	cell   *mailbox.Cell
	pid    *actor.PID

	mu          sync.Mutex // guards the rest
	state       State
	broken      bool // panicked, and no new instance has replied since
	suspect     bool // the state at the last panic may be half changed
	restarts    int64
	lastRestart time.Time
	lastError   string
	failures    []time.Time // within the restart window
	delay       time.Duration
	restart     *time.Timer
	export      any // of the save that is current
	exported    time.Time
	instance    actor.Actor
}

var _ mailbox.Host = (*member)(nil)

func (m *member) suspended() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state == StateSuspended
}

// Panicked records a panic at the actor's boundary.
func (m *member) Panicked(p mailbox.Panic) {
	m.mu.Lock()
	m.restarts++
	m.state = StateRestarting
	m.broken = true
	m.suspect = m.suspect || p.Suspect
	m.lastRestart = time.Now()
	text := "panic: " + p.Text
	m.lastError = text[:min(len(text), errorLimit)]
	m.mu.Unlock()
	m.system.log.Error("actor panicked", "actor", m.cell.Name(), "panic", p.Text, "stack", string(p.Stack))
}

// Resumed notes that a restarted actor goes on.
func (m *member) Resumed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.broken && m.state == StateRestarting {
		m.state = StateRunning
	}
}

// charge takes a failure from the budget and returns the back-off, or false when
// there is none left.
func (m *member) charge(now time.Time, budget int, window time.Duration) (time.Duration, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	kept := m.failures[:0]
	for _, at := range m.failures {
		if now.Sub(at) < window {
			kept = append(kept, at)
		}
	}
	if len(kept) == 0 {
		m.delay = 0
	}
	m.failures = append(kept, now)
	if len(m.failures) > budget {
		m.state = StateSuspended
		return 0, false
	}
	m.delay = min(max(backoffFirst, 2*m.delay), backoffMax)
	return m.delay, true
}

func (m *member) schedule(delay time.Duration, restart func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state == StateStopped {
		return
	}
	m.restart = time.AfterFunc(delay, restart)
}

// Closed ends what is scheduled.
func (m *member) Closed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state = StateStopped
	if m.restart != nil {
		m.restart.Stop()
	}
}

// incarnate makes an instance of the actor: the first one, or the one after a
// panic, which gets its state handed over.
func (m *member) incarnate(produce func(RestartState) actor.Actor) actor.Actor {
	m.mu.Lock()
	previous, suspect := m.instance, m.suspect
	export, age := m.export, time.Since(m.exported)
	m.mu.Unlock()
	var h RestartState
	if s, ok := previous.(Stateful); ok {
		switch {
		case !suspect:
			h.State = s.State()
		case export != nil:
			h.Export = export
			m.system.log.Warn("state replaced by the last save's", "actor", m.cell.Name(), "age", age)
		default:
			m.system.log.Warn("state lost: it may have been half changed, and there is no save", "actor", m.cell.Name())
		}
	}
	instance := produce(h)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.instance, m.broken, m.suspect = instance, false, false
	return instance
}
