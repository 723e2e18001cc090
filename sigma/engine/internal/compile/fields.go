package compile

import (
	"strings"

	"github.com/sluicehq/sluice/sigma/engine/internal/scan"
	"github.com/sluicehq/sluice/sigma/event"
)

// Keywords is the number of the field that stands for all strings of an event.
const Keywords uint32 = 1

// firstField is the number of the first field that has a name.
const firstField = int(Keywords) + 1

// Field is a name, or a list of paths, that predicates read.
type Field struct {
	Name       string       // as results show it
	Paths      []event.Path // one for a name
	Virtual    bool         // has positions: resolved in the event when asked for
	ReadByPath bool         // the value is that of the first of Paths that the event has
	Hints      []uint32     // Virtual: fields of which one is present when this one is
}

// Fields numbers the fields of a rule set, from firstField on.
type Fields struct {
	List  []Field
	Table *scan.Table
	ids   map[string]uint32

	frozen bool // no field is added any more
	missed bool // one should have been
}

func newFields() *Fields {
	return &Fields{List: make([]Field, firstField), Table: scan.NewTable(), ids: make(map[string]uint32)}
}

// Lookup returns the number of a plain field name, when it has one.
func (f *Fields) Lookup(name string) (uint32, bool) {
	id, ok := f.ids[name]
	return id, ok
}

// Add returns the number of a field name under a document version.
func (f *Fields) Add(name string, version int) uint32 {
	p := event.ParsePath(name, version)
	if p.Indexed() {
		return f.addVirtual(name, p)
	}
	if id, ok := f.ids[p.Name]; ok {
		return id
	}
	if f.misses() {
		return 0
	}
	id := f.append(p.Name, Field{Name: p.Name, Paths: []event.Path{p}})
	nested := len(p.Segments) > 1
	f.Table.AddName(id, p.Name, 0, nested, false)
	if nested {
		f.Table.AddPath(id, p.Segments, 1, false)
	}
	return id
}

func (f *Fields) addVirtual(name string, p event.Path) uint32 {
	key := "\x00" + name
	if id, ok := f.ids[key]; ok {
		return id
	}
	hints := f.Hints(&p)
	if f.misses() {
		return 0
	}
	return f.append(key, Field{Name: p.Name, Paths: []event.Path{p}, Virtual: true, Hints: hints})
}

// Hints returns fields of which one is present whenever the path resolves.
func (f *Fields) Hints(p *event.Path) []uint32 {
	hints := []uint32{f.Add(p.Segments[0].Key, 0)}
	if p.Name != p.Segments[0].Key {
		hints = append(hints, f.Add(p.Name, 0))
	}
	return hints
}

// AddPaths returns the number of the field whose value is that of the first path
// that the event has.
func (f *Fields) AddPaths(paths []string) uint32 {
	key := "\x01" + strings.Join(paths, "\x01")
	if id, ok := f.ids[key]; ok {
		return id
	}
	if f.misses() {
		return 0
	}
	field := Field{Name: paths[0], ReadByPath: true}
	for _, p := range paths {
		field.Paths = append(field.Paths, event.ParsePattern(p))
	}
	id := f.append(key, field)
	for i, p := range field.Paths {
		f.Table.AddName(id, p.Name, 2*i, true, true)
		if len(p.Segments) > 1 {
			f.Table.AddPath(id, p.Segments, 2*i+1, true)
		}
	}
	return id
}

// misses reports whether a new field cannot be added.
func (f *Fields) misses() bool {
	f.missed = f.missed || f.frozen
	return f.frozen
}

// searchAll says that there are predicates of all strings of an event.
func (f *Fields) searchAll() {
	if !f.Table.Keywords && !f.misses() {
		f.Table.Keywords = true
	}
}

func (f *Fields) append(key string, field Field) uint32 {
	id := uint32(len(f.List))
	f.ids[key] = id
	f.List = append(f.List, field)
	f.Table.Reserve(id)
	return id
}
