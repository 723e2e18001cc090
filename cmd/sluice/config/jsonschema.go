package config

import (
	"encoding"
	"reflect"

	"github.com/sluicehq/sluice/sigma/timespan"
)

// JSONSchema is the JSON Schema (2020-12) of a configuration file, read off the
// types that files are decoded into.
func JSONSchema() map[string]any {
	root := schemaSection(tree(), reflect.ValueOf(Default()).Elem())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "sluice configuration"
	return root
}

func schemaSection(f *field, defaults reflect.Value) map[string]any {
	properties := make(map[string]any)
	for _, c := range f.members() {
		switch {
		case c.name == "":
		case c.isSection():
			properties[c.name] = schemaSection(c, defaults)
		default:
			properties[c.name] = schemaLeaf(c, defaults)
		}
	}
	return map[string]any{
		"type": []string{"object", "null"}, "properties": properties, "additionalProperties": false,
	}
}

func schemaLeaf(f *field, defaults reflect.Value) map[string]any {
	s := schemaType(f.typ)
	if f.mode == "one" {
		text := map[string]any{"type": "string"}
		s = map[string]any{"anyOf": []any{text, map[string]any{"type": "array", "items": text}, map[string]any{"type": "null"}}}
	}
	if help := helpOf(f); help != "" {
		s["description"] = help
	}
	if f.words != nil {
		enum := []any{nil}
		for _, w := range f.words {
			enum = append(enum, w)
		}
		s["enum"] = enum
	}
	bounded := s
	if f.entries() {
		bounded, _ = s["additionalProperties"].(map[string]any)
	}
	if f.min != nil {
		bounded["minimum"] = *f.min
	}
	if f.max != nil {
		bounded["maximum"] = *f.max
	}
	if v := at(defaults, f.index, false); v.IsValid() && !v.IsZero() {
		s["default"] = plain(v)
	}
	return s
}

func schemaType(t reflect.Type) map[string]any {
	if t == reflect.TypeFor[timespan.Bytes]() {
		return map[string]any{"type": []string{"integer", "string", "null"}, "pattern": `^\d+\s*([KMG]iB)?$`}
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return nullable("string")
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaType(t.Elem())
	case reflect.Bool:
		return nullable("boolean")
	case reflect.Int, reflect.Int64:
		return nullable("integer")
	case reflect.Float64:
		return nullable("number")
	case reflect.Slice:
		s := nullable("array")
		s["items"] = schemaElement(t.Elem())
		return s
	case reflect.Map:
		s := nullable("object")
		s["additionalProperties"] = schemaElement(t.Elem())
		return s
	}
	return nullable("string")
}

func nullable(name string) map[string]any {
	return map[string]any{"type": []string{name, "null"}}
}

// schemaElement is a member of a list or map, which may not be null, or a
// struct such as an API token.
func schemaElement(t reflect.Type) map[string]any {
	if t.Kind() != reflect.Struct {
		s := schemaType(t)
		if names, ok := s["type"].([]string); ok {
			s["type"] = names[0]
		}
		return s
	}
	properties := make(map[string]any)
	for i := range t.NumField() {
		properties[t.Field(i).Tag.Get("yaml")] = schemaType(t.Field(i).Type)
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}
