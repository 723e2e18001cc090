package extract

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluicehq/sluice/graph/extract/jq"
	"github.com/sluicehq/sluice/graph/extract/tree"
)

// What a run may take. The part for each byte of the value is what a program needs that
// looks at every element of a list several times.
const (
	maxSteps      = 10_000_000
	stepsPerByte  = 8
	maxMemory     = jq.MaxMemory // allocated by jq
	memoryPerByte = 16
)

// ErrLimit is what the errors of runs wrap that go beyond a bound of their size.
var ErrLimit = errors.New("beyond a limit")

// What ends runs. errSteps counts as taking too long: it is context.DeadlineExceeded to
// errors.Is, since a program without end meets it or its deadline, whichever is first.
var (
	errSteps  error = &boundError{"the program takes too many steps", context.DeadlineExceeded}
	errMemory error = &boundError{"the program needs too much memory", ErrLimit}
	errDepth  error = &boundError{fmt.Sprintf("a value is nested deeper than %d", tree.MaxDepth), ErrLimit}
)

// errValue is a value that is not one JSON text, or nested too deep to be read.
var errValue = fmt.Errorf("the value is not JSON or nested deeper than %d", tree.MaxDepth)

// boundError says what went beyond its bound, and belongs to a class of errors.
type boundError struct {
	text  string
	class error
}

// Error says what went beyond its bound.
func (e *boundError) Error() string { return e.text }

// Unwrap is the class.
func (e *boundError) Unwrap() error { return e.class }

// tooLongError is an outcome that is longer than wanted.
type tooLongError struct{ limit int }

// Error names the limit.
func (e *tooLongError) Error() string {
	return fmt.Sprintf("the result is longer than %d bytes", e.limit)
}

// Unwrap is the class.
func (*tooLongError) Unwrap() error { return ErrLimit }

// bounds are what a run may take.
type bounds struct{ steps, memory int }

// boundsOf are the bounds of a run over a value of so many bytes.
func (p *Program) boundsOf(size int) bounds {
	return bounds{steps: p.steps + stepsPerByte*size, memory: maxMemory + memoryPerByte*size}
}
