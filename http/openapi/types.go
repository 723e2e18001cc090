package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// schemas makes the schemas of Go types. Structs with a name become components.
type schemas struct {
	home       string // import path of the package whose types are named without it
	words      map[reflect.Type][]string
	components map[string]*Schema
	types      map[string]reflect.Type // of components
	errs       []error
}

func (s *schemas) errorf(format string, args ...any) *Schema {
	s.errs = append(s.errs, fmt.Errorf(format, args...))
	return &Schema{}
}

// of is the schema of the values of a type.
func (s *schemas) of(t reflect.Type) *Schema {
	switch {
	case t == nil, t == reflect.TypeFor[json.RawMessage](), t.Kind() == reflect.Interface:
		return &Schema{}
	case t == reflect.TypeFor[time.Time]():
		return &Schema{Type: "string", Format: "date-time"}
	case t.Kind() != reflect.Struct && t.Kind() != reflect.Pointer && t.Implements(reflect.TypeFor[json.Marshaler]()):
		return s.errorf("type %s encodes itself: describe its JSON by another type", t)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.Bool:
		return &Schema{Type: "boolean"}
	case reflect.Int, reflect.Int64:
		return &Schema{Type: "integer", Format: "int64"}
	case reflect.Uint64:
		return &Schema{Type: "integer", Format: "int64", Minimum: new(int64)}
	case reflect.Float64:
		return &Schema{Type: "number", Format: "double"}
	case reflect.String:
		return s.text(t)
	case reflect.Slice:
		return &Schema{Type: "array", Items: s.of(t.Elem())}
	case reflect.Array:
		return &Schema{Type: "array", Items: s.of(t.Elem()), MinItems: t.Len(), MaxItems: t.Len()}
	case reflect.Map:
		return &Schema{Type: "object", AdditionalProperties: s.of(t.Elem())}
	case reflect.Struct:
		return s.structure(t)
	default:
		return s.errorf("type %s has no JSON schema", t)
	}
}

// text is the schema of strings. Those of a type of their own have a list of words.
func (s *schemas) text(t reflect.Type) *Schema {
	if t.PkgPath() == "" {
		return &Schema{Type: "string"}
	}
	words, listed := s.words[t]
	if !listed {
		return s.errorf("the words of type %s are not listed", t)
	}
	return &Schema{Type: "string", Enum: words}
}

// Union is a struct that stands for any of several types.
type Union interface{ OneOf() []any }

func (s *schemas) structure(t reflect.Type) *Schema {
	if !t.Implements(reflect.TypeFor[Union]()) {
		return s.component(t)
	}
	some := new(Schema)
	for _, v := range reflect.Zero(t).Interface().(Union).OneOf() {
		some.AnyOf = append(some.AnyOf, s.of(reflect.TypeOf(v)))
	}
	return some
}

// Closed is a struct whose JSON may have no members but its fields.
type Closed interface{ Closed() }

// component refers to the schema of a struct. A struct without a name is no component.
func (s *schemas) component(t reflect.Type) *Schema {
	if t.Name() == "" {
		return s.object(t)
	}
	name := s.name(t)
	if known, ok := s.types[name]; ok && known != t {
		return s.errorf("types %s and %s are both named %s", known, t, name)
	}
	if _, ok := s.types[name]; !ok {
		s.types[name] = t
		s.components[name] = s.object(t)
	}
	return &Schema{Ref: "#/components/schemas/" + name}
}

// name is the name of a type, behind that of its package when it is none of home.
func (s *schemas) name(t reflect.Type) string {
	name := capital(t.Name())
	if t.PkgPath() == s.home {
		return name
	}
	pkg := t.PkgPath()
	return capital(pkg[strings.LastIndexByte(pkg, '/')+1:]) + name
}

func capital(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

func (s *schemas) object(t reflect.Type) *Schema {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) {
		return s.errorf("type %s encodes itself: describe its JSON by another type", t)
	}
	o := &Schema{Type: "object", Closed: t.Implements(reflect.TypeFor[Closed]())}
	s.members(o, t)
	return o
}

// members adds the members of a struct, and in place those of structs embedded in it. A
// member of the outer struct hides one of the same name.
func (s *schemas) members(o *Schema, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct {
			s.members(o, f.Type)
			continue
		}
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			s.errorf("field %s of %s has no json tag", f.Name, t)
			continue
		}
		o.Properties = slices.DeleteFunc(o.Properties, func(p Property) bool { return p.Name == name })
		o.Required = slices.DeleteFunc(o.Required, func(r string) bool { return r == name })
		o.Properties = append(o.Properties, Property{name, s.field(f)})
		if !strings.Contains(options, "omit") {
			o.Required = append(o.Required, name)
		}
	}
}

// field is the schema of a member with what its tags add.
func (s *schemas) field(f reflect.StructField) *Schema {
	m := s.of(f.Type)
	if words := f.Tag.Get("enum"); words != "" {
		m.Enum = strings.Fields(words)
	}
	var errs [2]error
	m.Minimum, errs[0] = bound(f.Tag.Get("min"), m.Minimum)
	m.Maximum, errs[1] = bound(f.Tag.Get("max"), m.Maximum)
	if err := errors.Join(errs[:]...); err != nil {
		return s.errorf("field %s: %w", f.Name, err)
	}
	if f.Type.Kind() == reflect.Pointer && !strings.Contains(f.Tag.Get("json"), ",omit") {
		m = &Schema{AnyOf: []*Schema{m, {Type: "null"}}}
	}
	if text := f.Tag.Get("minlen"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return s.errorf("field %s: %w", f.Name, err)
		}
		m.MinLength = n
	}
	m.Description = f.Tag.Get("doc")
	return m
}

func bound(text string, absent *int64) (*int64, error) {
	if text == "" {
		return absent, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return &n, err
}
