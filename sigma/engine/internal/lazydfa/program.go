package lazydfa

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode/utf8"
)

// Program is a compiled expression. It may be shared.
type Program struct {
	prog     *syntax.Prog
	class    [128]uint8 // of a byte
	sample   []rune     // by class: a byte of it
	anchored bool       // matches only at the beginning
	pace     int        // half of the steps that lanes take for a byte, about
	whole    []byte     // the text that is all it asks for; nil when it asks for more
	parts    func() *parts
}

// Compile parses an expression of RE2 syntax.
func Compile(source string) (*Program, error) {
	re, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("parse expression: %w", err)
	}
	var whole []byte
	if re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase == 0 && !slices.Contains(re.Rune, utf8.RuneError) {
		whole = []byte(string(re.Rune))
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return nil, fmt.Errorf("compile expression: %w", err)
	}
	p := &Program{prog: prog, whole: whole, anchored: prog.StartCond()&syntax.EmptyBeginText != 0, pace: 2 + len(prog.Inst)/(2*block)}
	p.parts = sync.OnceValue(func() *parts {
		re, _ := syntax.Parse(source, syntax.Perl) // once more: simplifying has changed it
		parts := newParts(re)
		parts.anchored = p.anchored
		return parts
	})
	p.classify()
	return p, nil
}

// classify puts bytes together that no instruction tells apart.
func (p *Program) classify() {
	signature := make([]string, 128)
	buf := make([]byte, 0, len(p.prog.Inst)+1)
	for c := range rune(128) {
		buf = buf[:0]
		for i := range p.prog.Inst {
			switch in := &p.prog.Inst[i]; in.Op {
			case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
				if in.MatchRune(c) {
					buf = append(buf, 1)
				} else {
					buf = append(buf, 0)
				}
			}
		}
		buf = append(buf, context(c))
		signature[c] = string(buf)
	}
	classes := make(map[string]uint8)
	for c, s := range signature {
		id, ok := classes[s]
		if !ok {
			id = uint8(len(p.sample))
			classes[s] = id
			p.sample = append(p.sample, rune(c))
		}
		p.class[c] = id
	}
}

// Contexts are what assertions see of the character before a position.
const (
	contextOther uint8 = iota
	contextWord
	contextNewline
	contextBegin
)

func context(c rune) uint8 {
	switch {
	case c == '\n':
		return contextNewline
	case syntax.IsWordChar(c):
		return contextWord
	}
	return contextOther
}

// before returns a character that stands for a context.
func before(ctx uint8) rune {
	return [...]rune{contextOther: ' ', contextWord: 'a', contextNewline: '\n', contextBegin: -1}[ctx]
}
