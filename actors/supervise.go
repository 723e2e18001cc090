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
	reply chan<- error
}

// Receive spawns.
func (s *supervisor) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case spawn:
		_, err := c.SpawnNamed(m.props, m.name)
		m.reply <- err
	case *actor.Stopped:
		close(s.stopped)
	}
}

// strategy restarts one actor and leaves the others alone: after a back-off that
// doubles, and not at all once the budget is used up.
type strategy struct{ system *System }

var _ actor.SupervisorStrategy = strategy{}

// HandleFailure decides about an actor that panicked.
func (s strategy) HandleFailure(_ *actor.ActorSystem, parent actor.Supervisor, pid *actor.PID, _ *actor.RestartStatistics, _, _ any) {
	c := s.system.byPID(pid)
	if c == nil {
		parent.StopChildren(pid)
		return
	}
	delay, ok := c.charge(time.Now(), s.system.o.MaxRestarts, s.system.o.RestartWindow)
	if !ok {
		s.system.log.Error("actor suspended: restart budget used up", "actor", c.cell.Name(),
			"max_restarts", s.system.o.MaxRestarts, "window", s.system.o.RestartWindow)
		if s.system.o.OnSuspended != nil {
			s.system.o.OnSuspended(c.cell.Name())
		}
		return
	}
	c.schedule(delay, func() { parent.RestartChildren(pid) })
}
