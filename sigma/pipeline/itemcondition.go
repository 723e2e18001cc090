package pipeline

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/sluicehq/sluice/sigma/ast"
)

// itemCondition asks something of one detection item.
type itemCondition interface {
	item(c *run, it *ast.Item) bool
}

// fieldCondition asks something of a field name; it is the item the name
// belongs to, nil for names outside of items, which are known by name alone. Keyword blocks have the name "".
type fieldCondition interface {
	field(c *run, name string, it *ast.Item) bool
}

func readItemCondition(typ string, p *params) (itemCondition, error) {
	switch typ {
	case "match_string":
		pattern, err := p.str(".*", "pattern")
		if err != nil {
			return nil, err
		}
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("invalid match_string regex '%s': %w", pattern, err)
		}
		return readValues(p, true, func(v ast.Value) bool { return v.Kind == ast.String && re.MatchString(textForm(v)) })
	case "match_value":
		n := p.get("value")
		if !p.has("value") {
			return nil, errMissing("value")
		}
		if n != nil && !n.IsScalar() {
			return nil, errScalar("value")
		}
		want := valueOf(n)
		return readValues(p, false, func(v ast.Value) bool { return v.Kind == want.Kind && equalValues(v, want) })
	case "contains_wildcard":
		return readValues(p, false, func(v ast.Value) bool { return v.Kind == ast.String && v.HasWildcard() })
	case "is_null":
		return readValues(p, true, func(v ast.Value) bool { return v.Kind == ast.Null })
	case "processing_item_applied":
		id, err := p.requiredStr("processing_item_id")
		return itemApplied(id), err
	case "processing_state":
		c, err := readStateCondition(p)
		return itemState{c}, err
	}
	return nil, fmt.Errorf("unknown detection item condition type: %s", typ)
}

// equalValues compares values of one kind: numbers by what they are worth.
func equalValues(a, b ast.Value) bool {
	if a.Kind == ast.Number {
		x, okX := parseNumber(a.Text)
		y, okY := parseNumber(b.Text)
		if okX && okY {
			return x == y
		}
	}
	return textForm(a) == textForm(b)
}

// valuesCondition asks any or all values; negate inverts the final answer.
type valuesCondition struct {
	all, negate bool
	test        func(ast.Value) bool
}

func readValues(p *params, negatable bool, test func(ast.Value) bool) (itemCondition, error) {
	c := valuesCondition{test: test}
	cond, err := p.oneOf("any", map[string]string{"any": "any", "all": "all"}, "cond")
	if err != nil {
		return nil, err
	}
	c.all = cond == "all"
	if negatable {
		if c.negate, err = p.boolean("negate"); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c valuesCondition) item(_ *run, it *ast.Item) bool {
	answer := slices.ContainsFunc(it.Values, c.test)
	if c.all {
		answer = len(it.Values) > 0 && !slices.ContainsFunc(it.Values, func(v ast.Value) bool { return !c.test(v) })
	}
	return answer != c.negate
}

type itemApplied string

func (c itemApplied) item(_ *run, it *ast.Item) bool { return slices.Contains(it.Applied, string(c)) }

type itemState struct{ *stateCondition }

func (c itemState) item(r *run, _ *ast.Item) bool { return c.holds(r.state) }

func readFieldCondition(typ string, p *params) (fieldCondition, error) {
	switch typ {
	case "include_fields", "exclude_fields":
		c := fieldsCondition{exclude: typ == "exclude_fields"}
		mode, err := p.oneOf("plain", map[string]string{"plain": "plain", "regex": "regex", "re": "regex"}, "match_type", "mode")
		if err != nil {
			return nil, err
		}
		fields, err := p.list("fields")
		if err != nil {
			return nil, err
		}
		if fields == nil {
			return nil, errMissing("fields")
		}
		c.names = fields
		if mode == "regex" {
			c.names = nil
			for _, f := range fields {
				re, err := regexp.Compile(f)
				if err != nil {
					return nil, fmt.Errorf("invalid field regex '%s': %w", f, err)
				}
				c.patterns = append(c.patterns, re)
			}
		}
		return c, nil
	case "processing_item_applied":
		id, err := p.requiredStr("processing_item_id")
		return fieldApplied(id), err
	case "processing_state":
		c, err := readStateCondition(p)
		return fieldState{c}, err
	}
	return nil, fmt.Errorf("unknown field name condition type: %s", typ)
}

type fieldsCondition struct {
	exclude  bool
	names    []string
	patterns []*regexp.Regexp
}

func (c fieldsCondition) field(_ *run, name string, _ *ast.Item) bool {
	if name == "" {
		return c.exclude
	}
	in := slices.Contains(c.names, name) || slices.ContainsFunc(c.patterns, func(re *regexp.Regexp) bool { return re.MatchString(name) })
	return in != c.exclude
}

type fieldApplied string

func (c fieldApplied) field(r *run, name string, it *ast.Item) bool {
	if it == nil {
		return slices.Contains(r.products[name], string(c))
	}
	return slices.Contains(it.Applied, renamedBy(string(c)))
}

type fieldState struct{ *stateCondition }

func (c fieldState) field(r *run, _ string, _ *ast.Item) bool { return c.holds(r.state) }

// renamedBy marks, among an item's applied ids, that its field name is the
// product of the item id. No id can hold a NUL.
func renamedBy(id string) string { return id + "\x00name" }
