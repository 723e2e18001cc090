package daemon

import (
	"errors"
	"fmt"
)

// Exit codes, as docs/operations.md lists them.
const (
	exitOK      = 0
	exitRules   = 2
	exitConfig  = 3
	exitRuntime = 4
	exitSignal  = 128 // plus the signal's number
)

// Fault is a failure of the start with the exit code that belongs to it.
type Fault struct {
	Code int
	Err  error
}

// Error is the reason.
func (f *Fault) Error() string { return f.Err.Error() }

// Unwrap gives the reason.
func (f *Fault) Unwrap() error { return f.Err }

func configFault(err error) error { return &Fault{Code: exitConfig, Err: err} }

func configFaultf(format string, args ...any) error { return configFault(fmt.Errorf(format, args...)) }

// codeOf is the exit code of an error.
func codeOf(err error) int {
	var f *Fault
	if errors.As(err, &f) {
		return f.Code
	}
	return exitConfig
}
