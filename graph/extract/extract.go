package extract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/graph/extract/cel"
	"github.com/sluicehq/sluice/graph/extract/jq"
	"github.com/sluicehq/sluice/graph/extract/jsonpath"
	"github.com/sluicehq/sluice/graph/extract/tree"
)

// Language is what a program is written in.
type Language string

// The languages.
const (
	JQ       Language = "jq"
	JSONPath Language = "jsonpath"
	CEL      Language = "cel"
)

// Languages are all languages, in the order in which messages name them.
func Languages() []Language { return []Language{JQ, JSONPath, CEL} }

// ParseLanguage returns the language of a name. The error says which there are.
func ParseLanguage(name string) (Language, error) {
	var names []string
	for _, l := range Languages() {
		if name == string(l) {
			return l, nil
		}
		names = append(names, string(l))
	}
	return "", fmt.Errorf("unknown extract type '%s' (expected: %s)", name, strings.Join(names, ", "))
}

// Program is a program that was understood. Any number of goroutines may use it.
type Program struct {
	language  Language
	evaluator evaluator
	steps     int // of a run, beside those for the length of its value
}

// evaluator is the program of one language. Run appends the outcome over a value, which is
// one JSON text, to out.
type evaluator interface {
	run(ctx context.Context, value []byte, within bounds, out *outcome) error
}

// Compile understands a program. The error says what is wrong with it, and where.
func Compile(l Language, expr string) (p *Program, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, fmt.Errorf("the %s library failed: %v", l, r)
		}
	}()
	p = &Program{language: l, steps: maxSteps}
	switch l {
	case JQ:
		p.evaluator, err = newJQ(expr)
	case JSONPath:
		p.evaluator, err = newJSONPath(expr)
	case CEL:
		p.evaluator, err = newCEL(expr)
	default:
		_, err = ParseLanguage(string(l))
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Run runs the program over value, which is one JSON text, and returns the compact JSON
// text of what it brings, at most limit bytes of it. Without data, ok is false.
//
// What goes beyond the bounds is an error that wraps ErrLimit; one that takes too long,
// context.DeadlineExceeded, or what else ended ctx. Any other error is the program's own
// and may show a part of the value.
func (p *Program) Run(ctx context.Context, value []byte, limit int) (out []byte, ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	defer func() {
		if r := recover(); r != nil {
			out, ok, err = nil, false, fmt.Errorf("the %s library failed: %v", p.language, r)
		}
	}()
	o := outcome{limit: limit}
	if err := p.evaluator.run(ctx, value, p.boundsOf(len(value)), &o); err != nil {
		return nil, false, same(err)
	}
	out = o.text()
	return out, out != nil, nil
}

// same has the errors of all languages wrap the same ones.
func same(err error) error {
	switch {
	case errors.Is(err, jq.ErrSteps), errors.Is(err, jsonpath.ErrSteps), errors.Is(err, cel.ErrSteps):
		return errSteps
	case errors.Is(err, jq.ErrMemory):
		return errMemory
	case errors.Is(err, jq.ErrDepth), errors.Is(err, tree.ErrTooDeep):
		return errDepth
	case errors.Is(err, tree.ErrSyntax):
		return errValue
	}
	return err
}

// outcome gathers the outputs of a run.
type outcome struct {
	out   []byte // the outputs with commas between them, behind a bracket
	count int
	limit int
	null  bool // the only output is null
}

// add appends an output by a function that appends at most so many bytes.
func (o *outcome) add(write func(dst []byte, limit int) ([]byte, error)) error {
	if o.out == nil {
		o.out = append(o.out, '[')
	} else {
		o.out = append(o.out, ',')
	}
	from := len(o.out)
	free := o.limit - from - 1 // the brackets of an array
	if o.count == 0 {
		free = o.limit
	}
	var err error
	if free >= 0 {
		o.out, err = write(o.out, free)
	}
	if free < 0 || errors.Is(err, tree.ErrTooLong) || o.count > 0 && len(o.out)+1 > o.limit {
		return &tooLongError{o.limit}
	}
	if err != nil {
		return err
	}
	o.count++
	o.null = o.count == 1 && string(o.out[from:]) == "null"
	return nil
}

// text is the one output, or the array of several, and nil if there is no data.
func (o *outcome) text() []byte {
	switch {
	case o.count == 0 || o.null:
		return nil
	case o.count == 1:
		return slices.Clip(o.out[1:])
	}
	return slices.Clip(append(o.out, ']'))
}
