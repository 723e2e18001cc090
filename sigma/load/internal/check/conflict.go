package check

import (
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
)

// Spelling finds the written form of a key's modifiers again after pipelines
// moved its item.
type Spelling struct {
	Line      int
	Modifiers ast.Modifiers
}

// Conflicting reports whether some of the modifiers exclude each other, on an item
// with a field or, as a keyword, without.
func Conflicting(s ast.Modifiers, keyword bool) bool { return len(conflicts(s, keyword)) > 0 }

// conflict is one violated rule of combination.
type conflict struct {
	modifiers ast.Modifiers
	why       string
}

// conflicts lists the modifiers that exclude each other.
func conflicts(s ast.Modifiers, keyword bool) []conflict {
	const single = ast.StringOperators | ast.OrderOperators | ast.TimeParts |
		ast.Modifiers(ast.Re|ast.CIDR|ast.Exists|ast.FieldRef)
	const transforming = ast.Encodings | ast.Modifiers(ast.Windash|ast.Expand)
	const testing = single &^ ast.StringOperators
	const forKeywords = ast.StringOperators | ast.RegexFlags | ast.Encodings |
		ast.Modifiers(ast.Re|ast.Cased|ast.All|ast.Neq|ast.Windash)

	var out []conflict
	exclusive := s & single
	if s.Has(ast.FieldRef) && count(s&ast.StringOperators) == 1 {
		exclusive &^= ast.StringOperators
	}
	if count(exclusive) > 1 {
		out = append(out, conflict{s & single, "only one of them is allowed"})
	}
	if count(s&ast.UTF16Encodings) > 1 {
		out = append(out, conflict{s & ast.UTF16Encodings, "only one of them is allowed"})
	}
	if count(s&ast.Base64Encodings) > 1 {
		out = append(out, conflict{s & ast.Base64Encodings, "only one of them is allowed"})
	}
	if s.HasAny(transforming) && s.HasAny(testing) {
		out = append(out, conflict{s & (transforming | testing), "they exclude each other"})
	}
	if s.HasAny(ast.RegexFlags) && !s.Has(ast.Re) {
		out = append(out, conflict{s & ast.RegexFlags, "only with re"})
	}
	if s.Has(ast.Neq) && s.HasAny(ast.OrderOperators|ast.Modifiers(ast.Exists)) {
		out = append(out, conflict{s & (ast.OrderOperators | ast.Modifiers(ast.Exists|ast.Neq)), "they exclude each other"})
	}
	if keyword && s&^forKeywords != 0 {
		out = append(out, conflict{s &^ forKeywords, "not without a field name"})
	}
	return out
}

func count(s ast.Modifiers) int { return len(s.List()) }

// spell lists the modifiers of a conflict in the spelling and order of written,
// or in canonical ones when that is unknown.
func (c conflict) spell(written []string) string {
	var names []string
	for _, name := range written {
		if m, ok := ast.ParseModifier(name); ok && c.modifiers.Has(m) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return c.modifiers.String()
	}
	return strings.Join(names, "|")
}
