package config

import (
	"bytes"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/sluicehq/sluice/internal/redact"
	"github.com/sluicehq/sluice/sigma/timespan"
)

// Leaf is a setting with its value, as printed.
type Leaf struct {
	Parts []string // of the dotted key; a map's key may hold dots of its own
	Value any      // nil for what nobody made and has no default
	Layer Layer
}

// Path is the dotted key.
func (s Leaf) Path() string { return strings.Join(s.Parts, ".") }

// Leaves lists the settings of one of the Sections in the order of the tree; all of
// the tree when section is empty. Settings that only flags may make are no part of it.
func (l *Loaded) Leaves(section string) []Leaf {
	top := l.root
	if section != "" {
		top = l.root.child(section)
	}
	var out []Leaf
	top.walk(func(f *field) {
		v := at(reflect.ValueOf(l.Config).Elem(), f.index, false)
		parts := strings.Split(f.path, ".")
		switch {
		case f.name == "" || !v.IsValid(): // in a section nobody configured
		case f.entries() && v.Len() > 0:
			for _, k := range sortedKeys(v) {
				out = append(out, Leaf{append(slices.Clip(parts), k.String()), plain(v.MapIndex(k)), l.Layer(join(f.path, k.String()))})
			}
		default:
			out = append(out, Leaf{parts, plain(v), l.Layer(f.path)})
		}
	})
	return out
}

func sortedKeys(m reflect.Value) []reflect.Value {
	return slices.SortedFunc(slices.Values(m.MapKeys()), func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
}

// Sections names the sections of the tree, in order.
func (l *Loaded) Sections() []string {
	var names []string
	for _, f := range l.root.children {
		if f.isSection() {
			names = append(names, f.name)
		}
	}
	return names
}

// plain is the value as JSON and YAML know it.
func plain(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case timespan.Bytes:
		return int64(x) // so that scripts can compare
	case timespan.Duration:
		return x.String()
	case interface{ Plain() any }:
		return plain(reflect.ValueOf(x.Plain()))
	}
	switch k := v.Kind(); {
	case k == reflect.String && v.Len() > 0:
		return redact.Text(v.String())
	case k == reflect.Slice && v.Len() > 0 && v.Type().Elem().Kind() == reflect.String:
		shown := make([]string, v.Len())
		for i := range shown {
			shown[i] = redact.Text(v.Index(i).String())
		}
		return shown
	case k == reflect.Pointer && v.IsNil(), k == reflect.String && v.Len() == 0:
		return nil
	case k == reflect.Pointer:
		return plain(v.Elem())
	case k == reflect.Slice && v.Len() == 0:
		return []any{}
	case k == reflect.Map && v.Len() == 0:
		return map[string]any{}
	}
	return v.Interface()
}

// ShowYAML writes the section as a configuration file would hold it.
func (l *Loaded) ShowYAML(section string) ([]byte, error) {
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, s := range l.Leaves(section) {
		n := root
		parts := s.Parts
		for _, p := range parts[:len(parts)-1] {
			n = below(n, p)
		}
		var v yaml.Node
		if err := v.Encode(s.Value); err != nil {
			return nil, err
		}
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: parts[len(parts)-1]}, &v)
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

// below returns the mapping under key, added at the end when it is new.
func below(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	m := &yaml.Node{Kind: yaml.MappingNode}
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, m)
	return m
}
