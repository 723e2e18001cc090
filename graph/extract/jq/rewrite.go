package jq

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/itchyny/gojq"
)

// rewriter puts guards into a program.
type rewriter struct {
	functions map[string]*gojq.FuncDef // that jq defines in its own language, by name and arity
	used      []*gojq.FuncDef          // of them, each behind those it uses
	seen      map[string]bool
	withEnv   bool     // the environment may be asked for
	own       bool     // the program at hand is one of these
	scope     []string // what the program has defined, by name and arity
	err       error
}

func key(name string, args int) string { return name + "/" + strconv.Itoa(args) }

func call(name string, args ...*gojq.Query) *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: name, Args: args}}}
}

func pipe(l, r *gojq.Query) *gojq.Query { return &gojq.Query{Left: l, Op: gojq.OpPipe, Right: r} }

// inside is q as a term.
func inside(q *gojq.Query) *gojq.Term { return &gojq.Term{Type: gojq.TermTypeQuery, Query: q} }

// behind has the outputs of q pass a guard.
func behind(q *gojq.Query, name string) *gojq.Query {
	if name == none || constant(q) {
		return q
	}
	if q.Term == nil {
		q = &gojq.Query{Term: inside(q)}
	}
	return pipe(q, call(name))
}

// constant reports whether q is one number, string, boolean or null.
func constant(q *gojq.Query) bool {
	t := q.Term
	if t == nil || len(t.SuffixList) > 0 || len(q.FuncDefs) > 0 {
		return false
	}
	switch t.Type {
	case gojq.TermTypeNumber, gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse:
		return true
	case gojq.TermTypeString:
		return len(t.Str.Queries) == 0
	}
	return false
}

// number reports whether q is one number.
func number(q *gojq.Query) bool { return constant(q) && q.Term.Type == gojq.TermTypeNumber }

// within rewrites what stands in a scope of its own.
func (r *rewriter) within(f func()) {
	n := len(r.scope)
	f()
	r.scope = r.scope[:n]
}

func (r *rewriter) query(q *gojq.Query) {
	if q == nil || r.err != nil {
		return
	}
	if len(q.Imports) > 0 || q.Meta != nil {
		r.err = fmt.Errorf("there are no modules to import or include")
		return
	}
	r.within(func() {
		for _, def := range q.FuncDefs {
			r.define(def)
		}
		switch {
		case q.Term != nil:
			r.term(q.Term)
		case q.Left != nil:
			r.query(q.Left)
			for _, p := range q.Patterns {
				r.pattern(p)
			}
			r.query(q.Right)
			r.operator(q)
		}
	})
}

// define rewrites a function, which is known from there on.
func (r *rewriter) define(def *gojq.FuncDef) {
	r.scope = append(r.scope, key(def.Name, len(def.Args)))
	r.within(func() {
		for _, arg := range def.Args {
			if arg[0] == '$' {
				r.scope = append(r.scope, key(arg[1:], 0))
			}
			r.scope = append(r.scope, key(arg, 0))
		}
		r.query(def.Body)
	})
}

// operator puts guards around the operands of what q does with two of them.
func (r *rewriter) operator(q *gojq.Query) {
	switch q.Op {
	case gojq.OpAssign, gojq.OpModify, gojq.OpUpdateAlt:
		r.guarded(q, byDepth)
	case gojq.OpUpdateAdd, gojq.OpUpdateSub, gojq.OpUpdateMul, gojq.OpUpdateDiv, gojq.OpUpdateMod:
		const operand = "$__operand"
		update := &gojq.Query{Left: &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIdentity}}, Op: q.Op - gojq.OpUpdateAdd + gojq.OpAdd, Right: call(operand)}
		r.operator(update)
		left, right := q.Left, q.Right
		*q = gojq.Query{FuncDefs: q.FuncDefs, Left: left, Op: gojq.OpModify, Right: update}
		r.guarded(q, byDepth)
		bound := *q
		*q = gojq.Query{Left: &gojq.Query{Term: inside(right)}, Op: gojq.OpPipe, Patterns: []*gojq.Pattern{{Name: operand}}, Right: &bound}
		q.FuncDefs, bound.FuncDefs = bound.FuncDefs, nil
	case gojq.OpAdd:
		q.Left, q.Right = behind(q.Left, byOperand), behind(q.Right, byOperand)
	case gojq.OpDiv:
		if !number(q.Left) && !number(q.Right) {
			q.Left, q.Right = behind(q.Left, byPieces), behind(q.Right, byText)
		}
		q.Left, q.Right = behind(q.Left, byOperand), behind(q.Right, byOperand)
	case gojq.OpMod:
		q.Left, q.Right = behind(q.Left, byOperand), behind(q.Right, byOperand)
	case gojq.OpEq, gojq.OpNe, gojq.OpLt, gojq.OpGt, gojq.OpLe, gojq.OpGe:
		switch {
		case number(q.Left) || number(q.Right):
			q.Left, q.Right = behind(q.Left, byOperand), behind(q.Right, byOperand)
		case !constant(q.Left) && !constant(q.Right):
			q.Left, q.Right = behind(q.Left, byComparison), behind(q.Right, byComparison)
		}
	case gojq.OpMul, gojq.OpSub:
		switch {
		case number(q.Left) && number(q.Right):
			return
		case q.Op == gojq.OpSub && (number(q.Left) || number(q.Right)):
			q.Left, q.Right = behind(q.Left, byOperand), behind(q.Right, byOperand)
			return
		}
		name := "__multiplied"
		if q.Op == gojq.OpSub {
			name = "__subtracted"
		}
		nth := func(i string) *gojq.Query {
			return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIndex, Index: &gojq.Index{Start: &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeNumber, Number: i}}}}}
		}
		*q = gojq.Query{FuncDefs: q.FuncDefs, Left: call(name, q.Left, q.Right), Op: gojq.OpPipe, Right: &gojq.Query{Left: nth("0"), Op: q.Op, Right: nth("1")}}
	}
}

