package actors

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// deadLetterThrottle is how long the library's goroutine for a dead letter lives.
const deadLetterThrottle = time.Millisecond

// newLibrary starts the actor library with our logger: what it reports at info
// level is detail to an operator, and dead letters are reported by observe.
func newLibrary(log *slog.Logger) *actor.ActorSystem {
	quiet := slog.New(demoted{log.Handler()})
	return actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }),
		actor.WithDeadLetterRequestLogging(false),
		actor.WithDeadLetterThrottleCount(0),
		actor.WithDeadLetterThrottleInterval(deadLetterThrottle),
	)
}

// demoted lowers records below warning to debug and drops those that say what we
// report ourselves.
type demoted struct{ slog.Handler }

// Enabled asks about the lowered level.
func (h demoted) Enabled(ctx context.Context, l slog.Level) bool {
	return h.Handler.Enabled(ctx, demote(l))
}

// Handle passes the record on at its lowered level.
func (h demoted) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "[DeadLetter]" || r.Message == "actor system started" {
		return nil
	}
	r.Level = demote(r.Level)
	if !h.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs keeps the lowering.
func (h demoted) WithAttrs(a []slog.Attr) slog.Handler { return demoted{h.Handler.WithAttrs(a)} }

// WithGroup keeps the lowering.
func (h demoted) WithGroup(name string) slog.Handler { return demoted{h.Handler.WithGroup(name)} }

func demote(l slog.Level) slog.Level {
	if l < slog.LevelWarn {
		return slog.LevelDebug
	}
	return l
}

// observe counts and reports dead letters: messages to an actor that is gone.
func (s *System) observe(event any) {
	d, ok := event.(*actor.DeadLetterEvent)
	if !ok {
		return
	}
	s.deadLetters.Add(1)
	if _, ok := d.Message.(actor.IgnoreDeadLetterLogging); ok {
		return
	}
	kind := fmt.Sprintf("%T", d.Message)
	if more, ok := s.repeats.Allow(kind, 1, time.Now()); ok {
		s.log.Debug("dead letter", "message", kind, "actor", d.PID.GetId(), "repeated", more)
	}
}
