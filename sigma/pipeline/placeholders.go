package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
)

// maxProduct bounds the values that one value may become through two or more
// variables with several values.
const maxProduct = 100_000

// maxValues bounds the values that all placeholders of a rule become, and those of a
// variable whose values come from sources.
const maxValues = 2_000_000

// placeholders puts variables in the place of %name%.
type placeholders struct {
	wildcard         bool
	include, exclude []string
}

func readPlaceholders(typ string, p *params) (transformation, error) {
	t := placeholders{wildcard: typ == "wildcard_placeholders"}
	var err error
	if t.include, err = p.list("include"); err != nil {
		return nil, err
	}
	if t.exclude, err = p.list("exclude"); err != nil {
		return nil, err
	}
	if t.include != nil && t.exclude != nil {
		return nil, errors.New("'include' and 'exclude' exclude each other")
	}
	return t, nil
}

func (t placeholders) covers(name string) bool {
	if t.include != nil {
		return slices.Contains(t.include, name)
	}
	return !slices.Contains(t.exclude, name)
}

func (t placeholders) apply(c *call) error {
	return rewriteRule(c.rule, func(_ *ast.Node, it ast.Item) (replacement, error) {
		if !c.touches(&it) {
			return kept, nil
		}
		return t.item(c, it)
	})
}

// item substitutes in every value. When some values of an expand item keep a
// placeholder, the item is split and only their half keeps the modifier.
func (t placeholders) item(c *call, it ast.Item) (replacement, error) {
	expand := it.Modifiers.Has(ast.Expand)
	var resolved, open []ast.Value
	changed := false
	for _, v := range it.Values {
		if v.Kind != ast.String {
			resolved = append(resolved, v)
			continue
		}
		s := t.scan(c, &it, v)
		values, err := s.values(it.Modifiers.Has(ast.Re))
		if err != nil {
			return kept, err
		}
		if c.values += len(values); c.values > maxValues {
			return kept, fmt.Errorf("placeholders make more than %d values of the rule", maxValues)
		}
		changed = changed || s.substituted
		switch {
		case expand && s.open():
			open = append(open, values...)
		case resolved == nil:
			resolved = slices.Clip(values) // a long list is one for all rules
		default:
			resolved = append(resolved, values...)
		}
	}
	if !changed {
		return kept, nil
	}
	c.mark(&it)
	it.Values = resolved
	if len(open) > 0 {
		it.Values = slices.Concat(resolved, open)
	}
	switch {
	case !expand:
		return renamed(t.settle(it)), nil
	case len(open) == 0:
		it.Modifiers = it.Modifiers.Without(ast.Expand)
		return renamed(t.settle(it)), nil
	case len(resolved) == 0, it.Modifiers.Has(ast.Neq) && !slices.ContainsFunc(resolved, hasName):
		return renamed(t.settle(it)), nil // what has no placeholder is an ordinary text
	}
	template := it
	template.Values = open
	it.Values = resolved
	it.Modifiers = it.Modifiers.Without(ast.Expand)
	if it.Modifiers.HasAny(ast.Modifiers(ast.All | ast.Neq)) { // both halves must hold then
		return replacement{alternatives: [][]ast.Item{{t.settle(it), t.settle(template)}}}, nil
	}
	return replacement{alternatives: [][]ast.Item{{it}, {template}}}, nil
}

// hasName reports whether a value looks as if it had a placeholder.
func hasName(v ast.Value) bool { return v.Kind == ast.String && len(templateNames(v.Text)) > 0 }

// settle drops the modifier all when fewer than two values are left for it.
func (placeholders) settle(it ast.Item) ast.Item {
	if len(it.Values) < 2 {
		it.Modifiers = it.Modifiers.Without(ast.All)
	}
	return it
}

// piece is a run of text with its place in a value: text, or the values of a
// variable.
type piece struct {
	text     string
	variable *variable // nil for text
}

// scanned is a value cut at its placeholders.
type scanned struct {
	pieces      []piece
	substituted bool
}

