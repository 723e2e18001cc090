package openapi

import (
	"bytes"
	"encoding/json"
)

// Schema is a JSON Schema (2020-12), as OpenAPI 3.1 has it.
type Schema struct {
	Ref                  string     `json:"$ref,omitempty"`
	Type                 any        `json:"type,omitempty"` // a string, or a list of them
	Description          string     `json:"description,omitempty"`
	Format               string     `json:"format,omitempty"`
	Enum                 []string   `json:"enum,omitempty"`
	Default              any        `json:"default,omitempty"`
	Minimum              *int64     `json:"minimum,omitempty"`
	Maximum              *int64     `json:"maximum,omitempty"`
	MinLength            int        `json:"minLength,omitempty"`
	Items                *Schema    `json:"items,omitempty"`
	MinItems             int        `json:"minItems,omitempty"`
	MaxItems             int        `json:"maxItems,omitempty"`
	Properties           Properties `json:"properties,omitempty"`
	Required             []string   `json:"required,omitempty"`
	AdditionalProperties *Schema    `json:"additionalProperties,omitempty"`
	Closed               bool       `json:"-"` // no additional properties
	AnyOf                []*Schema  `json:"anyOf,omitempty"`
}

// MarshalJSON encodes the schema.
func (s *Schema) MarshalJSON() ([]byte, error) {
	type plain Schema
	if !s.Closed {
		return encode((*plain)(s))
	}
	return encode(struct {
		*plain
		AdditionalProperties bool `json:"additionalProperties"`
	}{plain: (*plain)(s)})
}

// Properties are the members of an object in the order in which they are encoded.
type Properties []Property

// Property is one member.
type Property struct {
	Name   string
	Schema *Schema
}

// MarshalJSON encodes the properties as an object that keeps their order.
func (all Properties) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, p := range all {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := encode(p.Name)
		if err != nil {
			return nil, err
		}
		schema, err := encode(p.Schema)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, name...), ':'), schema...)
	}
	return append(b, '}'), nil
}

// Find returns the schema of the property with this name, or nil.
func (all Properties) Find(name string) *Schema {
	for _, p := range all {
		if p.Name == name {
			return p.Schema
		}
	}
	return nil
}

// encode is json.Marshal without escapes for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