// guarded has the input of q pass a guard.
func (r *rewriter) guarded(q *gojq.Query, name string) {
	copied := *q
	*q = gojq.Query{FuncDefs: q.FuncDefs, Left: call(name), Op: gojq.OpPipe, Right: &copied}
	copied.FuncDefs = nil
}

func (r *rewriter) pattern(p *gojq.Pattern) {
	if p == nil {
		return
	}
	for _, a := range p.Array {
		r.pattern(a)
	}
	for _, o := range p.Object {
		r.text(o.KeyString)
		r.query(o.KeyQuery)
		r.pattern(o.Val)
	}
}

// text rewrites what is interpolated into a string.
func (r *rewriter) text(s *gojq.String) {
	if s == nil {
		return
	}
	for i, q := range s.Queries {
		if q.Term != nil && q.Term.Str != nil {
			r.text(q.Term.Str)
			continue
		}
		r.query(q)
		s.Queries[i] = &gojq.Query{Term: inside(behind(q, byDepth))}
	}
}

func (r *rewriter) term(t *gojq.Term) {
	if r.err != nil {
		return
	}
	switch t.Type {
	case gojq.TermTypeIndex:
		t.SuffixList = slices.Insert(t.SuffixList, 0, &gojq.Suffix{Index: t.Index})
		t.Type, t.Index = gojq.TermTypeIdentity, nil
	case gojq.TermTypeRecurse:
		r.function(&gojq.Func{Name: "recurse"})
	case gojq.TermTypeObject:
		for _, kv := range t.Object.KeyVals {
			r.text(kv.KeyString)
			r.query(kv.KeyQuery)
			r.query(kv.Val)
		}
	case gojq.TermTypeArray:
		r.query(t.Array.Query)
	case gojq.TermTypeNumber:
		literal(t)
	case gojq.TermTypeUnary:
		r.term(t.Unary.Term)
		if q := (&gojq.Query{Term: t.Unary.Term}); !constant(q) {
			t.Unary.Term = inside(behind(q, byOperand))
		}
	case gojq.TermTypeFormat:
		r.text(t.Str)
		if t.Str == nil {
			suffixes := t.SuffixList
			plain := *t
			plain.SuffixList = nil
			*t = gojq.Term{Type: gojq.TermTypeQuery, Query: pipe(call(byDepth), &gojq.Query{Term: &plain}), SuffixList: suffixes}
		}
	case gojq.TermTypeString:
		r.text(t.Str)
	case gojq.TermTypeIf:
		r.query(t.If.Cond)
		r.query(t.If.Then)
		for _, e := range t.If.Elif {
			r.query(e.Cond)
			r.query(e.Then)
		}
		r.query(t.If.Else)
	case gojq.TermTypeTry:
		r.query(t.Try.Body)
		r.query(t.Try.Catch)
	case gojq.TermTypeReduce:
		r.query(t.Reduce.Query)
		r.patterns(t.Reduce.Patterns)
		r.query(t.Reduce.Start)
		r.query(t.Reduce.Update)
	case gojq.TermTypeForeach:
		r.query(t.Foreach.Query)
		r.patterns(t.Foreach.Patterns)
		r.query(t.Foreach.Start)
		r.query(t.Foreach.Update)
		r.query(t.Foreach.Extract)
	case gojq.TermTypeLabel:
		r.query(t.Label.Body)
	case gojq.TermTypeQuery:
		r.query(t.Query)
	case gojq.TermTypeFunc:
		r.called(t)
	}
	r.suffixes(t)
}

func (r *rewriter) patterns(all []*gojq.Pattern) {
	for _, p := range all {
		r.pattern(p)
	}
}

// suffixes puts guards in front of what walks through its input.
func (r *rewriter) suffixes(t *gojq.Term) {
	for i := 0; i < len(t.SuffixList); i++ {
		s := t.SuffixList[i]
		name := none
		switch {
		case s.Iter:
			name = bySize
		case s.Index != nil:
			r.text(s.Index.Str)
			r.query(s.Index.Start)
			r.query(s.Index.End)
			if s.Index.Name == "" && s.Index.Str == nil {
				name = byText
			}
			if s.Index.IsSlice {
				if start := s.Index.Start; start != nil {
					s.Index.Start = behind(start, byText)
				}
				if end := s.Index.End; end != nil {
					s.Index.End = behind(end, byText)
				}
			}
			if start := s.Index.Start; start != nil && !s.Index.IsSlice {
				if number(start) {
					if n, err := strconv.ParseFloat(start.Term.Number, 64); err != nil || n > MaxIndex {
						r.err = fmt.Errorf("index %s is above %d", start.Term.Number, MaxIndex)
						return
					}
				} else {
					s.Index.Start = behind(start, byIndex)
				}
			}
		}
		if name == none {
			continue
		}
		before := *t
		before.SuffixList = t.SuffixList[:i:i]
		rest := t.SuffixList[i:]
		guarded := call(name)
		if before.Type != gojq.TermTypeIdentity || i > 0 {
			guarded = pipe(&gojq.Query{Term: &before}, guarded)
		}
		*t = gojq.Term{Type: gojq.TermTypeQuery, Query: guarded, SuffixList: rest}
		i = 0
	}
}
