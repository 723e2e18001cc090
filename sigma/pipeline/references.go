package pipeline

import (
	"maps"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
)

// referring are the modifiers under which values name fields of the event.
const referring = ast.Modifiers(ast.FieldRef | ast.Expand)

// referred lists the fields that a value names.
func referred(it *ast.Item, v ast.Value) []string {
	switch {
	case it.Modifiers.Has(ast.FieldRef) && v.Kind == ast.String:
		return []string{v.Plain()}
	case it.Modifiers.Has(ast.FieldRef):
		return []string{v.Text}
	case it.Modifiers.Has(ast.Expand) && v.Kind == ast.String:
		return templateNames(v.Text)
	}
	return nil
}

// references renames the fields that values name. A name with several targets makes as
// many values.
func (t renaming) references(c *call, it ast.Item) (ast.Item, bool) {
	var values []ast.Value
	changed := false
	for _, v := range it.Values {
		var renamed []ast.Value
		switch {
		case len(referred(&it, v)) == 0:
		case it.Modifiers.Has(ast.FieldRef):
			for _, name := range t.target(c, &it, referred(&it, v)[0]) {
				renamed = append(renamed, ast.LiteralValue(name))
			}
		default:
			renamed = t.template(c, &it, v.Text)
		}
		if renamed == nil {
			renamed = []ast.Value{v}
		} else {
			changed = true
		}
		values = append(values, renamed...)
	}
	if changed {
		it.Values = values
	}
	return it, changed
}

// template renames the names in a template; nil when none changes. A name that a
// variable has is that of the variable.
func (t renaming) template(c *call, it *ast.Item, text string) []ast.Value {
	texts, changed := []string{""}, false
	extend := func(parts ...string) {
		if len(texts)*len(parts) > maxProduct {
			parts = parts[:1] // the renaming itself is beyond reason
		}
		longer := make([]string, 0, len(texts)*len(parts))
		for _, head := range texts {
			for _, part := range parts {
				longer = append(longer, head+part)
			}
		}
		texts = longer
	}
	for {
		before, rest, ok := strings.Cut(text, "%")
		name, after, closed := strings.Cut(rest, "%")
		if !ok || !closed {
			extend(text)
			break
		}
		extend(before)
		var targets []string
		if _, variable := c.vars[name]; name != "" && !variable {
			targets = t.target(c, it, name)
		}
		if targets == nil {
			targets = []string{name}
		} else {
			changed = true
		}
		parts := make([]string, 0, len(targets))
		for _, to := range targets {
			parts = append(parts, "%"+to+"%")
		}
		extend(parts...)
		text = after
	}
	if !changed {
		return nil
	}
	values := make([]ast.Value, 0, len(texts))
	for _, s := range texts {
		values = append(values, ast.StringValue(s))
	}
	return values
}

// target gives the new names of a field that a value of the item names, and notes the
// paths of each; nil leaves the name as it is.
func (t renaming) target(c *call, it *ast.Item, name string) []string {
	if !c.groups(func(w *item) bool { return w.fieldNameHolds(c.run, name, it) }) {
		return nil
	}
	targets := t.rename(name)
	for i, to := range targets {
		paths := renamedPaths(t.renamer, it.References[name], i)
		if places, ok := t.renamer.(evtxPaths); ok {
			paths = places.paths(name)
		}
		if len(paths) > 1 {
			it.References = maps.Clone(it.References)
			if it.References == nil {
				it.References = make(map[string][]string)
			}
			it.References[to] = slices.Clone(paths)
		}
	}
	return targets
}
