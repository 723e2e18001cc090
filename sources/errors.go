package sources

import (
	"errors"
	"fmt"
	"io"
)

// ErrOversize ends a stream whose line is longer than MaxLine.
var ErrOversize = errors.New("line exceeds maximum size")

// ReadError is a stream that broke off.
type ReadError struct{ Err error }

// Error names the cause.
func (e *ReadError) Error() string { return fmt.Sprintf("read events: %v", e.Err) }

// Unwrap returns the cause.
func (e *ReadError) Unwrap() error { return e.Err }

func streamError(err error) error {
	if err == io.EOF { //nolint:errorlint // readers return it bare; what wraps it is a failure
		return nil
	}
	return &ReadError{Err: err}
}
