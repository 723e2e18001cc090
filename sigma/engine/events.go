package engine

import (
	"unsafe"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/engine/internal/scan"
	"github.com/sluicehq/sluice/sigma/event"
)

// Events are the decoded events of one batch. They point into the lines they were
// decoded from, and only workers of the set that decoded them may read them.
type Events struct {
	list       []decoded
	cells      []scan.Cell
	arena      []byte // documents that were made, not received
	generation uint64 // grows when events are removed, since their numbers are reused
}

// decoded is small: a line of a mebibyte may hold half a million events.
type decoded struct {
	doc         []byte // what the cells point into; begins with the event's value
	implied     *ast.Logsource
	first, last uint32 // of its cells
	root        uint32 // length of its value
	kind        event.Kind
}

// value is the value of the event.
func (d *decoded) value() event.Value {
	if d.kind == event.Plain {
		return event.Value{Type: event.Text, Raw: d.doc}
	}
	return event.ValueOf(d.doc[:d.root])
}

// Memory that Reset keeps, at most.
const (
	maxEvents     = 1 << 14
	maxEventCells = 1 << 16
	maxEventArena = 1 << 20
)

// Reset removes all events and keeps the memory that usual ones need.
func (ev *Events) Reset() {
	ev.generation++
	if cap(ev.list) > maxEvents {
		ev.list = nil
	}
	clear(ev.list)
	ev.list, ev.cells, ev.arena = ev.list[:0], ev.cells[:0], ev.arena[:0]
	ev.Evaluated()
	if cap(ev.arena) > maxEventArena {
		ev.arena = nil
	}
}

// Evaluated says that no event is evaluated any more: they keep little of what an
// evaluation needs.
func (ev *Events) Evaluated() {
	if cap(ev.cells) > maxEventCells {
		ev.cells = nil
	}
}

// Held is how many bytes of memory the events take beside the lines.
func (ev *Events) Held() int {
	return len(ev.list)*int(unsafe.Sizeof(decoded{})) + len(ev.cells)*int(unsafe.Sizeof(scan.Cell{})) + len(ev.arena)
}

// Len returns the number of events.
func (ev *Events) Len() int { return len(ev.list) }

// Truncate removes the events from number n on.
func (ev *Events) Truncate(n int) {
	if n >= len(ev.list) {
		return
	}
	ev.generation++
	ev.cells = ev.cells[:ev.list[n].first]
	clear(ev.list[n:])
	ev.list = ev.list[:n]
}

// Kind returns how event i was decoded.
func (ev *Events) Kind(i int) event.Kind { return ev.list[i].kind }

// Root returns the value of event i: the JSON value as received, the object made
// of pairs, or the text of a plain line.
func (ev *Events) Root(i int) event.Value { return ev.list[i].value() }

// Imply gives event i a logsource, for the dimensions that neither its fields
// nor the configuration set.
func (ev *Events) Imply(i int, l *ast.Logsource) { ev.list[i].implied = l }

// AppendJSON appends the JSON form of event i: the text as received without
// insignificant white space, an object of strings, or the plain line under _raw.
func (ev *Events) AppendJSON(dst []byte, i int) []byte {
	d := &ev.list[i]
	if d.kind == event.Plain {
		dst = event.AppendQuoted(append(dst, `{"_raw":`...), d.doc)
		return append(dst, '}')
	}
	return event.AppendCompact(dst, d.doc[:d.root])
}

// Resolve appends the values that a field name has in event i, in order.
// Positions in brackets count as such when version is 3 or more.
func (ev *Events) Resolve(dst []event.Value, i int, name string, version int) []event.Value {
	p := event.ParsePath(name, version)
	for _, h := range p.Resolve(nil, ev.list[i].value(), false) {
		dst = append(dst, h.Value)
	}
	return dst
}
