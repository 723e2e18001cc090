package reference_test

import (
	"regexp/syntax"
	"strings"
)

// matching is a text that the regular expression probably matches.
func (g *Generator) matching(source string) string {
	re, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return source
	}
	var b strings.Builder
	g.spell(re, &b)
	return b.String()
}

func (g *Generator) spell(re *syntax.Regexp, b *strings.Builder) {
	times := func(least, more int) {
		for range least + g.rng.IntN(more+1) {
			g.spell(re.Sub[0], b)
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		if i := 2 * g.rng.IntN(len(re.Rune)/2+1); i < len(re.Rune) {
			lo, hi := re.Rune[i], min(re.Rune[i+1], re.Rune[i]+200)
			b.WriteRune(lo + rune(g.rng.IntN(int(hi-lo)+1)))
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteString(pick(g.rng, []string{"x", " ", "é", "\n", "0"}))
	case syntax.OpStar:
		times(0, 3)
	case syntax.OpPlus:
		times(1, 3)
	case syntax.OpQuest:
		times(0, 1)
	case syntax.OpRepeat:
		more := 3
		if re.Max >= 0 {
			more = min(more, re.Max-re.Min)
		}
		times(re.Min, more)
	case syntax.OpAlternate:
		g.spell(pick(g.rng, re.Sub), b)
	default:
		for _, sub := range re.Sub {
			g.spell(sub, b)
		}
	}
}
