package pipeline

import (
	"fmt"
	"slices"
	"strings"
)

// boolExpr is an expression over conditions by their index: or, and, not.
type boolExpr struct {
	op   byte // '|', '&', '!', or 0 for a condition
	args []*boolExpr
	cond int
}

func (e *boolExpr) eval(ask func(int) bool) bool {
	switch e.op {
	case '|':
		return slices.ContainsFunc(e.args, func(a *boolExpr) bool { return a.eval(ask) })
	case '&':
		return !slices.ContainsFunc(e.args, func(a *boolExpr) bool { return !a.eval(ask) })
	case '!':
		return !e.args[0].eval(ask)
	}
	return ask(e.cond)
}

func (e *boolExpr) mentions(i int) bool {
	if e.op == 0 {
		return e.cond == i
	}
	return slices.ContainsFunc(e.args, func(a *boolExpr) bool { return a.mentions(i) })
}

// maxBoolDepth bounds parentheses and negations on one path.
const maxBoolDepth = 64

// boolParser reads or, and, not and parentheses. Case does not matter in operators,
// and parentheses need no blanks.
type boolParser struct {
	rest  string
	names []string
	depth int
}

func parseBool(text string, names []string) (*boolExpr, error) {
	p := &boolParser{rest: text, names: names}
	e, err := p.or()
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t != "" {
		return nil, fmt.Errorf("unexpected '%s'", t)
	}
	return e, nil
}

// peek returns the next token without taking it; empty at the end.
func (p *boolParser) peek() string {
	p.rest = strings.TrimLeft(p.rest, " \t\r\n")
	if p.rest == "" {
		return ""
	}
	n := strings.IndexFunc(p.rest, func(r rune) bool { return !isNameRune(r) })
	if n < 0 {
		return p.rest
	}
	return p.rest[:max(n, 1)]
}

func isNameRune(r rune) bool {
	return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

func (p *boolParser) take(word string) bool {
	t := p.peek()
	if !strings.EqualFold(t, word) {
		return false
	}
	p.rest = p.rest[len(t):]
	return true
}

func (p *boolParser) or() (*boolExpr, error)  { return p.chain('|', "or", p.and) }
func (p *boolParser) and() (*boolExpr, error) { return p.chain('&', "and", p.unary) }

func (p *boolParser) chain(op byte, word string, next func() (*boolExpr, error)) (*boolExpr, error) {
	first, err := next()
	if err != nil {
		return nil, err
	}
	args := []*boolExpr{first}
	for p.take(word) {
		e, err := next()
		if err != nil {
			return nil, err
		}
		args = append(args, e)
	}
	if len(args) == 1 {
		return first, nil
	}
	return &boolExpr{op: op, args: args}, nil
}

func (p *boolParser) unary() (*boolExpr, error) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxBoolDepth {
		return nil, fmt.Errorf("nested deeper than %d levels", maxBoolDepth)
	}
	if p.take("not") {
		e, err := p.unary()
		if err != nil {
			return nil, err
		}
		return &boolExpr{op: '!', args: []*boolExpr{e}}, nil
	}
	if p.take("(") {
		e, err := p.or()
		if err != nil {
			return nil, err
		}
		if !p.take(")") {
			return nil, fmt.Errorf("missing ')' before '%s'", p.peek())
		}
		return e, nil
	}
	name := p.peek()
	if name == "" {
		return nil, fmt.Errorf("a condition name is missing at the end")
	}
	i := slices.Index(p.names, name)
	if i < 0 {
		return nil, fmt.Errorf("unknown condition '%s'", name)
	}
	p.rest = p.rest[len(name):]
	return &boolExpr{cond: i}, nil
}
