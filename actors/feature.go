package actors

import (
	"context"
	"errors"
)

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
	// Ended is told the outcome of every pass that was not abandoned. Nil is nobody.
	Ended func(err error)
}

// ErrUnchanged is returned by a component that has nothing new to build.
var ErrUnchanged = errors.New("nothing changed")
