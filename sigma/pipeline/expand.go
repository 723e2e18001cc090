package pipeline

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Value is what a source holds.
type Value struct {
	JSON   []byte // nil is null; nobody changes it
	Remote bool   // it was fetched over the network
}

// ExpandOptions say what values may be used for.
type ExpandOptions struct {
	AllowRemote bool // values that were fetched over the network may be included
	// Before, when not nil, is what the same pipelines were expanded to last: what is made
	// of equal values is taken over, and nothing is said of it again.
	Before *Set
}

// maxVariableBytes bounds the text of a variable whose values come from sources.
const maxVariableBytes = 64 << 20

// Expand returns the set with the values of sources in the place of references. It
// stays as it is; pipelines without references are shared. Warnings tell what was left
// out. The error is a *LoadError, or names the sources that values does not have.
func (s *Set) Expand(values map[string]Value, o ExpandOptions) (*Set, []string, error) {
	err := s.Undeclared(func(id string) bool { _, ok := values[id]; return ok })
	if err != nil {
		return nil, nil, err
	}
	x := &expansion{values: values, options: o, set: &Set{Pipelines: slices.Clone(s.Pipelines)}, compact: map[string]string{}, objects: map[string]map[string]string{}}
	x.set.values = maps.Clone(values)
	if o.Before != nil && s.Same(o.Before) {
		x.before = o.Before
	}
	for i, p := range s.Pipelines {
		if !p.Dynamic {
			continue
		}
		if x.set.Pipelines[i], err = x.expand(p, i); err != nil {
			return nil, nil, &LoadError{Path: p.Path, Err: err}
		}
	}
	return x.set, x.warnings, nil
}

// expansion is a set on its way to being expanded.
type expansion struct {
	values   map[string]Value
	options  ExpandOptions
	set      *Set
	pipeline *Pipeline // at work
	number   int
	before   *Set // an earlier expansion of the same pipelines, nil for none
	warnings []string
	compact  map[string]string            // values that were looked into, by source
	objects  map[string]map[string]string // members of objects that paths lead through, by their places
}

func (x *expansion) warn(format string, args ...any) {
	text := fmt.Sprintf("pipeline %s: ", x.pipeline.Path) + fmt.Sprintf(format, args...)
	if !slices.Contains(x.warnings, text) {
		x.warnings = append(x.warnings, text)
	}
}

func (x *expansion) expand(p *Pipeline, number int) (*Pipeline, error) {
	out := *p
	out.Dynamic, out.Vars, out.fed, out.items = false, maps.Clone(p.Vars), map[string]*variable{}, slices.Clone(p.items)
	out.Warnings = slices.Clip(p.Warnings)
	x.pipeline, x.number = &out, number
	for _, name := range slices.Sorted(maps.Keys(p.Vars)) {
		if !slices.ContainsFunc(p.Vars[name], refers) {
			continue
		}
		if have := x.made(name); have != nil {
			out.Vars[name], out.fed[name] = have.values, have
			continue
		}
		v := &filling{expansion: x, name: name}
		for _, element := range p.Vars[name] {
			if err := v.element(element); err != nil {
				return nil, fmt.Errorf("variable '%s': %w", name, err)
			}
		}
		out.Vars[name], out.fed[name] = v.list, newVariable(name, v.list, true)
	}
	for i, it := range out.items {
		if _, ok := it.act.(*include); !ok {
			continue
		}
		var err error
		if out.items[i], err = x.filled(it, i); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// made returns a variable of the pipeline at work as it was expanded before, nil when
// that was from other values.
func (x *expansion) made(name string) *variable {
	if x.before == nil {
		return nil
	}
	for _, element := range x.pipeline.Vars[name] {
		_, refs := cut(element)
		for _, r := range refs {
			if !x.sameValue(r.id) {
				return nil
			}
		}
	}
	return x.before.Pipelines[x.number].fed[name]
}

// sameValue reports whether a source has the value that it had before.
func (x *expansion) sameValue(id string) bool {
	now, then := x.values[id], x.before.values[id]
	return now.Remote == then.Remote && bytes.Equal(now.JSON, then.JSON)
}

// filling is a variable on its way to being expanded.
type filling struct {
	*expansion
	name  string
	list  []string
	bytes int
}

// element expands one element of a variable.
func (v *filling) element(text string) error {
	texts, refs := cut(text)
	switch {
	case len(refs) == 0:
		return v.add(text)
	case len(refs) == 1 && texts[0] == "" && texts[1] == "":
		return v.elements(refs[0])
	}
	var b strings.Builder
	for i, r := range refs {
		b.WriteString(texts[i])
		data, err := v.at(r)
		if err != nil {
			return err
		}
		b.WriteString(spelled(data))
		if b.Len() > maxVariableBytes {
			break // add tells
		}
	}
	b.WriteString(texts[len(refs)])
	return v.add(b.String())
}

// elements adds what a reference stands for as a list.
func (v *filling) elements(r sourceRef) error {
	data, err := v.at(r)
	if err != nil || isNull(data) {
		return err
	}
	if data[0] != '[' {
		return v.add(spelled(data))
	}
	left := 0
	err = eachElement(data, func(element string) error {
		text := spelled(element)
		if element == "null" || text == "" {
			left++
			return nil
		}
		return v.add(text)
	})
	if left > 0 {
		v.warn("variable '%s': source '%s': null or empty elements are left out: %d", v.name, r.id, left)
	}
	return err
}

// add adds a value, within the bounds of a variable.
func (v *filling) add(text string) error {
	if v.bytes += len(text); v.bytes > maxVariableBytes {
		return fmt.Errorf("its values are more than %d bytes of text; have the source give fewer", maxVariableBytes)
	}
	if len(v.list) == maxValues {
		return fmt.Errorf("it has more than %d values; have the source give fewer", maxValues)
	}
	v.list = append(v.list, text)
	return nil
}

// at returns what a reference leads to, null for a place that is not there.
func (v *filling) at(r sourceRef) (string, error) {
	data, err := v.lookup(r)
	if data == "" && err == nil && r.path != "" {
		v.warn("variable '%s': '%s' leads nowhere in the value of the source, and counts as null", v.name, r)
	}
	return data, err
}

// Changed compares the values in two expansions of the same pipelines. It returns the
// names, as in load.Outcome, of those that differ; ok is false when the pipelines are
// not the same.
func (s *Set) Changed(before *Set) (names []string, ok bool) {
	if !s.Same(before) || len(s.contents) != len(before.contents) {
		return nil, false
	}
	different := map[string]bool{}
	for i := range s.Pipelines {
		now, then := s.varsFor(i), before.varsFor(i)
		if len(now) != len(then) {
			return nil, false
		}
		for name, v := range now {
			w := then[name]
			if w == nil || v.fed != w.fed {
				return nil, false
			}
			if v != w && v.fed && !slices.Equal(v.values, w.values) {
				different[name] = true
			}
		}
	}
	for i := range s.contents {
		if s.contents[i] != before.contents[i] {
			different[s.contents[i].use] = true
		}
	}
	return slices.Sorted(maps.Keys(different)), true
}
