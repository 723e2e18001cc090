package engine

import (
	"slices"
	"unsafe"

	"github.com/sluicehq/sluice/sigma/engine/internal/compile"
	"github.com/sluicehq/sluice/sigma/engine/internal/scan"
	"github.com/sluicehq/sluice/sigma/event"
	"github.com/sluicehq/sluice/sigma/result"
)

// values are what the results of the current event show. All results share one copy of
// each value, so that an event which meets many rules costs little more memory than one
// that meets a few.
type values struct {
	fields []fieldShown // by field
	used   []uint32     // fields that hold something since forget was called

	epoch uint32            // of what follows
	extra [2]*result.Extra  // what results carry beside, without and with the event; nil before it is first asked for
	long  map[string][]byte // values outside of fields, by what they say
}

// fieldShown is the value of a field in results.
type fieldShown struct {
	value []byte // nil when the field is absent
	name  string // of the path that had the value, for fields that are read by path
	epoch uint32
}

// longValue is the size from which equal values outside of fields are looked for.
const longValue = 128

// fieldValue returns the value of the item's field as results show it, several values
// as an array; nil when the field is absent. It returns the name of the path that had
// the value.
func (w *Worker) fieldValue(it *compile.Item, out *result.Batch) (string, []byte) {
	s := &w.values.fields[it.Field]
	if s.epoch != w.view.epoch {
		if s.epoch == 0 {
			w.values.used = append(w.values.used, it.Field)
		}
		s.epoch = w.view.epoch
		s.name, s.value = w.renderField(it, out)
	}
	if s.name != "" {
		return s.name, s.value
	}
	return it.Name, s.value
}

// renderField renders the value of the item's field. The name is empty unless the field
// is read by path.
func (w *Worker) renderField(it *compile.Item, out *result.Batch) (name string, value []byte) {
	w.render = w.render[:0]
	n := 0
	for i := w.first(it.Field); i != none; i = w.view.next[i] {
		c := &w.view.cells[i]
		if c.Flags&scan.Terminal == 0 {
			continue
		}
		if n > 0 {
			w.render = append(w.render, ',')
		} else if w.set.plan.Fields.List[it.Field].ReadByPath {
			name = w.pathName(it, c)
		}
		w.render = w.appendValue(w.render, c)
		n++
	}
	switch n {
	case 0:
		return "", nil
	case 1:
		return name, out.Bytes(w.render)
	}
	w.render = append(slices.Insert(w.render, 0, '['), ']')
	return name, out.Bytes(w.render)
}

// ofEvent makes what is not kept by field that of the current event.
func (v *values) ofEvent(epoch uint32) {
	if v.epoch != epoch {
		v.epoch, v.extra = epoch, [2]*result.Extra{}
		clear(v.long)
	}
}

// shared returns a copy of data that belongs to the batch: of long data one for all
// results of the current event.
func (w *Worker) shared(data []byte, out *result.Batch) []byte {
	if len(data) < longValue {
		return out.Bytes(data)
	}
	v := &w.values
	v.ofEvent(w.view.epoch)
	if have, ok := v.long[string(data)]; ok {
		return have
	}
	if v.long == nil {
		v.long = make(map[string][]byte)
	}
	own := out.Bytes(data)
	v.long[unsafe.String(&own[0], len(own))] = own // the batch never changes it
	return own
}

// extra returns the event and its time, as configured for the rule.
func (w *Worker) extra(ev *Events, i int, rule uint32, arrival int64, out *result.Batch) *result.Extra {
	v, with := &w.values, 0
	v.ofEvent(w.view.epoch)
	if w.set.include[rule] {
		with = 1
	}
	if v.extra[with] != nil {
		return v.extra[with]
	}
	x := out.Extra()
	if with == 1 {
		w.render = ev.AppendJSON(w.render[:0], i)
		x.Event = out.Bytes(w.render)
	}
	if w.set.timed {
		x.HasTime, x.Told = true, w.set.options.ResultTime
		var ok bool
		if x.Time, ok = w.time(); !ok {
			x.Time = arrival
		}
	}
	v.extra[with] = x
	return x
}

// forget lets go of the last event.
func (v *values) forget() {
	for _, field := range v.used {
		v.fields[field] = fieldShown{}
	}
	v.used, v.extra = v.used[:0], [2]*result.Extra{}
	clear(v.long)
}

// keptScratch is how much memory of a kind a worker keeps that one event needed.
const keptScratch = 256 << 10

// keptCells is the same in cells.
const keptCells = 2048

// Rest lets go of the events evaluated so far and of the memory that only uncommon ones
// need. It is called now and then, such as behind each batch.
func (w *Worker) Rest() {
	w.shown = shown{}
	w.values.forget()
	w.view.rest()
	w.references.forget()
	clear(w.fields[:cap(w.fields)])
	clear(w.hits[:cap(w.hits)])
	for _, b := range []*[]byte{&w.scratch, &w.folded, &w.render, &w.router.key} {
		if cap(*b) > keptScratch {
			*b = nil
		}
	}
	if cap(w.ids) > keptScratch/4 {
		w.ids = nil
	}
	if cap(w.hits) > keptCells {
		w.hits = nil
	}
	if cap(w.fields) > keptCells {
		w.fields = nil
	}
}

// rest empties the view and keeps what usual events need.
func (v *view) rest() {
	v.doc, v.root, v.cells = nil, event.Value{}, nil
	if len(v.texts) > keptCells {
		v.texts, v.next = nil, nil
	}
	if cap(v.arena) > keptScratch {
		v.arena = make([]byte, 0, viewArena)
	}
}

func (r *references) forget() {
	clear(r.sets)
	clear(r.rows)
	clear(r.objects)
	r.finder.Rest()
	r.texts = nil
}
