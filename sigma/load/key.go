package load

import (
	"strings"

	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/sigma/load/document"
)

// key takes a key apart. It reports unknown modifiers, all of them, and false
// when the key is unusable.
func (b *builder) key(n *document.Node) (field string, modifiers sigma.Modifiers, ok bool) {
	field, rest, has := strings.Cut(n.Text, "|")
	if !has {
		return field, 0, true
	}
	ok = true
	written := strings.Split(rest, "|")
	for _, name := range written {
		m, known := sigma.ParseModifier(name)
		switch {
		case name == "not":
			b.fail(n.Line, "Unknown modifier 'not': negation belongs in the condition")
			ok = false
		case !known:
			b.fail(n.Line, "Unknown modifier '%s'", name)
			ok = false
		case modifiers.Has(m) && sigma.TimeParts.Has(m):
			b.failCompile(n.Line, "conflicting modifiers: %s|%s", name, name)
		}
		modifiers = modifiers.With(m)
	}
	if ok && len(conflicts(modifiers, field == "" || field == ".")) > 0 {
		if b.Written == nil {
			b.Written = make(map[spelling][]string)
		}
		b.Written[spelling{n.Line, modifiers}] = written
	}
	return field, modifiers, ok
}

// conflict is one violated rule of combination.
type conflict struct {
	modifiers sigma.Modifiers
	why       string
}

// conflicts lists the modifiers that exclude each other.
func conflicts(s sigma.Modifiers, keyword bool) []conflict {
	const single = sigma.StringOperators | sigma.OrderOperators | sigma.TimeParts |
		sigma.Modifiers(sigma.Re|sigma.CIDR|sigma.Exists|sigma.FieldRef)
	const transforming = sigma.Encodings | sigma.Modifiers(sigma.Windash|sigma.Expand)
	const testing = single &^ sigma.StringOperators
	const forKeywords = sigma.StringOperators | sigma.RegexFlags | sigma.Encodings |
		sigma.Modifiers(sigma.Re|sigma.Cased|sigma.All|sigma.Neq|sigma.Windash)

	var out []conflict
	exclusive := s & single
	if s.Has(sigma.FieldRef) && count(s&sigma.StringOperators) == 1 {
		exclusive &^= sigma.StringOperators
	}
	if count(exclusive) > 1 {
		out = append(out, conflict{s & single, "only one of them is allowed"})
	}
	if count(s&sigma.UTF16Encodings) > 1 {
		out = append(out, conflict{s & sigma.UTF16Encodings, "only one of them is allowed"})
	}
	if count(s&sigma.Base64Encodings) > 1 {
		out = append(out, conflict{s & sigma.Base64Encodings, "only one of them is allowed"})
	}
	if s.HasAny(transforming) && s.HasAny(testing) {
		out = append(out, conflict{s & (transforming | testing), "they exclude each other"})
	}
	if s.HasAny(sigma.RegexFlags) && !s.Has(sigma.Re) {
		out = append(out, conflict{s & sigma.RegexFlags, "only with re"})
	}
	if s.Has(sigma.Neq) && s.HasAny(sigma.OrderOperators|sigma.Modifiers(sigma.Exists)) {
		out = append(out, conflict{s & (sigma.OrderOperators | sigma.Modifiers(sigma.Exists|sigma.Neq)), "they exclude each other"})
	}
	if keyword && s&^forKeywords != 0 {
		out = append(out, conflict{s &^ forKeywords, "not without a field name"})
	}
	return out
}

func count(s sigma.Modifiers) int { return len(s.List()) }

// spell lists the modifiers of a conflict in the spelling and order of written,
// or in canonical ones when that is unknown.
func (c conflict) spell(written []string) string {
	var names []string
	for _, name := range written {
		if m, ok := sigma.ParseModifier(name); ok && c.modifiers.Has(m) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return c.modifiers.String()
	}
	return strings.Join(names, "|")
}
