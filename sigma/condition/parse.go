package condition

import (
	"fmt"
	"strconv"
	"strings"
)

// Limits of one condition text.
const (
	MaxBytes = 65536 // a longer text is refused unread
	MaxDepth = 64    // open parentheses and nots on the way to any operand
)

// SyntaxError says what is wrong with a condition and where. Line and Column
// count from 1 inside the text; they are 0 when the text was not read.
type SyntaxError struct {
	Detail       string
	Line, Column int
}

// Error begins with "invalid condition:" as every report of a bad condition does.
func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return "invalid condition: " + e.Detail
	}
	return fmt.Sprintf("invalid condition: %s (line %d, column %d)", e.Detail, e.Line, e.Column)
}

// Parse reads a condition. Every error is a *SyntaxError. The nesting limit is
// enforced while descending, so no text can exhaust the stack.
func Parse(text string) (*Expr, error) {
	if len(text) > MaxBytes {
		return nil, &SyntaxError{Detail: fmt.Sprintf("%d bytes are more than the limit of %d", len(text), MaxBytes)}
	}
	p := parser{text: text}
	p.next()
	e, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.tok != "" {
		return nil, p.unexpected("'and', 'or' or the end")
	}
	return e, nil
}

// parser holds one token of lookahead: tok is the token that starts at start,
// empty at the end of the text.
type parser struct {
	text  string
	tok   string
	start int
	end   int
	depth int
}

func (p *parser) next() {
	i := p.end
	for i < len(p.text) && strings.IndexByte(" \t\n\r", p.text[i]) >= 0 {
		i++
	}
	p.start = i
	for i < len(p.text) && isPatternByte(p.text[i]) {
		i++
	}
	if i == p.start && i < len(p.text) {
		i++ // a parenthesis, or something that no rule accepts
		for i < len(p.text) && p.text[i]&0xC0 == 0x80 {
			i++ // the whole character, so that a message quotes it well
		}
	}
	p.end = i
	p.tok = p.text[p.start:i]
}

func (p *parser) or() (*Expr, error)  { return p.chain("or", Or, p.and) }
func (p *parser) and() (*Expr, error) { return p.chain("and", And, p.unary) }

func (p *parser) chain(word string, op Op, operand func() (*Expr, error)) (*Expr, error) {
	first, err := operand()
	if err != nil || p.tok != word {
		return first, err
	}
	e := &Expr{Op: op, Args: []*Expr{first}}
	for p.tok == word {
		p.next()
		arg, err := operand()
		if err != nil {
			return nil, err
		}
		e.Args = append(e.Args, arg)
	}
	return e, nil
}

func (p *parser) unary() (*Expr, error) {
	if p.tok != "not" && p.tok != "(" {
		return p.atom()
	}
	if p.depth++; p.depth > MaxDepth {
		return nil, p.fail("nested deeper than the limit of %d", MaxDepth)
	}
	defer func() { p.depth-- }()
	if p.tok == "not" {
		p.next()
		arg, err := p.unary()
		if err != nil {
			return nil, err
		}
		return &Expr{Op: Not, Args: []*Expr{arg}}, nil
	}
	p.next()
	e, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.tok != ")" {
		return nil, p.unexpected("')'")
	}
	p.next()
	return e, nil
}

func (p *parser) atom() (*Expr, error) {
	switch p.tok {
	case "", ")", "and", "or", "of", "them":
		return nil, p.unexpected("a detection, 'not', '(' or a quantifier")
	}
	name := p.tok
	if !isPatternByte(name[0]) {
		return nil, p.fail("unexpected character %q", name)
	}
	if name == "all" || name == "any" || isDigits(name) {
		return p.quantified()
	}
	if strings.Contains(name, "*") {
		return nil, p.fail("pattern %q needs a quantifier such as '1 of'", name)
	}
	p.next()
	return &Expr{Op: Ident, Name: name}, nil
}

// quantified reads "<quantifier> of <target>". A number that is not followed by
// "of" is the name of a detection.
func (p *parser) quantified() (*Expr, error) {
	word := *p
	p.next()
	if p.tok != "of" {
		if isDigits(word.tok) {
			return &Expr{Op: Ident, Name: word.tok}, nil
		}
		return nil, p.unexpected("'of'")
	}
	count := QuantAll
	switch {
	case word.tok == "any":
		count = 1
	case word.tok != "all":
		n, err := strconv.Atoi(word.tok)
		if err != nil {
			return nil, word.fail("number %s is too large", word.tok)
		}
		if n == 0 {
			return nil, word.fail("'0 of' would always hold")
		}
		count = n
	}
	p.next()
	switch target := p.tok; {
	case target == "and", target == "or", target == "not", target == "all", target == "any", target == "of",
		target == "", !isPatternByte(target[0]):
		return nil, p.unexpected("'them' or a pattern")
	default:
		p.next()
		return &Expr{Op: Quant, Count: count, Name: target}, nil
	}
}

func (p *parser) unexpected(want string) error {
	if p.tok == "" {
		return p.fail("unexpected end, expected %s", want)
	}
	return p.fail("unexpected %q, expected %s", p.tok, want)
}

func (p *parser) fail(format string, args ...any) error {
	before := p.text[:p.start]
	line := 1 + strings.Count(before, "\n")
	column := p.start - strings.LastIndexByte(before, '\n')
	return &SyntaxError{Detail: fmt.Sprintf(format, args...), Line: line, Column: column}
}

func isPatternByte(c byte) bool {
	return c == '_' || c == '-' || c == '*' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
