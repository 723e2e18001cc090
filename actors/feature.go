package actors

import (
	"context"
	"crypto/sha256"
)

// Member is a member of the object that GET /api/v1/status shows. The value is
// encoded as JSON.
type Member struct {
	Name  string
	Value any
}

// Component is a part of the daemon that a reload renews: completely or not at
// all, and independently of other components. Its functions are called from one
// goroutine at a time.
type Component struct {
	Name string
	// Paths lists the files and directories whose change asks for a reload. Nil is
	// none.
	Paths func() []string
	// Digest hashes the content of everything that Build would read. Nil builds the
	// component in every pass.
	Digest func(ctx context.Context) (Digest, error)
	// Serving is the digest of the version that serves when the daemon starts.
	Serving Digest
	// Build makes the next version, beside the one that serves, and returns the
	// function that publishes it. The context of publish does not end before the
	// question to a stage does.
	Build func(ctx context.Context) (publish func(ctx context.Context) error, err error)
	// Unchanged is called instead of Build when the digest is that of the serving
	// version. Nil does nothing.
	Unchanged func(ctx context.Context) error
	// Ended is told the outcome of every pass that was not abandoned. Nil is nobody.
	Ended func(err error)
}

// Digest is a hash of the content of a component's inputs.
type Digest = [sha256.Size]byte
