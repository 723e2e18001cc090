package match

import (
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/event"
)

// Event is a Source over an event that an engine's worker holds. It belongs to
// one goroutine.
//
// Fields that the worker's set was told of (engine.Options.Fields) were found
// when the event was decoded; only others are looked for in its JSON form.
type Event struct {
	numbers []uint32 // by field: its number in the set
	known   []bool   // by field: it has one
	doc     *Document
	read    bool // doc is that of the event

	worker *engine.Worker
	events *engine.Events
	number int
}

// NewEvent returns a source for the fields of s and workers of set.
func NewEvent(s *Spec, set *engine.Set) *Event {
	e := &Event{numbers: make([]uint32, len(s.Fields)), known: make([]bool, len(s.Fields)), doc: NewDocument(s)}
	for i, name := range s.Fields {
		if s.Places == nil || len(s.Places[i]) == 0 {
			e.numbers[i], e.known[i] = set.Field(name)
		}
	}
	return e
}

// Open makes event i, which the worker may have decoded or not, the one that is
// asked. It costs least when the worker has just evaluated it.
func (e *Event) Open(w *engine.Worker, events *engine.Events, i int) {
	e.worker, e.events, e.number, e.read = w, events, i, false
}

// Value returns the field's value; several values count as an array. Plain text
// has no fields.
func (e *Event) Value(field int) (event.Value, bool) {
	if e.known[field] {
		return e.worker.Value(e.events, e.number, e.numbers[field])
	}
	return e.document().Value(field)
}

// Text returns the type of the field's value and its text form.
func (e *Event) Text(field int) ([]byte, event.Type, bool) {
	if e.known[field] {
		return e.worker.Text(e.events, e.number, e.numbers[field])
	}
	return e.document().Text(field)
}

// document is the event's JSON form.
func (e *Event) document() *Document {
	if !e.read {
		e.read = true
		if e.events.Kind(e.number) == event.Plain {
			e.doc.Set(null)
		} else {
			e.doc.Set(e.events.Root(e.number).Raw)
		}
	}
	return e.doc
}

// AppendJSON appends the event's JSON form.
func (e *Event) AppendJSON(dst []byte) []byte { return e.events.AppendJSON(dst, e.number) }
