package match

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/sluicehq/sluice/sigma/event"
)

// Document is a Source over an event's JSON form. It belongs to one goroutine.
//
// The first lookup walks once over the members of the event and finds every field
// that is one of them. Only names with a dot that are no member are looked up in
// nested objects.
type Document struct {
	numbers      map[string]int // of fields, by name
	paths        []event.Path   // by field
	alternatives [][]event.Path // by field: where it is read from instead
	root         event.Value
	walked       bool
	found        []event.Value // by field
	times        []int         // how often the field is a member
	hits         []event.Hit
	key          []byte
	text         []byte
}

// NewDocument returns a document in which the fields of s are looked up. A field with
// path patterns has the value of the first pattern that the event has; an object
// there stands for its member #text and is absent without one.
func NewDocument(s *Spec) *Document {
	n := len(s.Fields)
	d := &Document{
		numbers: make(map[string]int, n), paths: make([]event.Path, n),
		found: make([]event.Value, n), times: make([]int, n),
	}
	if s.Paths != nil {
		d.alternatives = make([][]event.Path, n)
	}
	for i, f := range s.Fields {
		d.paths[i] = event.ParsePath(f, 2)
		if s.Paths == nil || len(s.Paths[i]) == 0 {
			d.numbers[f] = i
			continue
		}
		for _, p := range s.Paths[i] {
			d.alternatives[i] = append(d.alternatives[i], event.ParsePattern(p))
		}
	}
	return d
}

// Set sets the event, which must be valid JSON. The text must not change while the
// document is read.
func (d *Document) Set(json []byte) {
	d.root = event.ValueOf(json)
	d.walked = false
	d.text = d.text[:0]
}

// Text returns the type of the field's value and its text form.
func (d *Document) Text(field int) ([]byte, event.Type, bool) {
	v, ok := d.Value(field)
	if !ok {
		return nil, v.Type, false
	}
	at := len(d.text)
	d.text, ok = v.AppendText(d.text)
	if !ok {
		return nil, v.Type, true
	}
	return d.text[at:len(d.text):len(d.text)], v.Type, true
}

// Value returns the field's value; several values count as an array.
func (d *Document) Value(field int) (event.Value, bool) {
	if d.alternatives != nil && d.alternatives[field] != nil {
		return d.firstOf(d.alternatives[field])
	}
	if d.root.Type == event.Object {
		if !d.walked {
			d.walk()
		}
		switch d.times[field] {
		case 0:
			if !strings.Contains(d.paths[field].Name, ".") {
				return event.Value{}, false
			}
		case 1:
			return d.found[field], true
		default:
			return several, true
		}
	}
	return d.resolve(&d.paths[field], d.root)
}

func (d *Document) resolve(p *event.Path, in event.Value) (event.Value, bool) {
	d.hits = p.Resolve(d.hits[:0], in, false)
	switch len(d.hits) {
	case 0:
		return event.Value{}, false
	case 1:
		return d.hits[0].Value, true
	}
	return several, true
}

// firstOf returns the value of the first path that the event has.
func (d *Document) firstOf(paths []event.Path) (event.Value, bool) {
	for i := range paths {
		v, ok := d.resolve(&paths[i], d.root)
		if ok && v.Type == event.Object {
			v, ok = d.resolve(&textPath, v)
		}
		if ok {
			return v, true
		}
	}
	return event.Value{}, false
}

// textPath leads to the text of an element with attributes.
var textPath = event.ParsePath("#text", 2)

// several stands for several values.
var several = event.Value{Type: event.Array, Raw: []byte("[]")}

func (d *Document) walk() {
	d.walked = true
	clear(d.times)
	for quoted, v := range d.root.Members {
		name := quoted[1 : len(quoted)-1]
		if bytes.IndexByte(name, '\\') >= 0 || !utf8.Valid(name) {
			d.key = event.AppendUnquoted(d.key[:0], quoted)
			name = d.key
		}
		if i, ok := d.numbers[string(name)]; ok {
			d.found[i] = v
			d.times[i]++
		}
	}
}

// AppendJSON appends the event.
func (d *Document) AppendJSON(dst []byte) []byte { return append(dst, d.root.Raw...) }
