package config

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/sluicehq/sluice/sigma/timespan"
)

// shown is a leaf with its value, as printed. A setting that nobody made and
// that has no default is nil.
type shown struct {
	path  string
	parts []string // of path; a map's key may hold dots of its own
	value any
	layer Layer
}

// leaves lists what section prints; all of the tree when section is empty.
// Settings that only flags may make are not part of it.
func (l *Loaded) leaves(section string) ([]shown, error) {
	top := l.root
	if section != "" {
		if top = l.root.child(section); top == nil {
			return nil, fmt.Errorf("unknown section %q (%s)", section, strings.Join(l.Sections(), ", "))
		}
	}
	var out []shown
	top.walk(func(f *field) {
		if f.name == "" {
			return
		}
		v := at(reflect.ValueOf(l.Config).Elem(), f.index, false)
		if !v.IsValid() {
			return // in a section nobody configured
		}
		if f.entries() && v.Len() > 0 {
			keys := v.MapKeys()
			slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
			for _, k := range keys {
				path := join(f.path, k.String())
				parts := append(strings.Split(f.path, "."), k.String())
				out = append(out, shown{path, parts, plain(v.MapIndex(k)), l.Layer(path)})
			}
			return
		}
		out = append(out, shown{f.path, strings.Split(f.path, "."), plain(v), l.Layer(f.path)})
	})
	return out, nil
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
	if size, ok := v.Interface().(timespan.Bytes); ok {
		return int64(size) // so that scripts can compare
	}
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		text, err := m.MarshalText()
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return plain(v.Elem())
	case reflect.String:
		if v.String() == "" {
			return nil
		}
		return v.String()
	case reflect.Slice:
		if v.Len() == 0 {
			return []any{}
		}
	case reflect.Map:
		if v.Len() == 0 {
			return map[string]any{}
		}
	}
	return v.Interface()
}

// ShowText writes one line per setting, sorted: dotted.path = value  (layer).
func (l *Loaded) ShowText(section string) ([]byte, error) {
	leaves, err := l.leaves(section)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(leaves, func(a, b shown) int { return strings.Compare(a.path, b.path) })
	var b bytes.Buffer
	for _, s := range leaves {
		text, err := compact(s.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s = %s  (%s)\n", s.path, text, s.layer)
	}
	return b.Bytes(), nil
}

func compact(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// Shown is the product of `config show --format json`.
type Shown struct {
	Config  map[string]any   `json:"config"`
	Sources map[string]Layer `json:"sources"`
}

// Show returns the section as a nested value and the layer of each leaf.
func (l *Loaded) Show(section string) (*Shown, error) {
	leaves, err := l.leaves(section)
	if err != nil {
		return nil, err
	}
	out := &Shown{Config: make(map[string]any), Sources: make(map[string]Layer, len(leaves))}
	for _, s := range leaves {
		out.Sources[s.path] = s.layer
		m := out.Config
		parts := s.parts
		for _, p := range parts[:len(parts)-1] {
			below, ok := m[p].(map[string]any)
			if !ok {
				below = make(map[string]any)
				m[p] = below
			}
			m = below
		}
		m[parts[len(parts)-1]] = s.value
	}
	return out, nil
}

// ShowYAML writes the section as a configuration file would hold it.
func (l *Loaded) ShowYAML(section string) ([]byte, error) {
	leaves, err := l.leaves(section)
	if err != nil {
		return nil, err
	}
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, s := range leaves {
		n := root
		parts := s.parts
		for _, p := range parts[:len(parts)-1] {
			n = below(n, p)
		}
		var v yaml.Node
		if err := v.Encode(s.value); err != nil {
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
