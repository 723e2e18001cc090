package command

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/sluicehq/sluice/internal/suggest"
)

// The exit codes of commands.
const (
	exitOK       = 0
	exitFindings = 1
	exitRules    = 2
	exitConfig   = 3
	exitPipe     = 128 + int(syscall.SIGPIPE) // as a shell says it of other programs
)

// isClosedPipe reports whether an error says that nobody reads stdout any more, which
// ends a command as it was meant to: `sluice ... | head`. A connection that is cut off
// is a fault.
func isClosedPipe(err error) bool {
	var connection *net.OpError
	return errors.Is(err, syscall.EPIPE) && !errors.As(err, &connection)
}

// exitError is an error that knows which code the process ends with. Without
// text, everything has been said already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// configFault ends with code 3: a flag, a file or a daemon is not as needed.
func configFault(err error) error { return &exitError{exitConfig, err} }

func configFaultf(format string, args ...any) error {
	return configFault(fmt.Errorf(format, args...))
}

// ruleFault ends with code 2: rules or events could not be read.
func ruleFault(err error) error { return &exitError{exitRules, err} }

// silent ends with a code after everything has been printed.
func silent(code int) error { return &exitError{code, nil} }

// codeOf gives the code of an error and what is left to print.
func codeOf(err error) (int, string) {
	if err == nil {
		return exitOK, ""
	}
	if isClosedPipe(err) {
		return exitPipe, ""
	}
	var e *exitError
	if !errors.As(err, &e) {
		return exitConfig, err.Error() // the flag parser's own
	}
	if e.err == nil {
		return e.code, ""
	}
	text := e.err.Error()
	var near *suggest.Error
	if errors.As(e.err, &near) && near.Suggestion != "" {
		text += " (" + near.Suggestion + ")"
	}
	return e.code, text
}
