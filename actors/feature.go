package actors

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// Feature is a row of the daemon's list of features: everything that the daemon
// does with a feature, so that it knows none by name. Every field but Name may be
// left out. Only stages that graph.Stages lists export their state and are drained;
// other actors are of KindControl.
type Feature struct {
	Name       string
	Actors     []Actor // in order of spawning: receivers before their senders
	Saved      []SavedPart
	Components []Component
	Status     func() []Member // read from any goroutine, without asking an actor
	// Close releases what the feature holds. The actors have stopped.
	Close func() error
}

// Actor is an actor to spawn.
type Actor interface {
	Cell() *mailbox.Cell
	// Produce makes an instance of the actor: the first, and another one after each
	// panic.
	Produce(RestartState) actor.Actor
}

// SpawnAll spawns the actors of features in their order.
func (s *System) SpawnAll(features []Feature) error {
	for _, f := range features {
		for _, a := range f.Actors {
			if _, err := s.Spawn(a.Cell(), a.Produce); err != nil {
				return err
			}
		}
	}
	return nil
}

// SavedPart is what a checkpoint holds of a stage: its export, when that is a View.
// A stage that exports nothing keeps what is stored.
type SavedPart struct {
	Stage   graph.Stage
	Name    string // of the part in the state database
	Version int    // of the encoding
	// Restore reads what is stored in this version, before the actor is spawned. After
	// an error the stage starts empty. Nil restores nothing.
	Restore func(r io.Reader, now time.Time) error
}

// View is a stage's state at one moment. It never changes.
type View interface {
	Revision() uint64 // of the state; views of one revision are equal
	Encode(w io.Writer, savedAt int64) error
}

// Member is a member of the object that GET /api/v1/status shows. The value is
// encoded as JSON.
type Member struct {
	Name  string
	Value any
}

// Component is a part of the daemon that a reload renews: completely or not at
// all, and independently of other components. Its functions are called from one
// goroutine at a time, except for Paths.
type Component struct {
	Name string
	// Paths lists the files and directories whose change asks for a reload. It may be
	// called from any goroutine. Nil is none.
	Paths func() []string
	// Build makes the next version, beside the one that serves, and returns the
	// function that publishes it. It returns ErrUnchanged when the content of all
	// inputs is that of the version that serves.
	Build func(ctx context.Context) (publish func(ctx context.Context) error, err error)
	// Unchanged is called after ErrUnchanged. Nil does nothing.
	Unchanged func(ctx context.Context) error
	// Ended is told the outcome of every pass that was not abandoned. It may be nil.
	Ended func(err error)
}

// ErrUnchanged is returned by a component that has nothing new to build.
var ErrUnchanged = errors.New("nothing changed")
