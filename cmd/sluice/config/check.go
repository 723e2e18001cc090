package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Check reports every value of the section, and of global, that is not allowed.
// It looks at each value alone: what a command needs beside is its own check.
func (l *Loaded) Check(section string) error {
	c := checker{l: l}
	c.section("global")
	if section != "global" {
		c.section(section)
	}
	return errors.Join(c.faults...)
}

// CheckAll does as Check for every section of the tree.
func (l *Loaded) CheckAll() error {
	c := checker{l: l}
	for _, top := range l.root.children {
		c.field(top)
	}
	return errors.Join(c.faults...)
}

// Name is how messages speak of a setting: the flag when one set it or nothing
// else could, else the dotted key.
func (l *Loaded) Name(path string) string {
	name := path
	l.root.walk(func(f *field) {
		if f.path == path && f.flag != "" && (f.name == "" || l.Layer(path) == LayerFlag) {
			name = "--" + f.flag
		}
	})
	return name
}

// Layer tells which layer set a setting.
func (l *Loaded) Layer(path string) Layer {
	for {
		if layer, ok := l.sources[path]; ok {
			return layer
		}
		i := strings.LastIndexByte(path, '.')
		if i < 0 {
			return LayerDefault
		}
		path = path[:i]
	}
}

type checker struct {
	l      *Loaded
	faults []error
}

func (c *checker) fault(path, format string, args ...any) {
	c.faults = append(c.faults, fmt.Errorf("%s: %w", c.l.Name(path), fmt.Errorf(format, args...)))
}

func (c *checker) section(name string) {
	if top := c.l.root.child(name); top != nil {
		c.field(top)
	}
}

func (c *checker) field(f *field) {
	f.walk(func(leaf *field) {
		if v := at(reflect.ValueOf(c.l.Config).Elem(), leaf.index, false); v.IsValid() {
			c.leaf(leaf, v)
		}
	})
}

// leaf checks one value. Defaults are allowed by definition, also where the
// empty text means that nothing was chosen.
func (c *checker) leaf(f *field, v reflect.Value) {
	if f.entries() && f.min != nil {
		for _, k := range v.MapKeys() {
			c.number(f, join(f.path, k.String()), v.MapIndex(k).Int())
		}
		return
	}
	if c.l.Layer(f.path) == LayerDefault {
		return
	}
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		c.number(f, f.path, v.Int())
	case reflect.String:
		if f.words != nil && !slices.Contains(f.words, v.String()) {
			c.fault(f.path, "%q is not allowed (%s)", v.String(), list(f.words))
		}
	}
	if check := ruleFor(f); check != nil {
		for _, text := range texts(v) {
			if err := check(text); err != nil {
				c.fault(f.path, "%w", err)
			}
		}
	}
}

func (c *checker) number(f *field, path string, n int64) {
	switch {
	case f.min != nil && f.max != nil && (n < *f.min || n > *f.max):
		c.fault(path, "%d is not allowed (%d to %d)", n, *f.min, *f.max)
	case f.min != nil && n < *f.min:
		c.fault(path, "%d is not allowed (at least %d)", n, *f.min)
	case f.max != nil && n > *f.max:
		c.fault(path, "%d is not allowed (at most %d)", n, *f.max)
	}
}

func texts(v reflect.Value) []string {
	switch v.Kind() {
	case reflect.String:
		return []string{v.String()}
	case reflect.Slice:
		var out []string
		for i := range v.Len() {
			out = append(out, v.Index(i).String())
		}
		return out
	}
	return []string{fmt.Sprint(v.Interface())}
}

func list(words []string) string { return strings.Join(words, ", ") }

// atMostOne faults settings below prefix that exclude each other.
func (c *checker) atMostOne(prefix string, given map[string]bool) {
	var names []string
	for name, yes := range given {
		if yes {
			names = append(names, name)
		}
	}
	if len(names) > 1 {
		slices.Sort(names)
		c.fault(prefix+names[0], "excludes %s", strings.Join(names[1:], " and "))
	}
}
