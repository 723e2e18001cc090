package jq

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"github.com/sluicehq/sluice/internal/suggest"
)

//go:embed functions.jq
var functions string

// MaxProgram is how long the text of a program may be.
const MaxProgram = 64 << 10

// Program is a program that was understood. Any number of goroutines may make runs
// of it.
type Program struct {
	text    string
	withEnv bool
}

// An Option says what a program may use.
type Option func(*Program)

// WithoutEnv refuses programs that ask for the environment. Without it they find an empty
// one.
func WithoutEnv() Option { return func(p *Program) { p.withEnv = false } }

// SyntaxError says where a program is not jq.
type SyntaxError struct {
	Line, Column int    // from 1, of a character
	Lines        bool   // the program has several
	Token        string // that is not expected there; empty at the end
}

// Error names the place.
func (e *SyntaxError) Error() string {
	if e.Token == "" {
		return "the program ends too early"
	}
	if e.Lines {
		return fmt.Sprintf("unexpected %q in line %d at character %d", e.Token, e.Line, e.Column)
	}
	return fmt.Sprintf("unexpected %q at character %d", e.Token, e.Column)
}

// Compile understands a program.
func Compile(text string, options ...Option) (*Program, error) {
	p := &Program{text: text, withEnv: true}
	for _, set := range options {
		set(p)
	}
	if _, err := p.NewRun(); err != nil {
		return nil, err
	}
	return p, nil
}

// parse reads the program and puts guards into it.
func (p *Program) parse() (*gojq.Query, error) {
	text := p.text
	if len(text) > MaxProgram {
		return nil, fmt.Errorf("the program is longer than %d bytes", MaxProgram)
	}
	q, err := gojq.Parse(text)
	if err != nil {
		var at *gojq.ParseError
		if errors.As(err, &at) {
			before := text[:max(0, min(at.Offset, len(text))-len(at.Token))]
			return nil, &SyntaxError{
				Line: 1 + strings.Count(before, "\n"), Column: 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]),
				Lines: strings.Contains(text, "\n"), Token: at.Token,
			}
		}
		return nil, err
	}
	library, err := gojq.Parse(functions + " .")
	if err != nil {
		return nil, err
	}
	r := &rewriter{functions: make(map[string]*gojq.FuncDef), seen: make(map[string]bool), withEnv: p.withEnv}
	for _, def := range library.FuncDefs {
		r.functions[key(def.Name, len(def.Args))] = def
	}
	if r.query(q); r.err != nil {
		return nil, r.suggested()
	}
	q.FuncDefs = append(r.used, q.FuncDefs...)
	return q, nil
}

// suggested is the error, with the name that an unknown function probably has.
func (r *rewriter) suggested() error {
	var unknown *unknownError
	if !errors.As(r.err, &unknown) {
		return r.err
	}
	var names []string
	for k := range guards {
		names = append(names, k[:strings.IndexByte(k, '/')])
	}
	for k := range r.functions {
		names = append(names, k[:strings.IndexByte(k, '/')])
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(n string) bool { return n[0] == '_' || n == unknown.name })
	return suggest.Wrap(r.err, unknown.name, names)
}

// Run runs a program over values, one after another. It is for one goroutine at a time.
type Run struct {
	account *account
	code    *gojq.Code
}

// NewRun prepares to run the program.
func (p *Program) NewRun() (*Run, error) {
	q, err := p.parse()
	if err != nil {
		return nil, err
	}
	a := new(account)
	m := &matcher{account: a, kept: make(map[[2]string]*pattern)}
	options := []gojq.CompilerOption{
		gojq.WithFunction("__match", 3, 3, m.call),
		gojq.WithFunction("__multiplied", 2, 2, a.multiplied),
		gojq.WithFunction("__subtracted", 2, 2, func(_ any, args []any) any { return a.both(args, a.product(args[0], args[1])) }),
		gojq.WithFunction(byProduct, 1, 1, func(v any, args []any) any { return or(a.product(v, args[0]), v) }),
		gojq.WithFunction(byJoint, 1, 1, func(v any, args []any) any { return or(a.joint(v, args[0]), v) }),
	}
	for name, charge := range maps.All(map[string]func(any) error{
		byText:   func(v any) error { return a.text(v, 4) },
		bySize:   func(v any) error { return a.shallow(v, 1) },
		byPieces: func(v any) error { return a.text(v, 40) },
		byDepth:  a.deep,
		byOrder:  a.order,
		bySum:    a.sum,
		byRows:   a.rows,
		byIndex:  a.index,
		byPath:   a.path,
		byFormat: func(v any) error { return a.text(v, 1024) },
	}) {
		options = append(options, gojq.WithFunction(name, 0, 0, func(v any, _ []any) any { return or(charge(v), v) }))
	}
	for name, made := range map[string]func(any) any{byNumeral: a.numeral, byLimit: a.limit, byOperand: a.operand, byComparison: a.compared, toShort: short, allShort: shorten} {
		options = append(options, gojq.WithFunction(name, 0, 0, func(v any, _ []any) any { return made(v) }))
	}
	code, err := gojq.Compile(q, options...)
	if err != nil {
		return nil, err
	}
	return &Run{account: a, code: code}, nil
}

