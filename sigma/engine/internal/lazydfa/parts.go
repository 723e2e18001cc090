package lazydfa

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// parts are an expression as lanes run it.
type parts struct {
	root     part
	loops    int32
	asserts  bool
	anchored bool // matches only at the beginning

	classes int
	from    []rune     // the first characters of the groups beyond ASCII
	member  [][]uint64 // by 64 classes and by group: which of the classes have it
}

// part is a part of an expression.
type part struct {
	kind       kind
	optional   bool    // it may be left out; each of a sequence, with what follows it
	first, end int32   // numbers of the carries of the part
	number     int32   // of an assertion or a loop
	classes    []int32 // of a series, one carry each, or of a star
	subs       []part
}

type kind uint8

const (
	never    kind = iota
	series        // of classes
	star          // any number of a class
	assert        // of a place
	sequence      // of parts
	choice        // among parts
	loop          // one or more of a part
)

// newParts takes an expression apart.
func newParts(re *syntax.Regexp) *parts {
	b := builder{p: new(parts), ids: make(map[string]int32)}
	b.p.root = b.part(re)
	b.p.group(b.ranges)
	return b.p
}

// group puts characters together that no class tells apart. Each ASCII character is a
// group of its own.
func (p *parts) group(classes [][]rune) {
	p.classes = len(classes)
	p.from = []rune{utf8.RuneSelf}
	for _, ranges := range classes {
		for i := 0; i < len(ranges); i += 2 {
			if low, high := ranges[i], ranges[i+1]; high >= utf8.RuneSelf {
				p.from = append(p.from, max(low, utf8.RuneSelf), high+1)
			}
		}
	}
	slices.Sort(p.from)
	p.from = slices.Compact(p.from)
	for c, ranges := range classes {
		if c%64 == 0 {
			p.member = append(p.member, make([]uint64, utf8.RuneSelf+len(p.from)))
		}
		member := p.member[c/64]
		for i := 0; i < len(ranges); i += 2 {
			low, high := ranges[i], ranges[i+1]
			for r := low; r <= min(high, utf8.RuneSelf-1); r++ {
				member[r] |= 1 << (c % 64)
			}
			if high < utf8.RuneSelf {
				continue
			}
			for g := p.of(max(low, utf8.RuneSelf)); g < len(member) && p.from[g-utf8.RuneSelf] <= high; g++ {
				member[g] |= 1 << (c % 64)
			}
		}
	}
}

// of returns the group of a character beyond ASCII.
func (p *parts) of(r rune) int {
	i, first := slices.BinarySearch(p.from, r)
	if !first {
		i--
	}
	return utf8.RuneSelf + i
}

type builder struct {
	p       *parts
	carries int32
	ids     map[string]int32
	ranges  [][]rune // by class
}

// class returns the number of the class of pairs of characters.
func (b *builder) class(ranges []rune) int32 {
	key := make([]byte, 0, 3*len(ranges))
	for _, r := range ranges {
		key = append(key, byte(r), byte(r>>8), byte(r>>16))
	}
	id, ok := b.ids[string(key)]
	if !ok {
		id = int32(len(b.ranges))
		b.ids[string(key)] = id
		b.ranges = append(b.ranges, ranges)
	}
	return id
}

// single returns the class of an expression that is one character.
func (b *builder) single(re *syntax.Regexp) (class int32, ok bool) {
	switch re.Op {
	case syntax.OpCharClass:
		return b.class(re.Rune), len(re.Rune) > 0
	case syntax.OpAnyChar:
		return b.class([]rune{0, unicode.MaxRune}), true
	case syntax.OpAnyCharNotNL:
		return b.class([]rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}), true
	case syntax.OpLiteral:
		if len(re.Rune) == 1 {
			return b.literal(re.Rune[0], re.Flags), true
		}
	case syntax.OpCapture:
		return b.single(re.Sub[0])
	}
	return 0, false
}

func (b *builder) literal(r rune, flags syntax.Flags) int32 {
	ranges := []rune{r, r}
	if flags&syntax.FoldCase != 0 {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			ranges = append(ranges, f, f)
		}
	}
	return b.class(ranges)
}

// part makes the part of an expression. Its carries follow those made before.
func (b *builder) part(re *syntax.Regexp) part {
	p := part{first: b.carries}
	if class, ok := b.single(re); ok {
		p.kind, p.classes = series, []int32{class}
		b.carries++
	} else {
		b.fill(&p, re)
	}
	if p.kind == sequence && !p.optional && len(p.subs) == 1 {
		p = p.subs[0]
	}
	p.end = b.carries
	return p
}

func (b *builder) fill(p *part, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		p.kind = series
		for _, r := range re.Rune {
			p.classes = append(p.classes, b.literal(r, re.Flags))
		}
		b.carries += int32(len(re.Rune))
	case syntax.OpEmptyMatch:
		p.kind = sequence
	case syntax.OpCapture:
		*p = b.part(re.Sub[0])
	case syntax.OpConcat:
		p.kind = sequence
		for _, sub := range re.Sub {
			p.add(b.part(sub))
		}
	case syntax.OpAlternate:
		p.kind = choice
		for _, sub := range re.Sub {
			p.subs = append(p.subs, b.part(sub))
		}
	case syntax.OpStar:
		b.repeat(p, re.Sub[0], 0, -1)
	case syntax.OpPlus:
		b.repeat(p, re.Sub[0], 1, -1)
	case syntax.OpQuest:
		b.repeat(p, re.Sub[0], 0, 1)
	case syntax.OpRepeat:
		b.repeat(p, re.Sub[0], re.Min, re.Max)
	default:
		if n, ok := assertion[re.Op]; ok {
			p.kind, p.number = assert, n
			b.p.asserts = true
		}
	}
}

// add puts a part behind those of a sequence. Classes that follow each other are one.
func (p *part) add(sub part) {
	if sub.kind == sequence && !sub.optional {
		for _, s := range sub.subs {
			p.add(s)
		}
		return
	}
	if n := len(p.subs); n > 0 && sub.kind == series && !sub.optional && p.subs[n-1].kind == series && !p.subs[n-1].optional {
		last := &p.subs[n-1]
		last.classes, last.end = append(last.classes, sub.classes...), sub.end
		return
	}
	p.subs = append(p.subs, sub)
}

// repeat makes a sequence of what has to be there and what may be. A limit below zero is
// none.
func (b *builder) repeat(p *part, re *syntax.Regexp, least, limit int) {
	p.kind = sequence
	class, single := b.single(re)
	must := least
	if limit < 0 && !single {
		must = max(least, 1) - 1 // the loop is the last
	}
	for range must {
		p.add(b.part(re))
	}
	switch {
	case limit < 0 && single:
		p.subs = append(p.subs, part{kind: star, first: b.carries, end: b.carries + 1, classes: []int32{class}})
		b.carries++
	case limit < 0:
		rest := part{kind: loop, optional: least == 0, first: b.carries, number: b.p.loops}
		b.p.loops++
		rest.subs = []part{b.part(re)}
		rest.end = b.carries
		p.subs = append(p.subs, rest)
	case limit > least && single:
		n := limit - least
		p.subs = append(p.subs, part{kind: series, optional: true, first: b.carries, end: b.carries + int32(n), classes: slices.Repeat([]int32{class}, n)})
		b.carries += int32(n)
	case limit > least:
		rest := part{kind: sequence, optional: true, first: b.carries}
		for range limit - least {
			rest.subs = append(rest.subs, b.part(re))
		}
		rest.end = b.carries
		p.subs = append(p.subs, rest)
	}
}
