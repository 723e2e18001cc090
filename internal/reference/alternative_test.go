package reference

import (
	"fmt"
	"net/netip"
	"regexp"

	"github.com/sluicehq/sluice/sigma/ast"
)

// alternatives compiles one value of an item. What
// windash and base64offset multiply stays one alternative.
func (c *compiler) alternatives(in *ast.Item, v ast.Value, version int, keyword bool) (*alternative, error) {
	m := in.Modifiers
	switch {
	case v.Kind == ast.Invalid || v.Kind == ast.Null && keyword:
		return &alternative{matcher: "null", matches: func(*Event, *value) bool { return false }}, nil
	case v.Kind == ast.Null:
		return &alternative{matcher: "null", whole: true, matches: func(_ *Event, v *value) bool { return v.kind == null }}, nil
	case m.Has(ast.Re):
		return regex(v.Text, m)
	case m.Has(ast.CIDR):
		return network(v.Text)
	case m.Has(ast.FieldRef):
		return c.reference(in, v, version), nil
	case m.HasAny(ast.TimeParts):
		return timePart(v, m)
	case m.HasAny(ast.OrderOperators):
		return ordering(v, m)
	case m.Has(ast.Expand):
		if a := c.expansion(in, v, version); a != nil {
			return a, nil
		}
	}
	asText := keyword || m.Has(ast.Cased) || m.HasAny(ast.Encodings)
	switch {
	case v.Kind == ast.Bool && (m.HasAny(ast.StringOperators) && !keyword || !asText):
		return truth(v.Text), nil
	case v.Kind == ast.Number && !asText && !m.HasAny(ast.StringOperators):
		return numberAlternative("numeric", "= ", v.Text, func(v *value) (numeric, bool) { return v.numericForm() },
			func(order int) bool { return order == 0 })
	case v.Kind != ast.String:
		v = ast.LiteralValue(v.Text)
	}
	return textual(v, m, keyword)
}

func regex(source string, m ast.Modifiers) (*alternative, error) {
	flags := ""
	for _, f := range m.List() {
		if ast.RegexFlags.Has(f) {
			flags += f.String()
		}
	}
	if flags != "" {
		source = "(?" + flags + ")" + source
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, fmt.Errorf("regular expression: %w", err)
	}
	return &alternative{matcher: "regex", pattern: source, matches: func(_ *Event, v *value) bool {
		s, ok := v.textForm()
		return ok && re.MatchString(s)
	}}, nil
}

func network(text string) (*alternative, error) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return nil, fmt.Errorf("network: %w", err)
	}
	p = p.Masked()
	return &alternative{matcher: "cidr", pattern: p.String(), matches: func(_ *Event, v *value) bool {
		s, ok := v.textForm()
		addr, err := netip.ParseAddr(s)
		return ok && err == nil && addr.Zone() == "" && (p.Contains(addr) || p.Contains(addr.Unmap()))
	}}, nil
}

func truth(want string) *alternative {
	accepted := []string{"false", "0", "no"}
	if want == "true" {
		accepted = []string{"true", "1", "yes"}
	}
	return &alternative{matcher: "bool", pattern: want, matches: func(_ *Event, v *value) bool {
		switch v.kind {
		case boolean:
			return v.raw == want
		case text:
			for _, a := range accepted {
				if fold(v.text) == a {
					return true
				}
			}
		}
		return false
	}}
}

func ordering(v ast.Value, m ast.Modifiers) (*alternative, error) {
	sign, want := "> ", func(order int) bool { return order > 0 }
	switch {
	case m.Has(ast.GTE):
		sign, want = ">= ", func(order int) bool { return order >= 0 }
	case m.Has(ast.LT):
		sign, want = "< ", func(order int) bool { return order < 0 }
	case m.Has(ast.LTE):
		sign, want = "<= ", func(order int) bool { return order <= 0 }
	}
	return numberAlternative("numeric", sign, v.Text, func(v *value) (numeric, bool) { return v.numericForm() }, want)
}

// numberAlternative compares what form makes of a value with a number.
func numberAlternative(matcher, sign, text string, form func(*value) (numeric, bool), want func(order int) bool) (*alternative, error) {
	n := parseNumber(text)
	if !n.ok {
		return nil, fmt.Errorf("expected numeric value: %s", text)
	}
	return &alternative{matcher: matcher, pattern: sign + numberText(text), matches: func(_ *Event, v *value) bool {
		got, ok := form(v)
		return ok && want(got.compare(n))
	}}, nil
}
