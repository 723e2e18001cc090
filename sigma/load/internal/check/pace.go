package check

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// maxDocumentSteps bounds what the regular expressions of a document take for each byte
// of an event, if all of them look at all of it and no automaton is of use.
const maxDocumentSteps = 1000

// An evaluator judges a text in blocks of characters. In each block every part of an
// expression that the text can reach is passed once, and the body of a loop once for
// each character at most.
const (
	blockSize  = 64
	partSteps  = 4   // beginning with a part
	classSteps = 192 // telling up to 64 classes apart in a block, at most
	quoted     = 3   // bytes that a text takes in an event beside its own
)

// pace is what an expression takes for a block, by how many characters a text has to
// have before it reaches that.
type pace struct {
	straight, looped [blockSize + 1]int // steps
	classes          [blockSize + 1]int // of characters
	again            bool               // at work at what repeats

	known   map[string]bool        // classes
	members [utf8.RuneSelf + 1]int // by character, one for all beyond ASCII: the classes that have it
}

// steps returns how many steps an expression takes for 64 bytes of an event: texts that
// are long, or shorter and more.
func steps(re *syntax.Regexp) int {
	if re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase == 0 && !slices.Contains(re.Rune, utf8.RuneError) {
		return blockSize // a text is looked for as such
	}
	p := pace{known: make(map[string]bool)}
	p.walk(re, 0, false)
	shared := slices.Max(p.members[:])
	most, straight, looped, classes := 0, 0, 0, 0
	for n := range p.straight {
		straight, looped, classes = straight+p.straight[n], looped+p.looped[n], classes+p.classes[n]
		tiles := (classes + blockSize - 1) / blockSize
		cost := 2*n + tiles*(n+16) + min(n*shared, tiles*classSteps) + straight + straight/blockSize + (n+2)*looped
		if bytes := n + quoted; n < blockSize {
			cost = cost * blockSize / bytes
		}
		most = max(most, cost)
	}
	return most
}

// walk adds an expression that begins behind a number of characters, and returns behind
// how many it ends at least.
func (p *pace) walk(re *syntax.Regexp, before int, looped bool) (after int) {
	switch re.Op {
	case syntax.OpLiteral:
		p.add(partSteps, before, looped)
		for _, r := range re.Rune {
			p.class(before, looped, literal(r, re.Flags))
			before++
		}
		return before
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		p.add(partSteps, before, looped)
		p.class(before, looped, ranges(re))
		return before + 1
	case syntax.OpStar:
		return p.repeat(re.Sub[0], 0, -1, before, looped)
	case syntax.OpPlus:
		return p.repeat(re.Sub[0], 1, -1, before, looped)
	case syntax.OpQuest:
		return p.repeat(re.Sub[0], 0, 1, before, looped)
	case syntax.OpRepeat:
		return p.repeat(re.Sub[0], re.Min, re.Max, before, looped)
	case syntax.OpCapture:
		return p.walk(re.Sub[0], before, looped)
	}
	p.add(partSteps, before, looped)
	after = before
	for i, sub := range re.Sub { // of a choice or of a sequence
		switch end := p.walk(sub, before, looped); {
		case re.Op == syntax.OpConcat:
			before, after = end, end
		case i == 0 || end < after:
			after = end
		}
	}
	return after
}

// repeat adds what must be there and what may be, one behind the other, and a loop when
// there is no limit.
func (p *pace) repeat(re *syntax.Regexp, least, limit, before int, looped bool) (after int) {
	p.add(2*partSteps, before, looped)
	after = before
	copies, loop := limit, -1
	switch {
	case limit < 0 && single(re):
		copies = least + 1
	case limit < 0:
		copies = max(least, 1)
		loop = copies - 1
	}
	again, one := p.again, single(re)
	defer func() { p.again = again }()
	for i := range copies {
		if one {
			p.class(before, looped, ranges(re)) // with those around it one part
			before++
		} else {
			before = p.walk(re, before, looped || i == loop)
		}
		p.again = true
		if i < least {
			after = before
		}
	}
	return after
}

// class adds a character that is in one of the ranges.
func (p *pace) class(before int, looped bool, ranges []rune) {
	p.add(1, before, looped)
	if p.again {
		return
	}
	p.classes[min(before, blockSize)]++
	if key := string(ranges); !p.known[key] {
		p.known[key] = true
		for i := 0; i < len(ranges); i += 2 {
			for r := ranges[i]; r <= min(ranges[i+1], utf8.RuneSelf-1); r++ {
				p.members[r]++
			}
		}
		if len(ranges) > 0 && slices.Max(ranges) >= utf8.RuneSelf {
			p.members[utf8.RuneSelf]++
		}
	}
}

func (p *pace) add(steps, before int, looped bool) {
	if looped {
		p.looped[min(before, blockSize)] += steps
	} else {
		p.straight[min(before, blockSize)] += steps
	}
}

// single reports whether an expression is one character.
func single(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	case syntax.OpLiteral:
		return len(re.Rune) == 1
	case syntax.OpCapture:
		return single(re.Sub[0])
	}
	return false
}

// ranges returns the ranges of an expression that is one character.
func ranges(re *syntax.Regexp) []rune {
	switch re.Op {
	case syntax.OpCharClass:
		return re.Rune
	case syntax.OpLiteral:
		return literal(re.Rune[0], re.Flags)
	case syntax.OpCapture:
		return ranges(re.Sub[0])
	}
	return []rune{0, unicode.MaxRune}
}

// literal returns the ranges of a character, whose case may not matter.
func literal(r rune, flags syntax.Flags) []rune {
	out := []rune{r, r}
	if flags&syntax.FoldCase != 0 {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			out = append(out, f, f)
		}
	}
	return out
}
