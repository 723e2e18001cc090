package strict

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/internal/suggest"
)

// Lines are where the settings of a section stand, by their keys below it.
type Lines map[string]int

// Of returns the line of a setting, or of the section around it.
func (l Lines) Of(key string) int {
	for {
		if line, ok := l[key]; ok || key == "" {
			return line
		}
		key = key[:max(0, strings.LastIndexByte(key, '.'))]
	}
}

// Named returns the line of the setting of a section that a message names, of the one
// with the longest key if it names several; that of the section if it names none.
func (l Lines) Named(message, section string) int {
	longest := section
	for key := range l {
		if len(key) > len(longest) && strings.HasPrefix(key, section+".") && strings.Contains(message, key) {
			longest = key
		}
	}
	return l.Of(longest)
}

// UnknownKey is the error of a key that nothing has.
type UnknownKey struct {
	Key   string   // with those of the sections around it
	Known []string // what the section around it has
}

// Error is the message without the keys that are known.
func (u *UnknownKey) Error() string { return fmt.Sprintf("unknown key '%s'", u.Key) }

// Decode sets a struct, which into points to, from a node. Fields have their keys in the
// tag yaml; what is absent or null leaves them as they are. They are texts, integers,
// booleans, lists, structs, pointers to these, types with UnmarshalText or ReadNode, and of
// type *document.Node for what the caller reads itself.
func Decode(n *document.Node, into any) (Lines, []Fault) {
	d := decoder{lines: Lines{"": n.Line}}
	d.decode("", n, reflect.ValueOf(into).Elem())
	return d.lines, d.faults
}

type decoder struct {
	lines  Lines
	faults []Fault
}

func (d *decoder) fault(n *document.Node, key string, err error) {
	d.faults = append(d.faults, Fault{n.Line, key, err})
}

// mismatch reports a value of the wrong type.
func (d *decoder) mismatch(n *document.Node, key, want string) {
	where := ""
	if key != "" {
		where = "field '" + key + "': "
	}
	hint := ""
	if want == text && n.IsScalar() {
		hint = " (quotes make it text)"
	}
	d.fault(n, key, fmt.Errorf("%swant %s, got %s%s", where, want, describe(n), hint))
}

const text = "text"

func describe(n *document.Node) string {
	switch n.Kind {
	case document.Null:
		return "nothing"
	case document.List:
		return "a list"
	case document.Map:
		return "a mapping"
	case document.String:
		return "'" + n.Text + "'"
	}
	return n.Text
}

var nodeType = reflect.TypeFor[*document.Node]()

func (d *decoder) decode(key string, n *document.Node, v reflect.Value) {
	switch {
	case n.Kind == document.Null:
		return
	case v.Type() == nodeType:
		v.Set(reflect.ValueOf(n))
		return
	}
	switch u := v.Addr().Interface().(type) {
	case NodeReader:
		d.read(key, n, u)
		return
	case encoding.TextUnmarshaler:
		d.unmarshal(key, n, u)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.decode(key, n, v.Elem())
	case reflect.Struct:
		d.section(key, n, v)
	case reflect.Slice:
		d.list(key, n, v)
	case reflect.String:
		if n.Kind != document.String {
			d.mismatch(n, key, text)
			return
		}
		v.SetString(n.Text)
	case reflect.Bool:
		if n.Kind != document.Bool {
			d.mismatch(n, key, "true or false")
			return
		}
		v.SetBool(n.Text == "true")
	case reflect.Int:
		i, err := strconv.ParseInt(n.Text, 10, v.Type().Bits())
		if n.Kind != document.Int || err != nil {
			d.mismatch(n, key, "an integer")
			return
		}
		v.SetInt(i)
	default:
		panic("strict: fields of type " + v.Type().String() + " are not decoded")
	}
}

func (d *decoder) unmarshal(key string, n *document.Node, u encoding.TextUnmarshaler) {
	if !n.IsScalar() {
		d.mismatch(n, key, "a single value")
		return
	}
	if err := u.UnmarshalText([]byte(n.Text)); err != nil {
		d.fault(n, key, fmt.Errorf("field '%s': %w", key, err))
	}
}

// NodeReader is a type that reads itself. The line of a Fault within its error is that of
// the fault.
type NodeReader interface {
	ReadNode(n *document.Node) error
}

func (d *decoder) read(key string, n *document.Node, u NodeReader) {
	err := u.ReadNode(n)
	if err == nil {
		return
	}
	d.fault(n, key, fmt.Errorf("field '%s': %w", key, err))
	var within Fault
	if errors.As(err, &within) && within.Line > 0 {
		d.faults[len(d.faults)-1].Line = within.Line
	}
}

func (d *decoder) list(key string, n *document.Node, v reflect.Value) {
	if n.Kind != document.List {
		d.mismatch(n, key, "a list")
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, len(n.Items)))
	for _, it := range n.Items {
		e := reflect.New(v.Type().Elem()).Elem()
		if it.Kind == document.Null {
			d.fault(it, key, fmt.Errorf("field '%s': an entry is empty", key))
			continue
		}
		d.decode(key, it, e)
		v.Set(reflect.Append(v, e))
	}
}

func (d *decoder) section(prefix string, n *document.Node, v reflect.Value) {
	if n.Kind != document.Map {
		d.mismatch(n, prefix, "a mapping")
		return
	}
	fields := make(map[string]int)
	var known []string
	for i := range v.NumField() {
		if name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ","); name != "" && name != "-" {
			fields[name] = i
			known = append(known, name)
		}
	}
	for _, e := range n.Entries {
		if e.Key.Kind != document.String {
			d.fault(e.Key, "", errors.New("a key must be plain text"))
			continue
		}
		key := join(prefix, e.Key.Text)
		if !slices.Contains(known, e.Key.Text) {
			d.fault(e.Key, "", suggest.Wrap(&UnknownKey{key, known}, e.Key.Text, known))
			continue
		}
		d.lines[key] = e.Key.Line
		d.decode(key, e.Value, v.Field(fields[e.Key.Text]))
	}
}

func join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}
