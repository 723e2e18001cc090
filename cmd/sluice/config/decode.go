package config

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"
)

// Bounds of a file, aliases followed, far above what the tree needs.
const (
	maxDepth = 32
	maxNodes = 100_000
)

// decoder turns YAML nodes into typed values, strictly: a scalar of another
// type is an error, because a value taken for something else is worse than one
// refused. Keys it does not know are collected.
type decoder struct {
	unknown []string
}

// sound checks what holds for any file of ours: keys are plain, none occurs
// twice in its mapping, and neither nesting nor aliases make it grow without
// end. left is the number of nodes it may still have.
func sound(n *yaml.Node, depth int, left *int) error {
	if *left--; depth > maxDepth || *left < 0 {
		return fmt.Errorf("line %d: too deep or too large for a configuration", n.Line)
	}
	if n.Kind == yaml.AliasNode {
		return sound(n.Alias, depth+1, left)
	}
	if n.Kind == yaml.MappingNode {
		seen := make(map[string]bool, len(n.Content)/2)
		for i := 0; i < len(n.Content); i += 2 {
			k := n.Content[i]
			if k.Kind != yaml.ScalarNode {
				return fmt.Errorf("line %d: a key must be plain text", k.Line)
			}
			if seen[k.Value] {
				return fmt.Errorf("line %d: key %q occurs twice", k.Line, k.Value)
			}
			seen[k.Value] = true
		}
	}
	for _, c := range n.Content {
		if err := sound(c, depth+1, left); err != nil {
			return err
		}
	}
	return nil
}

// resolve follows an alias to what it stands for.
func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// decode sets v, which is settable, from n. path names v in errors.
func (d *decoder) decode(path string, n *yaml.Node, v reflect.Value) error {
	n = resolve(n)
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if n.Kind != yaml.ScalarNode {
			return mismatch(path, "a single value", n)
		}
		if err := u.UnmarshalText([]byte(n.Value)); err != nil {
			return located(n, path, err)
		}
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return d.decode(path, n, v.Elem())
	case reflect.Slice:
		return d.decodeList(path, n, v)
	case reflect.Map:
		return d.decodeMap(path, n, v)
	case reflect.Struct:
		return d.decodeStruct(path, n, v)
	}
	return decodeScalar(path, n, v)
}

func decodeScalar(path string, n *yaml.Node, v reflect.Value) error {
	want, tags := "", ""
	switch v.Kind() {
	case reflect.String:
		want, tags = "text", "!!str !!int !!float !!timestamp"
	case reflect.Bool:
		want, tags = "true or false", "!!bool"
	case reflect.Int, reflect.Int64:
		want, tags = "an integer", "!!int"
	case reflect.Float64:
		want, tags = "a number", "!!int !!float"
	default:
		return fmt.Errorf("%s: no setting of type %s exists", path, v.Type())
	}
	if n.Kind != yaml.ScalarNode || !strings.Contains(tags, n.ShortTag()) {
		return mismatch(path, want, n)
	}
	if v.Kind() == reflect.String {
		v.SetString(n.Value) // as written: 1.3 stays 1.3
		return nil
	}
	if err := n.Decode(v.Addr().Interface()); err != nil {
		return mismatch(path, want, n)
	}
	return nil
}

func (d *decoder) decodeList(path string, n *yaml.Node, v reflect.Value) error {
	items := n.Content
	if v.Type() == reflect.TypeFor[Paths]() && n.Kind == yaml.ScalarNode {
		items = []*yaml.Node{n}
	} else if n.Kind != yaml.SequenceNode {
		return mismatch(path, "a list", n)
	}
	list := reflect.MakeSlice(v.Type(), len(items), len(items))
	for i, item := range items {
		if err := d.decode(fmt.Sprintf("%s[%d]", path, i), item, list.Index(i)); err != nil {
			return err
		}
	}
	v.Set(list)
	return nil
}

func (d *decoder) decodeMap(path string, n *yaml.Node, v reflect.Value) error {
	if n.Kind != yaml.MappingNode {
		return mismatch(path, "a mapping", n)
	}
	m := reflect.MakeMapWithSize(v.Type(), len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		elem := reflect.New(v.Type().Elem()).Elem()
		key := n.Content[i].Value
		if err := d.decode(join(path, key), n.Content[i+1], elem); err != nil {
			return err
		}
		m.SetMapIndex(reflect.ValueOf(key), elem)
	}
	v.Set(m)
	return nil
}

// decodeStruct reads an element of a list, such as one API token.
func (d *decoder) decodeStruct(path string, n *yaml.Node, v reflect.Value) error {
	if n.Kind != yaml.MappingNode {
		return mismatch(path, "a mapping", n)
	}
	for i := 0; i < len(n.Content); i += 2 {
		key, val := n.Content[i].Value, resolve(n.Content[i+1])
		f, ok := fieldByKey(v, key)
		if !ok {
			d.unknown = append(d.unknown, join(path, key))
			continue
		}
		if isNull(val) {
			continue
		}
		if err := d.decode(join(path, key), val, f); err != nil {
			return err
		}
	}
	return nil
}

func fieldByKey(v reflect.Value, key string) (reflect.Value, bool) {
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("yaml") == key {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

func mismatch(path, want string, n *yaml.Node) error {
	got := ""
	switch n.Kind {
	case yaml.MappingNode:
		got = "a mapping"
	case yaml.SequenceNode:
		got = "a list"
	default:
		got = fmt.Sprintf("%q", n.Value)
	}
	return located(n, path, fmt.Errorf("want %s, got %s", want, got))
}

// located says where in the text an error is, when the text has lines.
func located(n *yaml.Node, path string, err error) error {
	if n.Line > 1 {
		return fmt.Errorf("line %d: %s: %w", n.Line, path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}
