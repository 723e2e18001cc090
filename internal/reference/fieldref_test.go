package reference

import "github.com/sluicehq/sluice/sigma/ast"

// reference compares with another field of the whole event.
func (c *compiler) reference(in *ast.Item, v ast.Value, version int) *alternative {
	m := in.Modifiers
	name := v.Text
	if v.Kind == ast.String {
		name = v.Plain()
	}
	other := c.field(name, in.References[name], version)
	op := operatorOf(m)
	cased := m.Has(ast.Cased)
	var pair func(a, b *value) bool
	pair = func(a, b *value) bool {
		if b.kind == list {
			for _, e := range b.list {
				if pair(a, e) {
					return true
				}
			}
			return false
		}
		x, ok := a.textForm()
		y, also := b.textForm()
		if ok && also {
			if !cased {
				x, y = a.fold(), b.fold()
			}
			return op.compare(x, y)
		}
		return op == wholly && a.kind == b.kind && sameValue(a, b)
	}
	return &alternative{
		matcher: "fieldref", pattern: name, textual: true,
		reachable: func(ev *Event) bool { v, _ := other.find(ev); return v != nil },
		matches: func(ev *Event, v *value) bool {
			b, _ := other.find(ev)
			return b != nil && pair(v, b)
		},
	}
}

// sameValue is deep equality, in which the order of keys means nothing.
func sameValue(a, b *value) bool {
	if a.kind != b.kind || len(a.list) != len(b.list) {
		return false
	}
	switch a.kind {
	case text:
		return a.text == b.text
	case number:
		return numberText(a.raw) == numberText(b.raw)
	case boolean:
		return a.raw == b.raw
	}
	for i := range a.list {
		if !sameValue(a.list[i], b.list[i]) {
			return false
		}
	}
	within := func(x, y *value) bool {
		for _, m := range x.members {
			if other := y.get(m.key); other == nil || !sameValue(x.get(m.key), other) {
				return false
			}
		}
		return true
	}
	return within(a, b) && within(b, a)
}
