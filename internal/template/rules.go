package template

import (
	"errors"
	"fmt"

	"github.com/sluicehq/sluice/internal/suggest"
)

// Value is what a reference stands for in an S. Its methods append to dst and keep
// nothing; several goroutines may call them.
type Value[S any] interface {
	// AppendText appends the value as text: strings as they are, null and what is
	// missing as nothing, everything else as compact JSON.
	AppendText(dst []byte, of S) []byte
	// AppendJSON appends the value as compact JSON, null if it is missing.
	AppendJSON(dst []byte, of S) []byte
}

// Rules say what the templates of one kind of user may refer to.
type Rules[S any] struct {
	Kind string // of results, as messages name it: "detection"
	User string // that has the template, as messages name it: "webhook"

	// Lookup returns what a reference with a dot stands for, the text between the
	// braces as it is. Its errors wrap ErrMalformed, ErrWrongNamespace or ErrUnknown, or
	// say what is wrong with the reference. A nil Lookup knows no reference.
	Lookup func(reference string) (Value[S], error)

	// Getenv returns the value of an environment variable, empty if it is not set. Nil
	// is os.Getenv.
	Getenv func(name string) string
}

// What can be wrong with a reference that has a dot.
var (
	ErrMalformed      = errors.New("malformed template reference")
	ErrWrongNamespace = errors.New("wrong namespace")
	ErrUnknown        = errors.New("unknown template reference")
)

// A ReferenceError is one fault of a template.
type ReferenceError struct {
	Reference  string // the text between the braces
	Field      string // that the template stands in, as Parse was told
	Kind, User string // as the rules say
	Err        error  // of Lookup
}

// Error says what is wrong, with the reference and the field.
func (e *ReferenceError) Error() string {
	switch at := fmt.Sprintf("'${%s}' in field '%s'", e.Reference, e.Field); {
	case errors.Is(e.Err, ErrMalformed):
		return "malformed template reference " + at
	case errors.Is(e.Err, ErrWrongNamespace):
		return fmt.Sprintf("template reference %s is the wrong namespace for a %s %s", at, e.Kind, e.User)
	case errors.Is(e.Err, ErrUnknown):
		return "unknown template reference " + at
	default:
		return fmt.Sprintf("template reference %s: %v", at, e.Err)
	}
}

// Unwrap gives the error of Lookup.
func (e *ReferenceError) Unwrap() error { return e.Err }

// fault is the error for a reference that lookup refused. The name that was probably
// meant goes with it.
func (r *Rules[S]) fault(reference, field string, err error) error {
	fault := &ReferenceError{Reference: reference, Field: field, Kind: r.Kind, User: r.User, Err: err}
	var meant *suggest.Error
	if errors.As(err, &meant) && meant.Suggestion != "" {
		return &suggest.Error{Err: fault, Suggestion: meant.Suggestion}
	}
	return fault
}
