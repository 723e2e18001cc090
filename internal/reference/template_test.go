package reference

import (
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
)

// template is a text with fields to be filled in: texts[0], fields[0], texts[1]
// and so on.
type template struct {
	texts  []string
	fields []*field
}

// template reads a template; an unclosed percent sign is text.
func (c *compiler) template(in *ast.Item, rest string, version int) template {
	var t template
	before := ""
	for {
		open := strings.IndexByte(rest, '%')
		if open < 0 {
			break
		}
		end := strings.IndexByte(rest[open+1:], '%')
		if end < 0 {
			break
		}
		before += rest[:open]
		if name := rest[open+1 : open+1+end]; name != "" {
			t.texts, t.fields = append(t.texts, before), append(t.fields, c.field(name, in.References[name], version))
			before = ""
		}
		rest = rest[open+end+2:]
	}
	t.texts = append(t.texts, before+rest)
	return t
}

// reachable reports whether every field it names has a text. An array means any
// element, so one without texts is like null.
func (t template) reachable(ev *Event) bool {
	for _, f := range t.fields {
		if v, _ := f.find(ev); len(leaves(v, nil)) == 0 {
			return false
		}
	}
	return true
}

// expansion compares with a template; it is nil when the text has no
// placeholder.
func (c *compiler) expansion(in *ast.Item, v ast.Value, version int) *alternative {
	m := in.Modifiers
	source := v.Text
	if v.Kind == ast.String {
		source = templateText(v)
	}
	t := c.template(in, source, version)
	if len(t.fields) == 0 {
		return nil
	}
	op, cased := operatorOf(m), m.Has(ast.Cased)
	return &alternative{
		matcher: "expand", pattern: source, textual: true, reachable: t.reachable,
		matches: func(ev *Event, v *value) bool {
			s, ok := compared(v, cased)
			if !ok {
				return false
			}
			for _, want := range t.expand(ev) {
				if !cased {
					want = fold(want)
				}
				if op.compare(s, want) {
					return true
				}
			}
			return false
		},
	}
}

// expand lists the texts a template stands for; a field that is an array
// multiplies them.
func (t template) expand(ev *Event) []string {
	out := []string{t.texts[0]}
	for i, f := range t.fields {
		v, _ := f.find(ev)
		var next []string
		for _, s := range leaves(v, nil) {
			for _, o := range out {
				next = append(next, o+s+t.texts[i+1])
			}
		}
		out = next
	}
	return out
}

// leaves lists the text forms of a value or of an array's elements.
func leaves(v *value, out []string) []string {
	if v == nil {
		return out
	}
	for _, e := range v.list {
		out = leaves(e, out)
	}
	if s, ok := v.textForm(); ok {
		out = append(out, s)
	}
	return out
}

// templateText is a string value with escapes decoded and wildcards as characters.
func templateText(v ast.Value) string {
	var b strings.Builder
	for _, p := range v.Parts {
		switch p.Kind {
		case ast.Many:
			b.WriteByte('*')
		case ast.One:
			b.WriteByte('?')
		default:
			b.WriteString(p.Text)
		}
	}
	return b.String()
}
