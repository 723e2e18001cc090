// Package sourcetest holds what every source is tested with: an intake that
// records, and the contract a source has to keep.
package sourcetest

import (
	"context"
	"errors"
	"sync"

	"github.com/sluicehq/sluice/graph"
)

// ErrClosed is what a closed Intake answers.
var ErrClosed = errors.New("intake closed")

// Intake is an input queue that records what it admits. It has room for a given
// number of lines; Take makes room again.
type Intake struct {
	mu       sync.Mutex // guards all below
	changed  chan struct{}
	capacity int
	closed   bool
	lines    []graph.Line
	texts    []string
	oversize []string
	waited   int
}

// NewIntake returns an intake with room for so many lines.
func NewIntake(capacity int) *Intake {
	return &Intake{capacity: capacity, changed: make(chan struct{})}
}

// Put admits what fits and waits for room for the rest.
func (n *Intake) Put(ctx context.Context, run []graph.Line) (admitted int, err error) {
	for {
		n.mu.Lock()
		if n.closed {
			n.mu.Unlock()
			return admitted, ErrClosed
		}
		fit := min(n.capacity, len(run)-admitted)
		for _, l := range run[admitted : admitted+fit] {
			n.lines = append(n.lines, l)
			n.texts = append(n.texts, string(l.Raw))
		}
		n.capacity -= fit
		admitted += fit
		changed := n.changed
		if admitted < len(run) {
			n.waited++
		}
		n.mu.Unlock()
		if admitted == len(run) {
			return admitted, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return admitted, ctx.Err()
		}
	}
}

// Oversize records the excerpt and settles the token.
func (n *Intake) Oversize(_ context.Context, excerpt []byte, token graph.Token) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return ErrClosed
	}
	n.oversize = append(n.oversize, string(excerpt))
	token.Settle()
	return nil
}

// Take removes the admitted lines, oldest first, and makes room for as many.
func (n *Intake) Take() []graph.Line {
	n.mu.Lock()
	defer n.mu.Unlock()
	taken := n.lines
	n.lines = nil
	n.capacity += len(taken)
	n.wake()
	return taken
}

// Close makes every later and every waiting Put fail.
func (n *Intake) Close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	n.wake()
}

// Lines are the texts of all lines ever admitted, in order.
func (n *Intake) Lines() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.texts...)
}

// Excerpts are the excerpts of the lines that were too long.
func (n *Intake) Excerpts() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.oversize...)
}

// Waited is how often a Put had to wait.
func (n *Intake) Waited() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.waited
}

func (n *Intake) wake() {
	close(n.changed)
	n.changed = make(chan struct{})
}
