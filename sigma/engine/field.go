package engine

import "github.com/sluicehq/sluice/sigma/event"

// Field returns the number of a field for Worker.Value. Those named in
// Options.Fields have one.
func (s *Set) Field(name string) (uint32, bool) {
	id, ok := s.plan.Fields.Lookup(name)
	return id, ok && !s.plan.Fields.List[id].Virtual && !s.plan.Fields.List[id].Placed
}

// several stands for several values of one field.
var several = event.Value{Type: event.Array, Raw: []byte("[]")}

// Value returns the value of a field in event i, as detection would find it;
// several values count as an array. It costs least for the event that was
// evaluated last. What it returns points into the event.
func (w *Worker) Value(ev *Events, i int, field uint32) (event.Value, bool) {
	w.show(ev, i)
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
// The text is valid until the worker opens another event.
func (w *Worker) Text(ev *Events, i int, field uint32) (text []byte, of event.Type, ok bool) {
	w.show(ev, i)
	switch k := w.view.only(field); k {
	case none:
		return nil, event.Null, false
	case many:
		return nil, event.Array, true
	default:
		c := &w.view.cells[k]
		if !hasText(c) {
			return nil, c.Type, true
		}
		return w.view.plain(k), c.Type, true
	}
}

// shown is the event a worker has opened.
type shown struct {
	events *Events
	round  uint64
	number int
}

// show makes event i the one at hand, unless it is already.
func (w *Worker) show(ev *Events, i int) {
	if w.shown != (shown{ev, ev.round, i}) {
		w.open(ev, i)
	}
}

func (w *Worker) open(ev *Events, i int) {
	d := &ev.list[i]
	w.view.open(d, ev.cells[d.first:d.last])
	w.shown = shown{ev, ev.round, i}
}
