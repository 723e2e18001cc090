package engine

import (
	"github.com/sluicehq/sluice/sigma/engine/scan"
	"github.com/sluicehq/sluice/sigma/event"
)

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
	v := &w.view
	var found *scan.Cell
	for k := v.first(field); k != none; k = v.next[k] {
		c := &v.cells[k]
		if c.Flags&scan.Terminal == 0 {
			continue
		}
		if found != nil {
			return several, true
		}
		found = c
	}
	if found == nil {
		return event.Value{}, false
	}
	return found.Value(v.doc), true
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
