package pipeline

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/sigma/ast"
)

// valueOf reads a scalar as a value of a detection item.
func valueOf(n *document.Node) ast.Value {
	switch {
	case n == nil || n.Kind == document.Null:
		return ast.Value{Kind: ast.Null}
	case n.Kind == document.Bool:
		return ast.Value{Kind: ast.Bool, Text: n.Text}
	case n.Kind == document.Int || n.Kind == document.Float:
		return ast.Value{Kind: ast.Number, Text: n.Text}
	}
	return ast.StringValue(n.Text)
}

// textForm is a string's unescaped literal when it has no wildcard, otherwise
// the value as written; numbers, booleans and null by their text.
func textForm(v ast.Value) string {
	switch {
	case v.Kind == ast.Null:
		return "null"
	case v.Kind == ast.String && !v.HasWildcard():
		return v.Plain()
	}
	return v.Text
}

func partsValue(parts []ast.Part) ast.Value {
	return ast.Value{Kind: ast.String, Text: ast.JoinParts(parts), Parts: parts}
}

// raw reports whether an item's text is no plain string: a pattern or a network.
func raw(it *ast.Item) bool { return it.Modifiers.Has(ast.Re) || it.Modifiers.Has(ast.CIDR) }

// eachValue rewrites the values of the items that the item at work touches.
// keywords says whether keyword blocks take part. change returns the values that
// take the place of one, and whether anything is different.
func (c *call) eachValue(keywords bool, change func(it *ast.Item, v ast.Value) ([]ast.Value, bool, error)) error {
	return rewriteRule(c.rule, func(_ *ast.Node, it ast.Item) (replacement, error) {
		if it.Field == "" && !keywords || !c.touches(&it) {
			return kept, nil
		}
		var values []ast.Value
		changed := false
		for _, v := range it.Values {
			vs, different, err := change(&it, v)
			if err != nil {
				return kept, err
			}
			changed = changed || different
			values = append(values, vs...)
		}
		if !changed {
			return kept, nil
		}
		it.Values = values
		c.mark(&it)
		return renamed(it), nil
	})
}

func same(v ast.Value) ([]ast.Value, bool, error) { return []ast.Value{v}, false, nil }

// mapString replaces whole values.
type mapString struct{ to map[string][]string }

func readMapString(p *params) (transformation, error) {
	n := p.get("mapping")
	if n == nil {
		return nil, errMissing("mapping")
	}
	if n.Kind != document.Map {
		return nil, errors.New("'mapping' must be a mapping")
	}
	t := mapString{to: map[string][]string{}}
	for _, e := range n.Entries {
		list, err := textList(e.Value, "mapping."+e.Key.Text)
		if err != nil {
			return nil, err
		}
		t.to[e.Key.Text] = list
	}
	return t, nil
}

func (t mapString) apply(c *call) error {
	return c.eachValue(true, func(it *ast.Item, v ast.Value) ([]ast.Value, bool, error) {
		targets, ok := t.to[textForm(v)]
		if v.Kind != ast.String || !ok || raw(it) {
			return same(v)
		}
		var out []ast.Value
		for _, s := range targets {
			out = append(out, ast.StringValue(s))
		}
		return out, true, nil
	})
}

type setValue struct{ value ast.Value }

func readSetValue(p *params) (transformation, error) {
	n := p.get("value")
	if n != nil && !n.IsScalar() {
		return nil, errScalar("value")
	}
	v := valueOf(n)
	force, err := p.oneOf("", map[string]string{"": "", "str": "str", "num": "num"}, "force_type")
	if err != nil {
		return nil, err
	}
	switch force {
	case "str":
		if v.Kind != ast.Null {
			v = ast.StringValue(v.Text)
		}
	case "num":
		text, ok := numberText(v.Text)
		if !ok {
			return nil, fmt.Errorf("'value': '%s' is not a number", v.Text)
		}
		v = ast.Value{Kind: ast.Number, Text: text}
	}
	return setValue{v}, nil
}

func (t setValue) apply(c *call) error {
	return rewriteRule(c.rule, func(_ *ast.Node, it ast.Item) (replacement, error) {
		if it.Field == "" || !c.touches(&it) {
			return kept, nil
		}
		it.Values = []ast.Value{t.value}
		it.Modifiers = it.Modifiers.Without(ast.All) // one value is all of them
		c.mark(&it)
		return renamed(it), nil
	})
}

