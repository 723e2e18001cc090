package fetch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/sluicehq/sluice/sigma/ast"
)

// ErrorKind is why a fetch failed.
type ErrorKind string

// The kinds, as series name them.
const (
	Fetch         ErrorKind = "Fetch"         // the bytes could not be got
	Parse         ErrorKind = "Parse"         // they are not what the format says
	ExtractFailed ErrorKind = "Extract"       // the expression fails or gives nothing
	Timeout       ErrorKind = "Timeout"       // the time was over, at any stage
	ResourceLimit ErrorKind = "ResourceLimit" // a limit of size
)

// ErrorKinds are all kinds.
var ErrorKinds = []ErrorKind{Fetch, Parse, ExtractFailed, Timeout, ResourceLimit}

// Error is a fetch that failed.
type Error struct {
	Source string // its id; empty in errors of Decode
	Kind   ErrorKind
	Detail string // empty for Timeout

	cause error
}

// Error is the text that operators see.
func (e *Error) Error() string {
	if e.Source == "" {
		return e.Text()
	}
	return fmt.Sprintf("source '%s': %s", e.Source, e.Text())
}

// Text is the error without its source. What servers and programs have said in it cannot
// steer a terminal.
func (e *Error) Text() string { return strings.Map(visible, e.text()) }

// visible is a character as it is shown.
func visible(r rune) rune {
	if r != '\n' && r != '\t' && ast.Steers(r) {
		return unicode.ReplacementChar
	}
	return r
}

func (e *Error) text() string {
	switch e.Kind {
	case Parse:
		return "parse failed: " + e.Detail
	case ExtractFailed:
		return "extract failed: " + e.Detail
	case Timeout:
		return "timed out"
	case ResourceLimit:
		return "resource limit exceeded: " + e.Detail
	}
	return "fetch failed: " + e.Detail
}

// Unwrap gives what the error is about, such as context.Canceled; nil if there is nothing
// more to know.
func (e *Error) Unwrap() error { return e.cause }

func fault(k ErrorKind, format string, args ...any) *Error {
	return &Error{Kind: k, Detail: fmt.Sprintf(format, args...)}
}

// of is the error of a fetch: of its kind if it is an *Error, Timeout if its time was over,
// else one of kind Fetch.
func of(ctx context.Context, id string, err error) *Error {
	var known *Error
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &Error{Source: id, Kind: Timeout, cause: context.DeadlineExceeded}
	case ctx.Err() != nil:
		return &Error{Source: id, Kind: Fetch, Detail: "it was called off", cause: ctx.Err()}
	case errors.As(err, &known):
		e := *known
		e.Source = id
		return &e
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Source: id, Kind: Timeout, cause: err}
	}
	return &Error{Source: id, Kind: Fetch, Detail: err.Error(), cause: err}
}
