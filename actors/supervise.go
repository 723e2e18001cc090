package actors

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

const (
	backoffFirst = 100 * time.Millisecond
	backoffMax   = 10 * time.Second
)

// supervisor is the parent of the actors of one kind. It has nothing to do but
// to spawn them; what happens after a panic is its strategy.
type supervisor struct{ stopped chan struct{} }

// spawn asks a supervisor for a child.
type spawn struct {
	props *actor.Props
	name  string
	reply chan<- spawned
}

type spawned struct {
	pid *actor.PID
	err error
}

// Receive spawns.
func (s *supervisor) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case spawn:
		pid, err := c.SpawnNamed(m.props, m.name)
		m.reply <- spawned{pid, err}
	case *actor.Stopped:
		close(s.stopped)
	}
}

// strategy restarts one actor and leaves the others alone: after a back-off that
// doubles, and not at all once the budget is used up.
type strategy struct{ system *System }

var _ actor.SupervisorStrategy = strategy{}

// HandleFailure decides about an actor that panicked.
func (s strategy) HandleFailure(_ *actor.ActorSystem, parent actor.Supervisor, child *actor.PID, _ *actor.RestartStatistics, _, _ any) {
	c := s.system.byPID(child)
	if c == nil {
		parent.StopChildren(child)
		return
	}
	delay, ok := c.life.charge(time.Now(), s.system.o.MaxRestarts, s.system.o.RestartWindow)
	if !ok {
		c.log.Error("actor suspended: restart budget used up", "actor", c.name,
			"max_restarts", s.system.o.MaxRestarts, "window", s.system.o.RestartWindow)
		if s.system.o.OnSuspended != nil {
			s.system.o.OnSuspended(c.name)
		}
		return
	}
	c.life.schedule(delay, func() { parent.RestartChildren(child) })
}

// charge takes a failure from the budget and returns the back-off, or false when
// there is none left.
func (l *lifeRecord) charge(now time.Time, budget int, window time.Duration) (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := l.failures[:0]
	for _, at := range l.failures {
		if now.Sub(at) < window {
			kept = append(kept, at)
		}
	}
	if len(kept) == 0 {
		l.delay = 0
	}
	l.failures = append(kept, now)
	if len(l.failures) > budget {
		l.state = StateSuspended
		return 0, false
	}
	l.delay = min(max(backoffFirst, 2*l.delay), backoffMax)
	return l.delay, true
}

func (l *lifeRecord) schedule(delay time.Duration, restart func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state == StateStopped {
		return
	}
	l.restart = time.AfterFunc(delay, restart)
}

// stop ends what is scheduled.
func (l *lifeRecord) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = StateStopped
	if l.restart != nil {
		l.restart.Stop()
	}
}

// panicked records a panic at the actor's boundary.
func (c *Cell) panicked(value any, stack []byte) {
	text := panicText(value)
	c.counters.restarts.Add(1)
	c.life.mu.Lock()
	c.life.state = StateRestarting
	c.life.broken = true
	c.life.suspect = c.life.suspect || c.guard.applying
	c.life.lastRestart = time.Now()
	c.life.lastError = panicText("panic: " + text)
	c.life.mu.Unlock()
	c.guard.applying = false
	c.log.Error("actor panicked", "actor", c.name, "panic", text, "stack", string(stack))
}

// incarnate makes an instance of the actor: the first one, or the one after a
// panic, which gets its state handed over.
func (c *Cell) incarnate(produce func(RestartState) actor.Actor) actor.Actor {
	c.life.mu.Lock()
	previous, suspect := c.life.instance, c.life.suspect
	export, age := c.life.export, time.Since(c.life.exported)
	c.life.mu.Unlock()
	var h RestartState
	if s, ok := previous.(Stateful); ok {
		switch {
		case !suspect:
			h.State = s.State()
		case export != nil:
			h.Export = export
			c.log.Warn("state replaced by the last save's", "actor", c.name, "age", age)
		default:
			c.log.Warn("state lost: it may have been half changed, and there is no save", "actor", c.name)
		}
	}
	instance := produce(h)
	c.life.mu.Lock()
	defer c.life.mu.Unlock()
	c.life.instance, c.life.broken, c.life.suspect = instance, false, false
	return instance
}

// resumed is called when the library lets a restarted actor go on.
func (c *Cell) resumed() {
	c.life.mu.Lock()
	if !c.life.broken && c.life.state == StateRestarting {
		c.life.state = StateRunning
	}
	c.life.mu.Unlock()
	if c.pool != nil {
		c.pool.resume()
	}
}