type convertType struct{ to string }

func readConvertType(p *params) (transformation, error) {
	to, err := p.oneOf("str", map[string]string{
		"str": "str", "string": "str", "int": "int", "integer": "int", "float": "float", "num": "num", "bool": "bool", "boolean": "bool",
	}, "target_type")
	return convertType{to}, err
}

func (t convertType) apply(c *call) error {
	return c.eachValue(false, func(_ *ast.Item, v ast.Value) ([]ast.Value, bool, error) {
		w, ok := t.convert(v)
		return []ast.Value{w}, ok, nil
	})
}

func (t convertType) convert(v ast.Value) (ast.Value, bool) {
	number := func(text string, ok bool) (ast.Value, bool) {
		if !ok {
			return v, false
		}
		return ast.Value{Kind: ast.Number, Text: text}, true
	}
	plain := textForm(v)
	switch t.to {
	case "str":
		if v.Kind == ast.String {
			return v, false
		}
		return ast.LiteralValue(plain), true
	case "bool":
		b, ok := boolOf(v, plain)
		if !ok {
			return v, false
		}
		return ast.Value{Kind: ast.Bool, Text: strconv.FormatBool(b)}, true
	}
	if v.Kind == ast.Null || v.Kind == ast.Invalid {
		return v, false
	}
	if v.Kind == ast.Bool {
		if t.to == "num" {
			return v, false
		}
		return number(map[string]string{"true": "1", "false": "0"}[v.Text], true)
	}
	if v.Kind == ast.Number && (t.to == "num" || t.to == "int" && !strings.Contains(plain, ".")) {
		return v, false // it is one already, of any length
	}
	switch t.to {
	case "int":
		if n, err := strconv.ParseInt(plain, 10, 64); err == nil {
			return number(strconv.FormatInt(n, 10), true)
		}
		f, ok := parseNumber(plain)
		if v.Kind != ast.Number || !ok {
			return v, false
		}
		return number(strconv.FormatFloat(math.Trunc(f), 'f', -1, 64), true)
	case "float":
		f, ok := parseNumber(plain)
		return number(strconv.FormatFloat(f, 'f', -1, 64), ok && !math.IsInf(f, 0) && !math.IsNaN(f))
	}
	return number(numberText(plain))
}

func boolOf(v ast.Value, plain string) (value, ok bool) {
	switch v.Kind {
	case ast.Number:
		f, ok := parseNumber(plain)
		return f != 0, ok
	case ast.String:
		switch strings.ToLower(plain) {
		case "true", "1", "yes":
			return true, true
		case "false", "0", "no":
			return false, true
		}
	}
	return false, false
}

// numberText gives decimal text in canonical spelling: an integer if it parses
// as one, else the shortest decimal.
func numberText(s string) (string, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return strconv.FormatInt(n, 10), true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return "", false
	}
	return strconv.FormatFloat(f, 'f', -1, 64), true
}

// caseChange changes the letters of literal parts.
type caseChange struct{ change func(string) string }

func readCase(p *params) (transformation, error) {
	kind, err := p.oneOf("lower", map[string]string{
		"lower": "lower", "lowercase": "lower", "upper": "upper", "uppercase": "upper", "snake_case": "snake",
	}, "case_type", "case", "method")
	change := map[string]func(string) string{"lower": strings.ToLower, "upper": strings.ToUpper, "snake": snakeCase}[kind]
	return caseChange{change}, err
}

func (t caseChange) apply(c *call) error {
	return c.eachValue(true, func(it *ast.Item, v ast.Value) ([]ast.Value, bool, error) {
		if v.Kind != ast.String || raw(it) {
			return same(v)
		}
		return changeLiterals(v, t.change)
	})
}

func changeLiterals(v ast.Value, change func(string) string) ([]ast.Value, bool, error) {
	parts := slices.Clone(v.Parts)
	for i, p := range parts {
		if p.Kind == ast.Literal {
			parts[i].Text = change(p.Text)
		}
	}
	parts = slices.DeleteFunc(parts, func(p ast.Part) bool { return p.Kind == ast.Literal && p.Text == "" })
	w := partsValue(parts)
	return []ast.Value{w}, w.Text != ast.JoinParts(v.Parts), nil
}
