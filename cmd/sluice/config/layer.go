package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/sluicehq/sluice/sigma/load/document"
)

// Layer tells where the value of a setting came from.
type Layer string

// The layers, lowest precedence first.
const (
	LayerDefault Layer = "default"
	LayerFile    Layer = "file"
	LayerEnv     Layer = "env"
	LayerFlag    Layer = "flag"
)

// A setting is one decoded leaf of a layer. Without a value it is a mark: what
// lower layers said about the section is void.
type setting struct {
	field *field
	entry string // key inside a map whose entries merge
	value reflect.Value
}

func (s setting) path() string {
	if s.entry == "" {
		return s.field.path
	}
	return join(s.field.path, s.entry)
}

// layer is what one file, variable or command line says.
type layer struct {
	kind     Layer
	origin   string // file or variable
	settings []setting
	unknown  []string
}

// parseYAML reads one mapping into a layer. The boolean is false when text
// follows the first document.
func parseYAML(root *field, kind Layer, origin string, data []byte) (*layer, bool, error) {
	l := &layer{kind: kind, origin: origin}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return l, true, nil
	} else if err != nil {
		return nil, true, yamlError(err)
	}
	var rest yaml.Node
	single := errors.Is(dec.Decode(&rest), io.EOF)
	n := resolve(doc.Content[0])
	if isNull(n) {
		return l, single, nil
	}
	if n.Kind != yaml.MappingNode {
		return nil, single, errors.New("a configuration must be a mapping of sections")
	}
	left := maxNodes
	if err := sound(n, 0, &left); err != nil {
		return nil, single, err
	}
	return l, single, l.collect(root, n)
}

func yamlError(err error) error {
	line, detail := document.Place(err)
	if line == 0 {
		return errors.New(detail)
	}
	return fmt.Errorf("line %d: %s", line, detail)
}

// collect adds what n says about f and everything below it.
func (l *layer) collect(f *field, n *yaml.Node) error {
	if n = resolve(n); isNull(n) {
		return nil // as if the key had been left out
	}
	switch {
	case f.isSection():
		return l.collectSection(f, n)
	case f.entries():
		return l.collectEntries(f, n)
	}
	var d decoder
	v := reflect.New(f.typ).Elem()
	if f.mode == "loose" {
		n = loose(n)
	}
	if err := d.decode(f.path, n, v); err != nil {
		return err
	}
	l.unknown = append(l.unknown, d.unknown...)
	l.settings = append(l.settings, setting{field: f, value: v})
	return nil
}

// loose makes a word of a scalar that YAML or its author wrote otherwise.
func loose(n *yaml.Node) *yaml.Node {
	if n.Kind != yaml.ScalarNode {
		return n
	}
	word := *n
	word.Value = strings.ToLower(strings.TrimSpace(n.Value))
	if n.ShortTag() == "!!bool" {
		word.Tag = "!!str"
	}
	return &word
}

func (l *layer) collectSection(f *field, n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return mismatch(f.path, "a mapping", n)
	}
	if f.mode == "replace" {
		l.settings = append(l.settings, setting{field: f})
	}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i].Value
		c := f.child(key)
		if c == nil {
			l.unknown = append(l.unknown, join(f.path, key))
			continue
		}
		if err := l.collect(c, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (l *layer) collectEntries(f *field, n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return mismatch(f.path, "a mapping", n)
	}
	var d decoder
	for i := 0; i < len(n.Content); i += 2 {
		key, val := n.Content[i].Value, resolve(n.Content[i+1])
		if isNull(val) {
			continue
		}
		v := reflect.New(f.typ.Elem()).Elem()
		if err := d.decode(join(f.path, key), val, v); err != nil {
			return err
		}
		l.settings = append(l.settings, setting{field: f, entry: key, value: v})
	}
	return nil
}

// merged is a tree under construction and where each of its leaves came from.
type merged struct {
	config  *Config
	root    *field
	sources map[string]Layer
}

func newMerged(root *field) *merged {
	return &merged{config: Default(), root: root, sources: make(map[string]Layer)}
}

// apply lays l over what has been merged so far.
func (m *merged) apply(l *layer) {
	v := reflect.ValueOf(m.config).Elem()
	for _, s := range l.settings {
		place := at(v, s.field.index, true)
		switch {
		case !s.value.IsValid():
			m.reset(s.field, place)
		case s.entry != "":
			entries := reflect.MakeMap(s.field.typ) // never the map of an earlier layer
			for k, e := range place.Seq2() {
				entries.SetMapIndex(k, e)
			}
			entries.SetMapIndex(reflect.ValueOf(s.entry), s.value)
			place.Set(entries)
			m.sources[s.path()] = l.kind
		default:
			place.Set(s.value)
			m.sources[s.path()] = l.kind
		}
	}
}

// reset puts a section back to its defaults. A section that is absent by
// default becomes present and empty, because a layer named it.
func (m *merged) reset(f *field, place reflect.Value) {
	if place.Kind() == reflect.Pointer {
		place.Set(reflect.New(place.Type().Elem()))
	} else {
		place.Set(at(reflect.ValueOf(Default()).Elem(), f.index, true))
	}
	maps.DeleteFunc(m.sources, func(path string, _ Layer) bool {
		return strings.HasPrefix(path, f.path+".")
	})
}

// warnUnknown renders the layer's unknown keys.
func (l *layer) warnUnknown() []string {
	warnings := make([]string, 0, len(l.unknown))
	for _, key := range slices.Sorted(slices.Values(l.unknown)) {
		warnings = append(warnings, fmt.Sprintf("unknown config key '%s' in %s", key, l.origin))
	}
	return warnings
}
