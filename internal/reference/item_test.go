package reference

import (
	"github.com/sluicehq/sluice/sigma/ast"
)

// alternative is one value of an item, ready to be compared. Matches sees
// single values only: arrays have been taken apart, except for null tests.
type alternative struct {
	matcher   string
	pattern   string
	textual   bool // a comparison of which case_sensitive is printed
	whole     bool // evaluates arrays itself
	matches   func(ev *Event, v *value) bool
	reachable func(ev *Event) bool // nil, or whether what it refers to is there
}

func (a *alternative) holds(ev *Event, v *value) bool {
	if v.kind != list || a.whole {
		return a.matches(ev, v)
	}
	for _, e := range v.list {
		if a.holds(ev, e) {
			return true
		}
	}
	return false
}

// item is one line of a detection.
type item struct {
	field        *field
	exists       bool
	wanted       bool // with exists
	all, neq     bool
	cased        bool
	several      bool // always one_of: base64offset, windash
	nullable     bool // an alternative is null
	alternatives []*alternative
}

// holds reports whether the item holds in a scope.
func (it *item) holds(s scope) bool {
	v, _ := s.find(it.field)
	if it.exists {
		return (v != nil && v.kind != null) == it.wanted
	}
	if v == nil {
		return it.nullable && !it.all && !it.neq
	}
	if !it.reachable(s.ev) {
		return false
	}
	if it.neq {
		return !it.anyHolds(s.ev, v)
	}
	if it.all {
		return it.allHold(s.ev, v)
	}
	return it.anyHolds(s.ev, v)
}

// reachable is false when every alternative refers to something that is not in
// the event: then even neq does not hold.
func (it *item) reachable(ev *Event) bool {
	for _, a := range it.alternatives {
		if a.reachable == nil || a.reachable(ev) {
			return true
		}
	}
	return len(it.alternatives) == 0
}

func (it *item) anyHolds(ev *Event, v *value) bool {
	for _, a := range it.alternatives {
		if a.holds(ev, v) {
			return true
		}
	}
	return false
}

func (it *item) allHold(ev *Event, v *value) bool {
	for _, a := range it.alternatives {
		if !a.holds(ev, v) {
			return false
		}
	}
	return len(it.alternatives) > 0
}

// searches reports whether the item, as a keyword group, finds its values in words.
func (it *item) searches(ev *Event, words []*value) bool {
	if len(words) == 0 {
		return false
	}
	found := func(a *alternative) bool {
		for _, w := range words {
			if a.matches(ev, w) {
				return true
			}
		}
		return false
	}
	any, all := false, len(it.alternatives) > 0
	for _, a := range it.alternatives {
		hit := found(a)
		any, all = any || hit, all && hit
	}
	switch {
	case it.neq:
		return !any
	case it.all:
		return all
	}
	return any
}

// compiler numbers the fields of a rule set.
type compiler struct{ fields map[string]*field }

// field returns the one field of that name. Fields of bodies are shared, too:
// their number is not used there.
func (c *compiler) field(name string, paths []string, version int) *field {
	key := string(rune('0'+min(version, 3))) + name
	for _, p := range paths {
		key += "\x00" + p
	}
	if f := c.fields[key]; f != nil {
		return f
	}
	f := &field{id: len(c.fields), path: parsePath(name, version)}
	for _, p := range paths {
		f.paths = append(f.paths, parsePattern(p))
	}
	c.fields[key] = f
	return f
}

// item compiles one item. As a keyword its values are texts to be found inside.
func (c *compiler) item(in *ast.Item, version int, keyword bool) (*item, error) {
	m := in.Modifiers
	it := &item{
		field: c.field(in.Field, in.Paths, version), all: m.Has(ast.All), neq: m.Has(ast.Neq), cased: m.Has(ast.Cased),
		several: m.Has(ast.Windash) || m.Has(ast.Base64Offset),
	}
	if m.Has(ast.Exists) {
		it.exists, it.wanted = true, true
		if len(in.Values) > 0 {
			it.wanted = wanted(in.Values[0])
		}
		return it, nil
	}
	for i := range in.Values {
		as, err := c.alternatives(in, in.Values[i], version, keyword)
		if err != nil {
			return nil, err
		}
		it.nullable = it.nullable || in.Values[i].Kind == ast.Null && !keyword
		it.alternatives = append(it.alternatives, as)
	}
	return it, nil
}

// wanted reads the value of exists: anything that is not a form of no is yes.
func wanted(v ast.Value) bool {
	switch v.Kind {
	case ast.Bool, ast.String:
		return v.Text != "false" && v.Text != "no"
	}
	return true
}
