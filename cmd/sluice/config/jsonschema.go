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
	types := []string{"object", "null"}
	if f.flag != "" { // which gives it as one text
		types = append(types, "string")
	}
	return map[string]any{
		"type": types, "properties": properties, "additionalProperties": false,
	}
}

func schemaLeaf(f *field, defaults reflect.Value) map[string]any {
	s := schemaType(f.typ, true)
	if f.mode == "one" {
		text := map[string]any{"type": "string"}
		s = map[string]any{"anyOf": []any{text, map[string]any{"type": "array", "items": text}, map[string]any{"type": "null"}}}
	}
	if f.help != "" {
		s["description"] = f.help
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

var schemaNames = map[reflect.Kind]string{
	reflect.Bool: "boolean", reflect.Int: "integer", reflect.Float64: "number", reflect.String: "string",
	reflect.Slice: "array", reflect.Map: "object", reflect.Struct: "object",
}

// schemaType is what values of a type look like. Members of lists and maps may
// not be null; a struct, such as an API token, only is such a member.
func schemaType(t reflect.Type, nullable bool) map[string]any {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s, names := make(map[string]any), []string{schemaNames[t.Kind()]}
	switch {
	case t == reflect.TypeFor[timespan.Bytes]():
		names, s["pattern"] = []string{"integer", "string"}, `^\d+\s*([KMG]iB)?$`
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		names[0] = "string"
	case t.Kind() == reflect.Slice:
		s["items"] = schemaType(t.Elem(), false)
	case t.Kind() == reflect.Map:
		s["additionalProperties"] = schemaType(t.Elem(), false)
	case t.Kind() == reflect.Struct:
		properties := make(map[string]any)
		for i := range t.NumField() {
			properties[t.Field(i).Tag.Get("yaml")] = schemaType(t.Field(i).Type, true)
		}
		s["properties"], s["additionalProperties"] = properties, false
	}
	if s["type"] = names[0]; nullable {
		s["type"] = append(names, "null")
	}
	return s
}
