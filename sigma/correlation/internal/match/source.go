package match

import (
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/event"
)

// Event is a Source over an event that an engine's worker holds. It belongs to
// one goroutine.
//
// Fields in engine.Options.Fields were found when the event was decoded; only others
// are looked up in its JSON form.
type Event struct {
	numbers []int64 // by field: its number in the set, or unknown
	doc     *Document
	read    bool // doc is that of the event

	worker *engine.Worker
	events *engine.Events
	number int
}

// NewEvent returns a source for the fields of s and workers of set.
func NewEvent(s *Spec, set *engine.Set) *Event {
	e := &Event{numbers: make([]int64, len(s.Fields)), doc: NewDocument(s)}
	for i, name := range s.Fields {
		e.numbers[i] = unknown
		if s.Paths == nil || len(s.Paths[i]) == 0 {
			if number, ok := set.Field(name); ok {
				e.numbers[i] = int64(number)
			}
		}
	}
	return e
}

// unknown is the number of a field that has none.
const unknown = -1

// Open makes event i the one that is read, until the worker is given another. It
// costs least when the worker has just evaluated the event.
func (e *Event) Open(w *engine.Worker, events *engine.Events, i int) {
	w.Show(events, i)
	e.worker, e.events, e.number, e.read = w, events, i, false
}

// Value returns the field's value; several values count as an array. Plain text
// has no fields.
func (e *Event) Value(field int) (event.Value, bool) {
	if n := e.numbers[field]; n != unknown {
		return e.worker.Value(uint32(n))
	}
	return e.document().Value(field)
}

// Text returns the type of the field's value and its text form.
func (e *Event) Text(field int) ([]byte, event.Type, bool) {
	if n := e.numbers[field]; n != unknown {
		return e.worker.Text(uint32(n))
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
