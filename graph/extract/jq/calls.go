package jq

import (
	"fmt"
	"slices"

	"github.com/itchyny/gojq"

	"github.com/sluicehq/sluice/internal/plural"
)

// called rewrites a call.
func (r *rewriter) called(t *gojq.Term) {
	f := t.Func
	for _, arg := range f.Args {
		r.query(arg)
	}
	g, known := r.function(f)
	if !known || r.err != nil {
		return
	}
	suffixes := t.SuffixList
	plain := &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: f}}
	switch {
	case f.Name == "fromjson":
		plain = pipe(call(byPieces), pipe(plain, call(allShort)))
	case f.Name == "add":
		plain = pipe(call(bySum), pipe(plain, call(toShort)))
	case f.Name == "path":
		plain = pipe(plain, call(bySize))
	case g.input == byProduct || g.input == byJoint:
		const argument = "$__argument"
		plain.Term.Func = &gojq.Func{Name: f.Name, Args: []*gojq.Query{call(argument)}}
		plain = &gojq.Query{
			Left: &gojq.Query{Term: inside(f.Args[0])}, Op: gojq.OpPipe, Patterns: []*gojq.Pattern{{Name: argument}},
			Right: pipe(call(g.input, call(argument)), plain),
		}
	case g == guard{}:
		return
	default:
		for i := range f.Args {
			if f.Name != "setpath" || i == 0 {
				f.Args[i] = behind(f.Args[i], g.args)
			}
		}
		if g.input != none {
			plain = pipe(call(g.input), plain)
		}
	}
	*t = gojq.Term{Type: gojq.TermTypeQuery, Query: plain, SuffixList: suffixes}
}

// function finds what a call means: whether it is a function of the library, and which
// guards that has.
func (r *rewriter) function(f *gojq.Func) (guard, bool) {
	name := key(f.Name, len(f.Args))
	if slices.Contains(r.scope, name) || f.Name[0] == '$' && f.Name != "$ENV" {
		return guard{}, false
	}
	if !r.withEnv && (f.Name == "env" || f.Name == "$ENV") {
		r.err = fmt.Errorf("the function %s is not available: there is no environment", f.Name)
		return guard{}, false
	}
	if def, ok := r.functions[name]; ok && (r.own || f.Name[0] != '_') {
		r.use(name, def)
		return guard{}, false
	}
	if g, ok := guards[name]; ok && (r.own || f.Name[0] != '_') {
		return g, true
	}
	if why, ok := missing[f.Name]; ok {
		r.err = fmt.Errorf("the function %s is not available: %s", f.Name, why)
	} else {
		r.err = &unknownError{name: f.Name, args: len(f.Args)}
	}
	return guard{}, false
}

// use makes a function that jq defines in its own language a part of the program.
func (r *rewriter) use(name string, def *gojq.FuncDef) {
	if r.seen[name] {
		return
	}
	r.seen[name] = true
	scope, own := r.scope, r.own
	r.scope, r.own = nil, true
	r.define(def)
	r.scope, r.own = scope, own
	r.used = append(r.used, def)
}

// unknownError is a call of a function that there is not.
type unknownError struct {
	name string
	args int
}

func (e *unknownError) Error() string {
	return fmt.Sprintf("there is no function %s with %s", e.name, plural.Of(e.args, "argument"))
}
