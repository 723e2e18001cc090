package check

import (
	"errors"
	"regexp/syntax"
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
)

// Limits of one regular expression: what it becomes once repetitions are written
// out, and what makes even reading it dear.
const (
	maxInstructions = 20_000
	maxClasses      = 500 // \p{..} and \P{..}
	maxWideRanges   = 64  // ranges beyond ASCII

	// What they count as among the instructions of the document.
	classInstructions = maxDocumentInstructions / maxClasses
	rangeInstructions = maxDocumentInstructions / maxWideRanges
)

// regex checks an expression. Parsing finds every fault of it, at a fraction of the
// cost of compiling it.
func (c *checker) regex(it *ast.Item, v *ast.Value) {
	classes, ranges := strings.Count(v.Text, `\p`)+strings.Count(v.Text, `\P`), wideRanges(v.Text)
	if classes > maxClasses {
		c.fail(it.Line, "the regex of '%s' has %d Unicode classes, the limit is %d", it.Field, classes, maxClasses)
		return
	}
	if ranges > maxWideRanges {
		c.fail(it.Line, "the regex of '%s' has %d ranges beyond ASCII, the limit is %d", it.Field, ranges, maxWideRanges)
		return
	}
	if c.instructions += classes*classInstructions + ranges*rangeInstructions; c.instructions > maxDocumentInstructions {
		return // the document is rejected for it
	}
	re, err := syntax.Parse(v.Text, syntax.Perl)
	switch e := (*syntax.Error)(nil); {
	case errors.As(err, &e) && insteadOf(e) != "":
		c.fail(it.Line, "invalid regex: %s", insteadOf(e))
		return
	case errors.As(err, &e):
		c.fail(it.Line, "invalid regex: %s: `%s`", e.Code, e.Expr)
		return
	case err != nil:
		c.fail(it.Line, "invalid regex: %v", err)
		return
	}
	n := instructions(re)
	c.instructions += n
	if n > maxInstructions {
		c.fail(it.Line, "the regex of '%s' has %d instructions once its repetitions are written out, the limit is %d", it.Field, n, maxInstructions)
		return
	}
	c.steps += steps(re)
}

// lacking are the parts of other kinds of expressions that RE2 does not have, and what
// to write instead.
var lacking = []struct{ text, name, instead string }{
	{"(?<=", "look-behind", behind},
	{"(?<!", "look-behind", ahead},
	{"(?=", "look-ahead", "write what follows as part of the expression"},
	{"(?!", "look-ahead", ahead},
	{"(?>", "an atomic group", "write (?:...), which takes no longer here"},
	{"*+", "a possessive quantifier", possessive},
	{"++", "a possessive quantifier", possessive},
	{"?+", "a possessive quantifier", possessive},
	{"}+", "a possessive quantifier", possessive},
}

const (
	behind     = "write what comes before as part of the expression"
	ahead      = "write a second detection for what must not be there, and 'and not' in the condition"
	possessive = "leave the second + out, it takes no longer here"
)

// insteadOf names what of an expression RE2 does not have, and what to write instead;
// "" for another fault.
func insteadOf(fault *syntax.Error) string {
	for _, l := range lacking {
		if strings.HasPrefix(fault.Expr, l.text) || strings.HasSuffix(fault.Expr, l.text) {
			return l.name + " `" + l.text + "` is not in RE2: " + l.instead
		}
	}
	if e := fault.Expr; fault.Code == syntax.ErrInvalidEscape && len(e) == 2 && e[1] >= '1' && e[1] <= '9' {
		return "back-reference `" + e + "` is not in RE2: write the alternatives out, or compare two fields with 'fieldref'"
	}
	return ""
}

// wideRanges counts the ranges whose end is written as a character beyond ASCII.
func wideRanges(s string) int {
	n := 0
	for {
		_, rest, found := strings.Cut(s, "-")
		if !found {
			return n
		}
		if s = rest; strings.HasPrefix(s, `\x`) || s != "" && s[0] >= 0x80 {
			n++
		}
	}
}

// instructions is how many instructions an expression has once it is simplified,
// which may take far more memory than its text.
func instructions(re *syntax.Regexp) int {
	sum := 0
	for _, sub := range re.Sub {
		sum += instructions(sub)
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest:
		return sum + 1
	case syntax.OpAlternate:
		return sum + len(re.Sub) - 1
	case syntax.OpCapture:
		return sum + 2
	case syntax.OpConcat:
		return sum
	case syntax.OpRepeat:
		switch {
		case re.Max < 0:
			return max(re.Min, 1)*sum + 1
		default:
			return re.Max*sum + re.Max - re.Min
		}
	}
	return 1
}
