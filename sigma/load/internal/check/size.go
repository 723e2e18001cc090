package check

import (
	"fmt"

	"github.com/sluicehq/sluice/sigma/ast"
)

// Budgets of what a compiler has to make of a document.
const (
	maxAlternatives         = 100_000   // of one item, after windash, encodings and placeholders
	maxDocumentAlternatives = 1_000_000 // of all items, and detections that quantifiers look at
	maxDocumentInstructions = 1_000_000 // of all regular expressions
)

// alternatives adds an item to the cost of the document.
func (c *checker) alternatives(it *ast.Item) {
	n := 0
	for i := range it.Values {
		if v := &it.Values[i]; v.Inserted && len(v.Parts) <= 1 && it.Modifiers&^oneText == 0 {
			continue // one of a set, whose size is bounded where it comes in
		}
		n = min(n+variants(&it.Values[i], it.Modifiers), 1<<40)
	}
	if n > maxAlternatives {
		c.fail(it.Line, "'%s' has %d alternatives%s, the limit is %d", it.Field, n, multiplied(it.Modifiers), maxAlternatives)
	}
	c.cost += n
}

// oneText are the modifiers under which a long list is compiled to one set.
const oneText = ast.StringOperators | ast.Modifiers(ast.Neq|ast.CIDR)

func multiplied(m ast.Modifiers) string {
	if !m.HasAny(ast.Base64Encodings) {
		return ""
	}
	return fmt.Sprintf(" once '%s' is written out", m&(ast.Encodings|ast.Modifiers(ast.Windash)))
}

// variants is how many texts one value stands for once it is encoded. Without Base64
// a dash costs nothing: it is compared as it is met.
func variants(v *ast.Value, m ast.Modifiers) int {
	if !m.HasAny(ast.Base64Encodings) || v.Kind == ast.Null || v.Kind == ast.Invalid {
		return 1
	}
	n := 1
	if m.Has(ast.Windash) {
		for range min(len(ast.DashPositions(v.Plain())), 12) {
			n *= len([]rune(ast.Dashes))
		}
	}
	if m.Has(ast.Base64Offset) {
		n *= 3
	}
	return n
}

// budget judges the document as a whole, once all of it was looked at.
func (c *checker) budget(line int) {
	if c.cost > maxDocumentAlternatives {
		c.fail(line, "the document has %d alternatives, the limit is %d", c.cost, maxDocumentAlternatives)
	}
	if c.instructions > maxDocumentInstructions {
		c.fail(line, "the regexes of the document have %d instructions, the limit is %d; a Unicode class counts as %d, a range beyond ASCII as %d",
			c.instructions, maxDocumentInstructions, classInstructions, rangeInstructions)
	}
	if n := (c.steps + blockSize - 1) / blockSize; n > maxDocumentSteps {
		c.fail(line, "the regexes of the document may take %d steps for each byte of an event, the limit is %d; what repeats a group without a limit takes most", n, maxDocumentSteps)
	}
}