// open reports whether text as written still has a placeholder, by the scan that
// the modifier expand makes of it.
func (s *scanned) open() bool {
	written := ""
	for _, p := range s.pieces {
		if p.variable != nil {
			written += "\x00" // percent signs on its two sides are no pair
			continue
		}
		written += p.text
	}
	return len(templateNames(written)) > 0
}

// templateNames lists the names between pairs of percent signs. A name that
// spans a substituted one is none.
func templateNames(text string) []string {
	var out []string
	for {
		_, rest, ok := strings.Cut(text, "%")
		name, after, closed := strings.Cut(rest, "%")
		if !ok || !closed {
			return out
		}
		if name != "" && !strings.Contains(name, "\x00") {
			out = append(out, name)
		}
		text = after
	}
}

// scan cuts the value as written: escapes stay as they are, so that the parts
// between placeholders mean what they meant.
func (t placeholders) scan(c *call, it *ast.Item, v ast.Value) scanned {
	var s scanned
	rest := v.Text
	for {
		i := strings.IndexByte(rest, '%')
		if i < 0 {
			break
		}
		s.text(rest[:i])
		rest = rest[i+1:]
		j := strings.IndexByte(rest, '%')
		if j < 0 {
			s.text("%")
			break
		}
		name := rest[:j]
		v := t.lookup(c, it, name)
		if v == nil {
			s.text("%") // the second one may begin another
			continue
		}
		s.pieces = append(s.pieces, piece{variable: v})
		s.substituted = true
		rest = rest[j+1:]
	}
	s.text(rest)
	return s
}

func (s *scanned) text(t string) {
	if t != "" {
		s.pieces = append(s.pieces, piece{text: t})
	}
}

// lookup returns the variable that a name stands for, nil for none.
func (t placeholders) lookup(c *call, it *ast.Item, name string) *variable {
	if !t.covers(name) && (t.include != nil || t.exclude != nil) {
		return nil
	}
	v := c.vars[name]
	if v != nil {
		c.read(v)
		if len(v.values) > 0 || !t.wildcard {
			return v
		}
	}
	if t.wildcard && name != "" && (it.Modifiers.Has(ast.Expand) || slices.Contains(t.include, name)) {
		if it.Modifiers.Has(ast.Re) {
			return anyExpression
		}
		return anyText
	}
	return nil
}

// What stands in the place of a name without a value.
var anyText, anyExpression = newVariable("", []string{"*"}, false), newVariable("", []string{".*"}, false)

// values gives the product of the pieces, leftmost varying slowest.
func (s *scanned) values(re bool) ([]ast.Value, error) {
	if len(s.pieces) == 1 && s.pieces[0].variable != nil && !re {
		return s.pieces[0].variable.whole(), nil
	}
	total, lists := 1, 0
	for _, p := range s.pieces {
		if p.variable != nil {
			total *= len(p.variable.values)
			if len(p.variable.values) > 1 {
				lists++
			}
			if lists > 1 && total > maxProduct {
				return nil, fmt.Errorf("placeholders multiply to more than %d values", maxProduct)
			}
		}
	}
	inserted, written := false, false
	texts := []string{""}
	for _, p := range s.pieces {
		if p.variable == nil {
			written = written || strings.Contains(p.text, beginning)
			for i := range texts {
				texts[i] += p.text
			}
			continue
		}
		inserted = inserted || p.variable.fed
		written = written || p.variable.refers()
		next := make([]string, 0, len(texts)*len(p.variable.values))
		for _, head := range texts {
			for _, v := range p.variable.values {
				next = append(next, head+v)
			}
		}
		texts = next
	}
	out := make([]ast.Value, 0, len(texts))
	for _, text := range texts {
		v := ast.Value{Kind: ast.String, Text: text}
		if !re {
			v.Parts = ast.ParseParts(text)
		}
		v.Inserted = inserted && !written
		out = append(out, v)
	}
	return out, nil
}
