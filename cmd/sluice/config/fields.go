package config

import (
	"cmp"
	"encoding"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// A field is one node of the tree of settings: a section with children, or a
// leaf with a value.
type field struct {
	path     string // dotted key; "daemon.--nats-creds" for settings without one
	name     string // last part of path; empty when only flags may set it, and of inline sections
	key      string // below its parent, as Validate names it: also of settings only flags may give
	index    []int  // position in Config
	typ      reflect.Type
	children []*field // of sections
	inline   bool     // a section whose settings stand in its parent
	flag     string
	short    string
	env      string
	word     string
	help     string
	words    []string
	min, max *int64
	mode     string
}

func (f *field) isSection() bool { return f.children != nil }

// absent reports a section that is not there unless a layer names it, and then must not
// be empty.
func (f *field) absent() bool {
	return f.isSection() && f.mode == "replace" && f.typ.Kind() == reflect.Pointer
}

// members are the children of f with those of inline sections in their places.
func (f *field) members() []*field {
	var out []*field
	for _, c := range f.children {
		if c.inline {
			out = append(out, c.members()...)
		} else {
			out = append(out, c)
		}
	}
	return out
}

// entries reports whether the field is a map whose entries merge one by one.
func (f *field) entries() bool { return f.typ.Kind() == reflect.Map && f.mode != "whole" }

func (f *field) child(name string) *field {
	for _, c := range f.members() {
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

// tree returns what the struct tags of Config say, read once. Nobody changes it.
var tree = sync.OnceValue(func() *field {
	root := &field{typ: reflect.TypeFor[Config]()}
	root.children = fieldsOf(root.typ, "", nil, false)
	texts := make(map[string]string) // sections share flags, and so their texts
	for _, f := range root.settings() {
		if f.flag != "" {
			texts[f.flag] = cmp.Or(texts[f.flag], f.help)
			f.help = cmp.Or(f.help, texts[f.flag])
		}
		if f.help != "" {
			f.help += allowed(f)
		}
	}
	return root
})

func fieldsOf(t reflect.Type, prefix string, index []int, flagsOnly bool) []*field {
	fields := make([]*field, 0, t.NumField())
	for i := range t.NumField() {
		sf := t.Field(i)
		f := newField(sf, prefix, append(index[:len(index):len(index)], i), flagsOnly)
		if st := structType(sf.Type); st != nil {
			below, hidden := f.path, false
			if f.name == "" { // children of a section without a name hang below its parent
				below, hidden = prefix, !f.inline || flagsOnly
			}
			f.children = fieldsOf(st, below, f.index, hidden)
		}
		fields = append(fields, f)
	}
	return fields
}

func newField(sf reflect.StructField, prefix string, index []int, flagsOnly bool) *field {
	f := &field{
		index: index, typ: sf.Type, env: sf.Tag.Get("env"), mode: sf.Tag.Get("mode"),
		word: sf.Tag.Get("word"), help: sf.Tag.Get("help"), key: sf.Tag.Get("yaml"),
	}
	f.flag, f.short, _ = strings.Cut(sf.Tag.Get("flag"), ",")
	if words := sf.Tag.Get("oneof"); words != "" {
		f.words = strings.Fields(words)
	}
	f.min, f.max = bound(sf, "min"), bound(sf, "max")
	if f.key == "-" {
		f.key, flagsOnly = "--"+f.flag, true
	}
	switch {
	case f.key == ",inline":
		f.inline = true
	case flagsOnly:
		f.path = join(prefix, "--"+f.flag)
	default:
		f.name, f.path = f.key, join(prefix, f.key)
	}
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
