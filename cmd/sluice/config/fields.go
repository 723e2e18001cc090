package config

import (
	"encoding"
	"reflect"
	"strconv"
	"strings"
)

// A field is one node of the tree of settings: a section with children, or a
// leaf with a value.
type field struct {
	path     string // dotted key; "daemon.--nats-creds" for settings without one
	name     string // last part of path; empty when only flags may set it
	index    []int  // position in Config
	typ      reflect.Type
	children []*field // of sections
	flag     string
	short    string
	env      string
	words    []string
	min, max *int64
	mode     string
}

func (f *field) isSection() bool { return f.children != nil }

// entries reports whether the field is a map whose entries merge one by one.
func (f *field) entries() bool { return f.typ.Kind() == reflect.Map && f.mode != "whole" }

func (f *field) child(name string) *field {
	for _, c := range f.children {
		if c.name == name && name != "" {
			return c
		}
	}
	return nil
}

// walk visits every leaf below f, in written order.
func (f *field) walk(visit func(*field)) {
	if !f.isSection() {
		visit(f)
		return
	}
	for _, c := range f.children {
		c.walk(visit)
	}
}

// tree reads the struct tags of Config.
func tree() *field {
	return &field{
		typ:      reflect.TypeFor[Config](),
		children: fieldsOf(reflect.TypeFor[Config](), "", nil, false),
	}
}

func fieldsOf(t reflect.Type, prefix string, index []int, flagsOnly bool) []*field {
	fields := make([]*field, 0, t.NumField())
	for i := range t.NumField() {
		sf := t.Field(i)
		f := newField(sf, prefix, append(index[:len(index):len(index)], i), flagsOnly)
		if st := structType(sf.Type); st != nil {
			below := f.path
			if f.name == "" { // children of a hidden section hang below its parent
				below = prefix
			}
			f.children = fieldsOf(st, below, f.index, f.name == "")
		}
		fields = append(fields, f)
	}
	return fields
}

func newField(sf reflect.StructField, prefix string, index []int, flagsOnly bool) *field {
	f := &field{index: index, typ: sf.Type, env: sf.Tag.Get("env"), mode: sf.Tag.Get("mode")}
	f.flag, f.short, _ = strings.Cut(sf.Tag.Get("flag"), ",")
	if words := sf.Tag.Get("oneof"); words != "" {
		f.words = strings.Fields(words)
	}
	f.min, f.max = bound(sf, "min"), bound(sf, "max")
	name := sf.Tag.Get("yaml")
	if name == "-" || flagsOnly {
		f.path = join(prefix, "--"+f.flag)
		return f
	}
	f.name = name
	f.path = join(prefix, name)
	return f
}

func bound(sf reflect.StructField, tag string) *int64 {
	n, err := strconv.ParseInt(sf.Tag.Get(tag), 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// structType returns the struct behind a section's type, nil for a leaf's.
func structType(t reflect.Type) reflect.Type {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return nil
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Struct {
		return t
	}
	return nil
}

func join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}

// at returns the place of f in v, making the sections on the way when alloc
// is set. Without alloc the result is invalid below an absent section.
func at(v reflect.Value, index []int, alloc bool) reflect.Value {
	for _, i := range index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				if !alloc {
					return reflect.Value{}
				}
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v
}
