package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/redact"
	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/internal/unavailable"
)

// Check reports every value of global and of the sections that is not allowed:
// those that tags exclude, and those that the features themselves refuse.
// Without a section it looks at the whole tree.
func (l *Loaded) Check(sections ...string) Problems {
	c := checker{l: l}
	for _, top := range l.root.children {
		if len(sections) == 0 || top.name == "global" || slices.Contains(sections, top.name) {
			c.field(top)
		}
	}
	return c.problems
}

type checker struct {
	l        *Loaded
	problems Problems
}

func (c *checker) fault(path string, err error) {
	c.problems = append(c.problems, c.l.Problem(path, err))
}

// validator is a section that knows more about its values than tags say.
type validator interface {
	Validate(fault func(key string, err error))
}

func (c *checker) field(f *field) {
	v := at(reflect.ValueOf(c.l.Config).Elem(), f.index, false)
	if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return
	}
	if !f.isSection() {
		c.leaf(f, v)
		return
	}
	inline := false
	for _, below := range f.children {
		c.field(below)
		inline = inline || below.inline
	}
	// The methods of inline sections are those of the section, too.
	if section, ok := v.Interface().(validator); ok && !inline {
		section.Validate(func(key string, err error) { c.fault(f.pathOf(key), err) })
	}
}

// pathOf is the path of the setting that a section calls by key.
func (f *field) pathOf(key string) string {
	name, rest := key, ""
	if i := strings.IndexAny(key, ".["); i >= 0 {
		name, rest = key[:i], key[i:]
	}
	for _, c := range f.children {
		switch {
		case c.key != name:
		case c.isSection() && strings.HasPrefix(rest, "."):
			return c.pathOf(rest[1:])
		default:
			return c.path + rest
		}
	}
	if key == "" {
		return f.path
	}
	return join(f.path, key)
}

// leaf checks one value. Defaults are allowed by definition, also where the
// empty text means that nothing was chosen.
func (c *checker) leaf(f *field, v reflect.Value) {
	if f.entries() && f.min != nil {
		for _, k := range sortedKeys(v) {
			c.number(f, join(f.path, k.String()), v.MapIndex(k).Int())
		}
		return
	}
	if c.l.Layer(f.path) == LayerDefault {
		return
	}
	switch v = reflect.Indirect(v); v.Kind() {
	case reflect.Int, reflect.Int64:
		c.number(f, f.path, v.Int())
	case reflect.String:
		if err := f.allows(v.String()); err != nil {
			c.fault(f.path, err)
		}
	}
}

// allows refuses a text that is none of the setting's words.
func (f *field) allows(text string) error {
	if f.words == nil || slices.Contains(f.words, text) {
		return nil
	}
	return suggest.Wrap(fmt.Errorf("%q is not allowed (%s)", redact.Text(text), strings.Join(f.words, ", ")), text, f.words)
}

func (c *checker) number(f *field, path string, n int64) {
	var bounds string
	switch {
	case (f.min == nil || n >= *f.min) && (f.max == nil || n <= *f.max):
		return
	case f.max == nil:
		bounds = fmt.Sprintf("at least %d", *f.min)
	default:
		bounds = fmt.Sprintf("%d to %d", *f.min, *f.max)
	}
	c.fault(path, fmt.Errorf("%d is not allowed (%s)", n, bounds))
}

// Unavailable reports the settings of a section that differ from their default
// and belong to a feature that this build lacks: those that refuse the start, and
// those that have no effect. An empty section means all.
func (l *Loaded) Unavailable(section string) (refused, ignored Problems) {
	top := l.root
	if section != "" {
		top = l.root.child(section)
	}
	defaults := reflect.ValueOf(Default()).Elem()
	top.walk(func(f *field) {
		feature, refuse, missing := unavailable.Setting(f.path, f.flag)
		v := at(reflect.ValueOf(l.Config).Elem(), f.index, false)
		if !missing || !v.IsValid() || l.Layer(f.path) == LayerDefault {
			return
		}
		if was := at(defaults, f.index, false); was.IsValid() && same(v, was) {
			return
		}
		p := l.Problem(f.path, fmt.Errorf("not in this build (%s)", feature.Name))
		if refuse {
			refused = append(refused, p)
			return
		}
		p.Message += "; it has no effect"
		ignored = append(ignored, p)
	})
	return refused, ignored
}

// same compares values; an empty list is as good as none.
func same(a, b reflect.Value) bool {
	if k := a.Kind(); (k == reflect.Slice || k == reflect.Map) && a.Len() == 0 && b.Len() == 0 {
		return true
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}
