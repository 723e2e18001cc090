package graph

import (
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/sigma/event"
)

// Event is the event of a detection, if it is included.
func (r *Result) Event() (event.Value, bool) {
	if r.Detection == nil || r.Detection.Extra == nil || len(r.Detection.Extra.Event) == 0 {
		return event.Value{}, false
	}
	return event.ValueOf(r.Detection.Extra.Event), true
}

// Field is the value of the first matched field of exactly that name.
func (r *Result) Field(name string) (event.Value, bool) {
	if r.Detection == nil {
		return event.Value{}, false
	}
	for i := range r.Detection.Fields {
		if f := &r.Detection.Fields[i]; f.Name == name && len(f.Value) > 0 {
			return event.ValueOf(f.Value), true
		}
	}
	return event.Value{}, false
}

// GroupValue is the value of the first pair of a correlation's group key with exactly that
// field.
func (r *Result) GroupValue(field string) (string, bool) {
	if r.Correlation == nil {
		return "", false
	}
	for i := range r.Correlation.Key {
		if p := &r.Correlation.Key[i]; p.Field == field {
			return p.Value, true
		}
	}
	return "", false
}

// Enrichment is the enrichment of exactly that key, else what the path leads to.
func (r *Result) Enrichment(key string, path Path) (event.Value, bool) {
	if len(r.Enrichments) == 0 {
		return event.Value{}, false
	}
	all := event.ValueOf(r.Enrichments)
	if v, ok := all.Member(key); ok {
		return v, true
	}
	return path.In(all)
}

// Path leads into a JSON value, step by step.
type Path []PathStep

// PathStep is a key of an object or a position in an array.
type PathStep struct {
	key   string
	index int // -1 if it is no position
}

// NewPath reads a path whose steps, with dots between them, are keys of objects and
// positions in arrays.
func NewPath(text string) Path {
	var p Path
	for key := range strings.SplitSeq(text, ".") {
		index := -1
		if n, err := strconv.ParseUint(key, 10, 31); err == nil && key[0] != '+' {
			index = int(n)
		}
		p = append(p, PathStep{key, index})
	}
	return p
}

// KeyPath is a path of keys of objects alone.
func KeyPath(keys []string) Path {
	var p Path
	for _, key := range keys {
		p = append(p, PathStep{key, -1})
	}
	return p
}

// In returns what the path leads to. Of a repeated key the first counts.
func (p Path) In(v event.Value) (event.Value, bool) {
	for i := range p {
		var ok bool
		switch v.Type {
		case event.Object:
			v, ok = v.Member(p[i].key)
		case event.Array:
			v, ok = element(v, p[i].index)
		}
		if !ok {
			return event.Value{}, false
		}
	}
	return v, true
}

func element(v event.Value, index int) (event.Value, bool) {
	i := 0
	for e := range v.Elements {
		if i == index {
			return e, true
		}
		i++
	}
	return event.Value{}, false
}
