package config

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/sluicehq/sluice/internal/redact"
	"github.com/sluicehq/sluice/internal/suggest"
)

// Bounds of a file, aliases followed, far above what the tree needs.
const (
	maxDepth = 32
	maxNodes = 100_000
)

// decoder turns YAML nodes into typed values, strictly: a scalar of another
// type is a problem, because a value taken for something else is worse than one
// refused. Problems and keys that it does not know are collected.
type decoder struct {
	file     string // empty for variables and flags, which have no lines
	unknown  []Problem
	warnings []Problem
	problems []Problem
}

// problem is what is wrong at n.
func (d *decoder) problem(n *yaml.Node, path, message string) Problem {
	p := Problem{Key: path, Message: message}
	if d.file != "" {
		p.File, p.Line = d.file, n.Line
	}
	return p
}

// fault notes what is wrong at n and reports false.
func (d *decoder) fault(n *yaml.Node, path string, err error) bool {
	d.problems = append(d.problems, d.problem(n, path, err.Error()))
	return false
}

func (d *decoder) mismatch(n *yaml.Node, path, want string) bool {
	got := fmt.Sprintf("%q", redact.Text(n.Value))
	switch n.Kind {
	case yaml.MappingNode:
		got = "a mapping"
	case yaml.SequenceNode:
		got = "a list"
	}
	return d.fault(n, path, fmt.Errorf("want %s, got %s", want, got))
}

// unknownKey notes a key beside known ones.
func (d *decoder) unknownKey(n *yaml.Node, prefix string, known []string) {
	p := d.problem(n, join(prefix, n.Value), "")
	if near := suggest.Nearest(n.Value, known); near != "" {
		p.Suggestion = fmt.Sprintf("did you mean '%s'?", join(prefix, near))
	}
	d.unknown = append(d.unknown, p)
}

// sound checks what holds for any file of ours: keys are plain, none occurs
// twice in its mapping, and neither nesting nor aliases make it grow without
// end. left is the number of nodes it may still have.
func (d *decoder) sound(n *yaml.Node, depth int, left *int) bool {
	if *left--; depth > maxDepth || *left < 0 {
		return d.fault(n, "", errors.New("too deep or too large for a configuration"))
	}
	if n.Kind == yaml.AliasNode {
		return d.sound(n.Alias, depth+1, left)
	}
	ok := true
	if n.Kind == yaml.MappingNode {
		seen := make(map[string]bool, len(n.Content)/2)
		for i := 0; i < len(n.Content); i += 2 {
			k := n.Content[i]
			if k.Kind != yaml.ScalarNode {
				return d.fault(k, "", errors.New("a key must be plain text"))
			}
			if seen[k.Value] {
				ok = d.fault(k, "", fmt.Errorf("key %q occurs twice", k.Value))
			}
			seen[k.Value] = true
		}
	}
	for _, c := range n.Content {
		if ok = d.sound(c, depth+1, left) && ok; *left < 0 {
			return false
		}
	}
	return ok
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

// decode sets v, which is settable, from n and reports whether it could. path
// names v in problems.
func (d *decoder) decode(path string, n *yaml.Node, v reflect.Value) bool {
	n = resolve(n)
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if n.Kind != yaml.ScalarNode {
			return d.mismatch(n, path, "a single value")
		}
		if err := u.UnmarshalText([]byte(n.Value)); err != nil {
			return d.fault(n, path, err)
		}
		return true
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
	return d.decodeScalar(path, n, v)
}

// scalars says what a setting of a kind wants, and the YAML types it takes.
var scalars = map[reflect.Kind]struct{ want, tags string }{
	reflect.String:  {"text", "!!str !!int !!float !!timestamp"},
	reflect.Bool:    {"true or false", "!!bool"},
	reflect.Int:     {"an integer", "!!int"},
	reflect.Float64: {"a number", "!!int !!float"},
}

func (d *decoder) decodeScalar(path string, n *yaml.Node, v reflect.Value) bool {
	s := scalars[v.Kind()]
	if n.Kind != yaml.ScalarNode || !strings.Contains(s.tags, n.ShortTag()) {
		return d.mismatch(n, path, s.want)
	}
	if v.Kind() == reflect.String {
		v.SetString(n.Value) // as written: 1.3 stays 1.3
		return true
	}
	if err := n.Decode(v.Addr().Interface()); err != nil {
		return d.mismatch(n, path, s.want)
	}
	return true
}

func (d *decoder) decodeList(path string, n *yaml.Node, v reflect.Value) bool {
	if n.Kind != yaml.SequenceNode {
		return d.mismatch(n, path, "a list")
	}
	list, ok := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)), true
	for i, item := range n.Content {
		ok = d.decode(fmt.Sprintf("%s[%d]", path, i), item, list.Index(i)) && ok
	}
	v.Set(list)
	return ok
}

func (d *decoder) decodeMap(path string, n *yaml.Node, v reflect.Value) bool {
	if n.Kind != yaml.MappingNode {
		return d.mismatch(n, path, "a mapping")
	}
	m, ok := reflect.MakeMapWithSize(v.Type(), len(n.Content)/2), true
	for i := 0; i < len(n.Content); i += 2 {
		elem := reflect.New(v.Type().Elem()).Elem()
		key := n.Content[i].Value
		ok = d.decode(join(path, key), n.Content[i+1], elem) && ok
		m.SetMapIndex(reflect.ValueOf(key), elem)
	}
	v.Set(m)
	return ok
}

// decodeStruct reads an element of a list, such as one API token.
func (d *decoder) decodeStruct(path string, n *yaml.Node, v reflect.Value) bool {
	if n.Kind != yaml.MappingNode {
		return d.mismatch(n, path, "a mapping")
	}
	var keys []string
	for i := range v.NumField() {
		keys = append(keys, v.Type().Field(i).Tag.Get("yaml"))
	}
	ok := true
	for i := 0; i < len(n.Content); i += 2 {
		key, val := n.Content[i], resolve(n.Content[i+1])
		at := slices.Index(keys, key.Value)
		switch {
		case at < 0:
			d.unknownKey(key, path, keys)
		case !isNull(val):
			ok = d.decode(join(path, key.Value), val, v.Field(at)) && ok
		}
	}
	return ok
}
