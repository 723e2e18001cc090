package jq

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"time"
)

// The bounds of a run.
const (
	MaxSteps        = 1_000_000 // of any run
	MaxStepsPerByte = 8         // more, for each byte of the text that the value was read from
	MaxMemory       = 128 << 20 // bytes allocated
	MaxIndex        = 1 << 20   // of an array that a program writes to
	maxNesting      = 1000      // of a value that a function walks through
)

// What ends a run that goes beyond its bounds.
var (
	ErrSteps  = errors.New("the program takes too many steps")
	ErrMemory = errors.New("the program needs too much memory")
	ErrDepth  = errors.New("the program nests values too deep")
)

// Bounded reports whether err says that a run went beyond its bounds.
func Bounded(err error) bool {
	return errors.Is(err, ErrSteps) || errors.Is(err, ErrMemory) || errors.Is(err, ErrDepth)
}

// account is what a run may still spend. It is the context of the run: the library looks
// at Done before each instruction.
type account struct {
	steps, memory int
	err           error           // why the run has to end
	later         int             // steps beside these
	ctx           context.Context // whose end is looked for before later steps are taken; may be nil
}

// share is how many steps a run takes before it looks for the end of its context.
const share = 1 << 13

// ended is the channel of runs that have to end.
var ended = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// open begins a run over a value of so many bytes.
func (a *account) open(size int) {
	*a = account{steps: MaxSteps + MaxStepsPerByte*size, memory: MaxMemory}
}

// openWithin begins a run that ends with ctx, too.
func (a *account) openWithin(ctx context.Context, steps, memory int) {
	*a = account{later: steps, memory: memory, ctx: ctx}
}

// more takes from the later steps.
func (a *account) more() {
	left := a.steps + a.later
	if left < 0 {
		a.err = ErrSteps
		return
	}
	if a.ctx != nil {
		if a.err = a.ctx.Err(); a.err != nil {
			return
		}
	}
	a.steps = min(share, left)
	a.later = left - a.steps
}

// Done counts a step.
func (a *account) Done() <-chan struct{} {
	if a.steps--; a.steps < 0 && a.err == nil {
		a.more()
	}
	if a.err != nil {
		return ended
	}
	return nil
}

// Err says why the run has to end.
func (a *account) Err() error { return a.err }

// Deadline implements context.Context: there is none.
func (*account) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

// Value implements context.Context: there is none.
func (*account) Value(any) any { return nil }

// charge takes from what may be spent. The error ends the run, whatever the program
// catches.
func (a *account) charge(steps, memory int) error {
	a.steps -= steps
	a.memory -= memory
	if a.steps < 0 && a.err == nil {
		a.more()
	}
	if a.memory < 0 && a.err == nil {
		a.err = ErrMemory
	}
	return a.err
}

// Bytes that an element or a member takes where a container is copied.
const (
	elementSize = 32
	memberSize  = 64
)

// shallow charges a copy of v, but not of what its elements and members refer to.
func (a *account) shallow(v any, times int) error {
	switch v := v.(type) {
	case string:
		return a.charge(len(v)/64, len(v)*times)
	case json.Number:
		return a.charge(len(v)/4, len(v)*times)
	case *big.Int:
		return a.charge(v.BitLen()/16, v.BitLen()/8*times)
	case []any:
		return a.charge(len(v)/8, len(v)*elementSize)
	case map[string]any:
		return a.charge(len(v)/4, len(v)*memberSize)
	}
	return nil
}

// text charges a copy of v if it is a string.
func (a *account) text(v any, times int) error {
	switch v.(type) {
	case []any, map[string]any:
		return nil
	}
	return a.shallow(v, times)
}

// deep charges a walk through v, whose parts count as often as they are met.
func (a *account) deep(v any) error { return a.walk(v, 0) }

func (a *account) walk(v any, depth int) error {
	switch v := v.(type) {
	case []any:
		if depth++; depth > maxNesting {
			a.err = ErrDepth
			return a.err
		}
		if err := a.charge(1+len(v)/8, 16+16*len(v)); err != nil {
			return err
		}
		for _, e := range v {
			if err := a.walk(e, depth); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		if depth++; depth > maxNesting {
			a.err = ErrDepth
			return a.err
		}
		if err := a.charge(1+len(v)/2, 16+32*len(v)); err != nil {
			return err
		}
		for k, m := range v {
			if err := a.charge(len(k)/64, len(k)); err != nil {
				return err
			}
			if err := a.walk(m, depth); err != nil {
				return err
			}
		}
		return nil
	}
	return a.shallow(v, 1)
}

// parts counts what comparing v with something else meets, at most limit.
func parts(v any, limit int) int {
	n := 1
	switch v := v.(type) {
	case string:
		n += len(v)
	case json.Number, *big.Int:
		n += weight(v) / 4
	case []any:
		for _, e := range v {
			if n > limit {
				break
			}
			n += parts(e, limit-n)
		}
	case map[string]any:
		for _, m := range v {
			if n > limit {
				break
			}
			n += parts(m, limit-n)
		}
	}
	return n
}

// product charges comparing each part of v with each of w.
func (a *account) product(v, w any) error {
	if err := a.deep(v); err != nil {
		return err
	}
	if err := a.deep(w); err != nil {
		return err
	}
	limit := max(a.steps+a.later, 1)
	return a.charge(bounded(parts(v, limit), parts(w, limit))/8, 0)
}

// bounded is a product that cannot overflow.
func bounded(n, m int) int {
	const most = 1 << 40
	if n > 0 && m > most/n {
		return most
	}
	return n * m
}
