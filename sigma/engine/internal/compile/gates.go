package compile

import (
	"regexp/syntax"

	"github.com/sluicehq/sluice/sigma/engine/internal/literal"
	"github.com/sluicehq/sluice/sigma/event"
)

// gates returns predicates of which one must hold for p to hold, simpler than p,
// or nil when none are known.
func (b *builder) gates(p *Pred) []uint32 {
	simple := func(kind Kind, text string) uint32 {
		return b.pred(Pred{Kind: kind, Field: p.Field, Text: event.Fold(text)})
	}
	switch p.Kind {
	case Among:
		if p.Cased {
			return []uint32{b.foldedAmong(p)}
		}
	case Exact, Prefix, Suffix:
		if p.Cased {
			return []uint32{simple(p.Kind, p.Text)}
		}
	case Contains:
		if p.Cased && literal.CanContain(p.Text) {
			return []uint32{simple(Contains, p.Text)}
		}
	case Glob:
		return b.globGate(p.More.Glob, simple)
	case Regex:
		return b.regexGates(p.Text, simple)
	}
	return nil
}

// globGate takes the longest literal of a pattern.
func (b *builder) globGate(g *Pattern, simple func(Kind, string) uint32) []uint32 {
	texts, first, last := g.literals()
	best, kind := "", Contains
	for i, t := range texts {
		k := Contains
		switch {
		case i == 0 && first && len(g.runs[0]) > 0 && g.runs[0][0].text != "":
			k = Prefix
		case i == len(texts)-1 && last:
			k = Suffix
		}
		if k == Contains && !literal.CanContain(t) {
			continue
		}
		if len(t) > len(best) {
			best, kind = t, k
		}
	}
	if best == "" {
		return nil
	}
	return []uint32{simple(kind, best)}
}

// Bounds of the literals taken from one expression, and of their length: more tells
// texts apart no better.
const (
	maxGates     = 64
	maxGateBytes = 4096
)

func (b *builder) regexGates(source string, simple func(Kind, string) uint32) []uint32 {
	re, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil
	}
	list := required(re.Simplify())
	if list.best == nil {
		return nil
	}
	var ids []uint32
	for _, t := range list.best {
		ids = append(ids, simple(Contains, t))
	}
	return ids
}

// texts is what a regular expression demands: exact, when not nil, are the only
// texts it matches; best, when not nil, are texts of which one must occur in
// whatever it matches. All are folded.
type texts struct{ exact, best []string }

func anything() texts { return texts{} }

// required finds the texts a simplified expression demands.
func required(re *syntax.Regexp) texts {
	switch re.Op {
	case syntax.OpLiteral:
		return only(event.Fold(string(re.Rune)))
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return texts{exact: []string{""}}
	case syntax.OpCharClass:
		return classTexts(re.Rune)
	case syntax.OpCapture:
		return required(re.Sub[0])
	case syntax.OpPlus:
		return texts{best: required(re.Sub[0]).candidates()}
	case syntax.OpRepeat:
		if re.Min > 0 {
			return texts{best: required(re.Sub[0]).candidates()}
		}
	case syntax.OpQuest:
		if sub := required(re.Sub[0]); sub.exact != nil && len(sub.exact) < maxGates {
			return texts{exact: append([]string{""}, sub.exact...)}
		}
	case syntax.OpConcat:
		return concatTexts(re.Sub)
	case syntax.OpAlternate:
		return alternateTexts(re.Sub)
	}
	return anything()
}

func only(s string) texts { return texts{exact: []string{s}} }

// classTexts spells out a small character class.
func classTexts(ranges []rune) texts {
	seen := make(map[string]bool)
	var out []string
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i+1]-ranges[i] > 8 {
			return anything()
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if s := event.Fold(string(r)); !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	if len(out) == 0 || len(out) > 4 {
		return anything()
	}
	return texts{exact: out}
}

// candidates returns the texts as a demand, when they are long enough.
func (t texts) candidates() []string {
	if t.exact == nil {
		return t.best
	}
	return better(t.best, t.exact)
}

// better returns the list whose shortest text is longer, if it is long enough to
// be found at all; of equals the shorter list.
func better(a, b []string) []string {
	la, lb := shortest(a), shortest(b)
	switch {
	case lb < literal.MinShort || len(b) > maxGates:
		return a
	case a == nil || lb > la || lb == la && len(b) < len(a):
		return b
	}
	return a
}

func longest(list []string) int {
	n := 0
	for _, s := range list {
		n = max(n, len(s))
	}
	return n
}

func shortest(list []string) int {
	n := 0
	for i, s := range list {
		if i == 0 || len(s) < n {
			n = len(s)
		}
	}
	return n
}

// concatTexts multiplies neighbours out as far as that stays small.
func concatTexts(subs []*syntax.Regexp) texts {
	var best []string
	run := []string{""}
	whole := true
	for _, sub := range subs {
		t := required(sub)
		if t.exact != nil && len(run)*len(t.exact) <= maxGates && len(run)*(len(run[0])+longest(t.exact)) <= maxGateBytes {
			run = product(run, t.exact)
			continue
		}
		best = better(best, run)
		best = better(best, t.candidates())
		whole = false
		run = []string{""}
		if t.exact != nil && len(t.exact) <= maxGates {
			run = t.exact
		}
	}
	if whole {
		return texts{exact: run}
	}
	return texts{best: better(best, run)}
}

func product(a, b []string) []string {
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return out
}

// alternateTexts demands one of what the branches demand.
func alternateTexts(subs []*syntax.Regexp) texts {
	var exact, best []string
	allExact, allBest := true, true
	for _, sub := range subs {
		t := required(sub)
		allExact = allExact && t.exact != nil
		exact = append(exact, t.exact...)
		c := t.candidates()
		allBest = allBest && c != nil
		best = append(best, c...)
	}
	switch {
	case allExact && len(exact) <= maxGates:
		return texts{exact: exact}
	case allBest && len(best) <= maxGates:
		return texts{best: best}
	}
	return anything()
}
