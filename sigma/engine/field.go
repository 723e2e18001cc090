package engine

import (
	"github.com/sluicehq/sluice/sigma/engine/internal/scan"
	"github.com/sluicehq/sluice/sigma/event"
)

// Field returns the number of a field for Worker.Value. Every name in
// Options.Fields has a number.
func (s *Set) Field(name string) (uint32, bool) {
	id, ok := s.plan.Fields.Lookup(name)
	return id, ok && !s.plan.Fields.List[id].Virtual && !s.plan.Fields.List[id].ReadByPath
}

// several stands for several values of one field.
var several = event.Value{Type: event.Array, Raw: []byte("[]")}

// Show makes event i the one that Value and Text read, until the worker is given
// another one. It costs nothing for the event that was evaluated last.
func (w *Worker) Show(ev *Events, i int) { w.show(ev, i) }

// Value returns the value of a field in the event shown, as detection finds it;
// several values count as an array. The value points into the event.
func (w *Worker) Value(field uint32) (event.Value, bool) {
	switch k := w.view.only(field); k {
	case none:
		return event.Value{}, false
	case many:
		return several, true
	default:
		return w.view.cells[k].Value(w.view.doc), true
	}
}

// Text returns the type of that value and its text form, nil where it has none.
func (w *Worker) Text(field uint32) (text []byte, of event.Type, ok bool) {
	v := &w.view
	k := v.first(field)
	if k == none {
		return nil, event.Null, false
	}
	// The fast path: a string that is the only value and is written as it reads.
	c := &v.cells[k]
	if v.next[k] == none && c.Flags&(scan.Terminal|scan.Escaped|scan.High) == scan.Terminal && c.Type == event.String {
		return v.doc[c.Start+1 : c.End-1], event.String, true
	}
	switch k = v.only(field); k {
	case none:
		return nil, event.Null, false
	case many:
		return nil, event.Array, true
	}
	if c = &v.cells[k]; !hasText(c) {
		return nil, c.Type, true
	}
	return v.plain(k), c.Type, true
}

// shown identifies the event that a worker has opened.
type shown struct {
	events     *Events
	generation uint64
	number     int
}

// show opens event i unless it is open.
func (w *Worker) show(ev *Events, i int) {
	if w.shown != (shown{ev, ev.generation, i}) {
		w.open(ev, i)
	}
}

func (w *Worker) open(ev *Events, i int) {
	d := &ev.list[i]
	w.view.open(d, ev.cells[d.first:d.last])
	w.shown = shown{ev, ev.generation, i}
}
