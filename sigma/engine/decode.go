package engine

import (
	"github.com/sluicehq/sluice/sigma/engine/internal/compile"
	"github.com/sluicehq/sluice/sigma/engine/internal/scan"
	"github.com/sluicehq/sluice/sigma/event"
)

// DecodeJSON appends the event that the line is. The line must be one JSON
// value; it is borrowed for as long as ev holds the event. On an error, which is
// scan.ErrSyntax, nothing is appended.
func (w *Worker) DecodeJSON(ev *Events, line []byte) error {
	before := len(ev.list)
	end, err := w.value(ev, line, scan.SkipSpace(line, 0), 0)
	if err == nil && scan.SkipSpace(line, end) != len(line) {
		err = scan.ErrSyntax
	}
	if err != nil {
		ev.Truncate(before)
	}
	return err
}

// DecodeMade appends the event of a JSON value that was made, not received: ev keeps a
// copy of it. On an error, which is scan.ErrSyntax, nothing is appended.
func (w *Worker) DecodeMade(ev *Events, value []byte) error {
	start := len(ev.arena)
	ev.arena = append(ev.arena, value...)
	err := w.DecodeJSON(ev, ev.arena[start:len(ev.arena):len(ev.arena)])
	if err != nil {
		ev.arena = ev.arena[:start]
	}
	return err
}

// DecodeValues appends the events of a line of one or more JSON values: each is an
// event, but in the place of an array its elements are. Behind a number or a literal
// something has to separate it from the next. With containers, a value that is neither
// an object nor an array is an error. The line is borrowed for as long as ev holds one
// of its events. On an error, which is scan.ErrSyntax, nothing is appended.
func (w *Worker) DecodeValues(ev *Events, line []byte, containers bool) error {
	before := len(ev.list)
	i, err := scan.SkipSpace(line, 0), error(nil)
	for first := true; err == nil && (first || i < len(line)); first = false {
		switch {
		case i == len(line):
			err = scan.ErrSyntax
		case line[i] == '[':
			i, err = w.elements(ev, line, i)
		case line[i] != '{' && containers:
			err = scan.ErrSyntax
		default:
			i, err = w.value(ev, line, i, 0)
		}
		next := scan.SkipSpace(line, i)
		if err == nil && next == i && i < len(line) && !separates(line[i-1]) && !separates(line[i]) {
			err = scan.ErrSyntax
		}
		i = next
	}
	if err != nil {
		ev.Truncate(before)
	}
	return err
}

// separates reports whether a character is the first or last of a value that needs no
// white space beside it.
func separates(c byte) bool { return c == '"' || c == '{' || c == '}' || c == '[' || c == ']' }

// elements appends the elements of the array at i of the line and returns where it ends.
func (w *Worker) elements(ev *Events, line []byte, i int) (end int, err error) {
	i = scan.SkipSpace(line, i+1)
	if i < len(line) && line[i] == ']' {
		return i + 1, nil
	}
	for {
		if i, err = w.value(ev, line, i, 1); err != nil {
			return 0, err
		}
		i = scan.SkipSpace(line, i)
		switch {
		case i == len(line):
			return 0, scan.ErrSyntax
		case line[i] == ']':
			return i + 1, nil
		case line[i] != ',':
			return 0, scan.ErrSyntax
		}
		i = scan.SkipSpace(line, i+1)
	}
}

// value appends the event that the value at i of the line is, inside a number of
// containers, and returns where it ends.
func (w *Worker) value(ev *Events, line []byte, i, inside int) (end int, err error) {
	doc, first := line[i:], len(ev.cells)
	cells, n, err := w.scanner.Value(ev.cells, doc, inside)
	if err != nil {
		return 0, err
	}
	ev.cells = cells
	ev.list = append(ev.list, decoded{
		kind: event.JSON, doc: doc[:n], root: uint32(n), first: uint32(first), last: uint32(len(cells)),
	})
	return i + n, nil
}

// DecodePlain appends an event without fields whose only text is the line.
func (w *Worker) DecodePlain(ev *Events, line []byte) {
	first := len(ev.cells)
	if w.set.plan.Fields.Table.Keywords {
		ev.cells = append(ev.cells, scan.Cell{
			End: uint32(len(line)), Type: event.Text, Flags: scan.Keyword | scan.Verbatim | scan.High,
		})
	}
	ev.list = append(ev.list, decoded{
		kind: event.Plain, doc: line, root: uint32(len(line)), first: uint32(first), last: uint32(len(ev.cells)),
	})
}

// DecodeWritten is DecodeJSON for a document that write appends to dst. It lies in the
// memory of ev and borrows nothing.
func (w *Worker) DecodeWritten(ev *Events, write func(dst []byte) []byte) error {
	arena := write(ev.arena)
	err := w.DecodeJSON(ev, arena[len(ev.arena):])
	if err == nil {
		ev.arena = arena
	}
	return err
}

// keywordsOf reports whether the field is the one of all strings.
func keywordsOf(field uint32) bool { return field == compile.Keywords }