// Begin gives the run what it may spend on values that were read from so many bytes of
// text.
func (r *Run) Begin(size int) { r.account.open(size) }

// BeginWithin is Begin with bounds that the caller names: so many steps, so many bytes
// allocated, and the end of ctx, whose error then ends the run.
func (r *Run) BeginWithin(ctx context.Context, steps, memory int) {
	r.account.openWithin(ctx, steps, memory)
}

// Over runs the program over v and calls each with every output in order, until that
// returns false. What the program does wrong is the error; the outputs in front of it
// stand. Bounded tells when it went beyond its bounds: then nothing is left to spend.
func (r *Run) Over(v any, each func(any) bool) error {
	for out := r.code.RunWithContext(r.account, v); ; {
		v, ok := out.Next()
		switch {
		case r.account.err != nil:
			return r.account.err
		case !ok:
			return nil
		}
		if err, failed := v.(error); failed {
			return err
		}
		if !each(v) {
			return nil
		}
	}
}

// or is v unless there is an error.
func or(err error, v any) any {
	if err != nil {
		return err
	}
	return v
}

// both hands two operands on.
func (a *account) both(args []any, err error) any {
	if err != nil {
		return err
	}
	return []any{short(args[0]), short(args[1])}
}

// multiplied charges a product: a number by a number, a text as often as a number says, or
// two objects that are merged.
func (a *account) multiplied(_ any, args []any) any {
	l, r := args[0], args[1]
	if _, ok := r.(string); ok {
		l, r = r, l
	}
	if s, ok := l.(string); ok {
		if n, ok := gojq.ToFloat64(r); ok && n > 0 {
			size := int(min(n, 1<<40))
			return a.both(args, a.charge(0, bounded(len(s), size)))
		}
	}
	x, y := digits(l), digits(r)
	if x > 0 && y > 0 {
		if err := a.charge(1+(x+y)/8, x+y); err != nil {
			return err
		}
		return product(args[0], args[1])
	}
	if err := a.deep(l); err != nil {
		return err
	}
	return a.both(args, a.deep(r))
}

// product is the operands of a product, as doubles where it would have more digits than
// there may be.
func product(l, r any) any {
	l, r = short(l), short(r)
	if weight(l) == 0 && weight(r) == 0 {
		return []any{l, r}
	}
	x, y := integer(l), integer(r)
	if x == nil || y == nil || new(big.Int).Mul(x, y).CmpAbs(beyond) < 0 {
		return []any{l, r}
	}
	return []any{double(x), double(y)}
}

// integer is v if it is one.
func integer(v any) *big.Int {
	switch v := v.(type) {
	case int:
		return big.NewInt(int64(v))
	case *big.Int:
		return v
	case json.Number:
		if n, ok := new(big.Int).SetString(string(v), 10); ok {
			return n
		}
	}
	return nil
}

// digits is about how many bytes a number takes, and 0 for what is no number.
func digits(v any) int {
	switch v := v.(type) {
	case int, float64:
		return 8
	case json.Number:
		return len(v)
	case *big.Int:
		return 8 + v.BitLen()/8
	}
	return 0
}

// sum charges the elements of v put together.
func (a *account) sum(v any) error {
	charge := func(e any) error {
		if err := a.charge(1, 0); err != nil {
			return err
		}
		return a.shallow(e, 2)
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if err := charge(e); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, e := range v {
			if err := charge(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// joint charges the elements of v with a text between them.
func (a *account) joint(v, between any) error {
	if err := a.deep(v); err != nil {
		return err
	}
	n := 0
	switch v := v.(type) {
	case []any:
		n = len(v)
	case map[string]any:
		n = len(v)
	}
	s, _ := between.(string)
	return a.charge(n/8, bounded(n, len(s)))
}

// rows charges rows that are turned to columns.
func (a *account) rows(v any) error {
	rows, _ := v.([]any)
	longest := 0
	for _, row := range rows {
		r, _ := row.([]any)
		longest = max(longest, len(r))
	}
	size := bounded(len(rows), longest)
	return a.charge(size/8, bounded(size, elementSize))
}

// index refuses an index that would make an array too long.
func index(v any) error {
	switch v.(type) {
	case int, float64, json.Number, *big.Int:
		if n, ok := gojq.ToFloat64(v); ok && n > MaxIndex {
			return fmt.Errorf("index is above %d", MaxIndex)
		}
	}
	return nil
}

// path refuses a path with such an index.
func (a *account) path(v any) error {
	steps, _ := v.([]any)
	if len(steps) > maxNesting {
		a.err = ErrDepth
		return a.err
	}
	for _, s := range steps {
		if err := a.index(s); err != nil {
			return err
		}
	}
	return a.shallow(v, 1)
}

// kind is the type of a value, for messages.
func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return "a " + gojq.TypeOf(v)
}
