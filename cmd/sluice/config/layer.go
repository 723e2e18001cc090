package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/internal/unavailable"
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
	line  int
	items []int // lines of a list's members
}

func (s setting) path() string {
	if s.entry == "" {
		return s.field.path
	}
	return join(s.field.path, s.entry)
}

// layer is what one file, variable or command line says.
type layer struct {
	decoder
	kind     Layer
	name     string // variable
	settings []setting
}

// parseYAML reads one mapping into a layer. The result is false when text
// follows the first document.
func (l *layer) parseYAML(root *field, data []byte) (single bool) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return true
	} else if err != nil {
		line, detail := document.Place(err)
		l.fault(&yaml.Node{Line: line}, "", errors.New(detail))
		return true
	}
	var rest yaml.Node
	single = errors.Is(dec.Decode(&rest), io.EOF)
	n, left := resolve(doc.Content[0]), maxNodes
	switch {
	case isNull(n):
	case n.Kind != yaml.MappingNode:
		l.fault(n, "", errors.New("a configuration must be a mapping of sections"))
	case l.sound(n, 0, &left):
		l.collect(root, n)
	}
	return single
}

// collect adds what n says about f and everything below it.
func (l *layer) collect(f *field, n *yaml.Node) {
	if n = resolve(n); isNull(n) { // as if the key had been left out
		if f.absent() {
			p := l.problem(n, f.path, "the section is empty and has no effect: fill it, or remove it")
			p.File = cmp.Or(p.File, l.name)
			l.warnings = append(l.warnings, p)
		}
		return
	}
	switch whole := f.isSection() || f.entries(); {
	case whole && n.Kind == yaml.ScalarNode && l.addText(f, f.path, n):
		return
	case whole && n.Kind != yaml.MappingNode:
		l.mismatch(n, f.path, "a mapping")
		return
	case f.isSection():
		l.collectSection(f, n)
		return
	case f.entries():
		l.collectEntries(f, n)
		return
	case f.mode == "lenient":
		n = lenient(n)
	case f.mode == "one" && n.Kind == yaml.ScalarNode:
		n = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n}, Line: n.Line}
	}
	s := setting{field: f, value: reflect.New(f.typ).Elem(), line: n.Line}
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			s.items = append(s.items, item.Line)
		}
	}
	if !l.decode(f.path, n, s.value) {
		return
	}
	if f.mode == "mild" {
		if err := f.allows(s.value.String()); err != nil {
			l.warnings = append(l.warnings, l.problem(n, f.path, err.Error()+" and is ignored"))
			return
		}
	}
	l.settings = append(l.settings, s)
}

// lenient makes a word of a scalar that YAML or its author wrote otherwise.
func lenient(n *yaml.Node) *yaml.Node {
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

func (l *layer) collectSection(f *field, n *yaml.Node) {
	marked := func(s setting) bool { return s.field == f } // by another variable
	if f.mode == "replace" && !slices.ContainsFunc(l.settings, marked) {
		l.settings = append(l.settings, setting{field: f, line: n.Line})
	}
	for i := 0; i < len(n.Content); i += 2 {
		if c := f.child(n.Content[i].Value); c != nil {
			l.collect(c, n.Content[i+1])
			continue
		}
		var known []string
		for _, c := range f.members() {
			if _, _, off := unavailable.Setting(c.path, c.flag); !off {
				known = append(known, c.name)
			}
		}
		l.unknownKey(n.Content[i], f.path, known)
	}
}

func (l *layer) collectEntries(f *field, n *yaml.Node) {
	for i := 0; i < len(n.Content); i += 2 {
		key, val := n.Content[i], resolve(n.Content[i+1])
		v := reflect.New(f.typ.Elem()).Elem()
		if !isNull(val) && l.decode(join(f.path, key.Value), val, v) {
			l.settings = append(l.settings, setting{field: f, entry: key.Value, value: v, line: key.Line})
		}
	}
}

// apply lays a layer over what has been merged so far.
func (l *Loaded) apply(from *layer) {
	v := reflect.ValueOf(l.Config).Elem()
	for _, s := range from.settings {
		place := at(v, s.field.index, true)
		if !s.value.IsValid() {
			l.reset(s.field, place)
			continue
		}
		if s.entry == "" {
			place.Set(s.value)
		} else {
			entries := reflect.MakeMap(s.field.typ) // never the map of an earlier layer
			for k, e := range place.Seq2() {
				entries.SetMapIndex(k, e)
			}
			entries.SetMapIndex(reflect.ValueOf(s.entry), s.value)
			place.Set(entries)
		}
		l.forget(s.path() + "[")
		for i, line := range s.items {
			l.sources[fmt.Sprintf("%s[%d]", s.path(), i)] = from.origin(line)
		}
		l.sources[s.path()] = from.origin(s.line)
	}
}

func (l *layer) origin(line int) origin {
	if l.file == "" {
		line = 0
	}
	return origin{l.kind, l.file, line}
}

// reset puts a section back to its defaults. A section that is absent by
// default becomes present and empty, because a layer named it.
func (l *Loaded) reset(f *field, place reflect.Value) {
	if place.Kind() == reflect.Pointer {
		place.Set(reflect.New(place.Type().Elem()))
	} else {
		place.Set(at(reflect.ValueOf(Default()).Elem(), f.index, true))
	}
	l.forget(f.path + ".")
}

// forget drops where settings came from whose paths begin so.
func (l *Loaded) forget(prefix string) {
	maps.DeleteFunc(l.sources, func(path string, _ origin) bool { return strings.HasPrefix(path, prefix) })
}
