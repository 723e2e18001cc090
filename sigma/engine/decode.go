package engine

import (
	"slices"

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

// maxSeen is how many pairs an event has whose map of keys is used again.
const maxSeen = 1024

// DecodePairs appends an event of named texts. Of several pairs with one key the
// first is the field; keywords are searched in all.
func (w *Worker) DecodePairs(ev *Events, pairs []event.Pair) {
	first := len(ev.cells)
	table := w.set.plan.Fields.Table
	start := len(ev.arena)
	doc := append(ev.arena, '{')
	clear(w.seen)
	for _, p := range pairs {
		if _, dup := w.seen[p.Key]; dup {
			continue
		}
		w.seen[p.Key] = struct{}{}
		if len(doc) > start+1 {
			doc = append(doc, ',')
		}
		doc = append(event.AppendQuoted(doc, p.Key), ':')
		from := uint32(len(doc) - start)
		doc = event.AppendQuoted(doc, p.Value)
		c := scan.Cell{Start: from, End: uint32(len(doc) - start), Type: event.String, Flags: pairFlags(p.Value)}
		c.Flags |= scan.Keyword
		table.Flat(p.Key, func(field uint32, rank uint16, shared bool) {
			t := c
			t.Field, t.Rank = field, rank
			t.Flags |= scan.Terminal
			ev.cells = append(ev.cells, t)
			c.Flags &^= scan.Keyword
		})
		if c.Flags&scan.Keyword != 0 {
			ev.cells = append(ev.cells, c)
		}
	}
	doc = append(doc, '}')
	end := len(doc)
	doc = w.repeated(ev, doc, start, pairs)
	ev.arena = doc
	if len(pairs) > maxSeen {
		w.seen = make(map[string]struct{}) // clearing a large map costs every later event
	}
	ev.cells = ev.cells[:first+dropWorse(ev.cells[first:])]
	ev.list = append(ev.list, decoded{
		kind: event.Pairs, doc: doc[start:], root: uint32(end - start), first: uint32(first), last: uint32(len(ev.cells)),
	})
}

// repeated puts the values of repeated keys behind the document, where only
// keywords find them.
func (w *Worker) repeated(ev *Events, doc []byte, start int, pairs []event.Pair) []byte {
	if len(w.seen) == len(pairs) {
		return doc
	}
	for _, p := range pairs {
		if _, first := w.seen[p.Key]; first {
			delete(w.seen, p.Key)
			continue
		}
		from := uint32(len(doc) - start)
		doc = event.AppendQuoted(doc, p.Value)
		ev.cells = append(ev.cells, scan.Cell{
			Start: from, End: uint32(len(doc) - start), Type: event.String, Flags: pairFlags(p.Value) | scan.Keyword,
		})
	}
	return doc
}

func pairFlags(s string) scan.Flags {
	var f scan.Flags
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 0x80:
			f |= scan.High
		case c < ' ' || c == '"' || c == '\\':
			f |= scan.Escaped
		}
	}
	return f
}

// dropWorse keeps, of the cells of a field, those of the lowest rank, and
// returns how many are left.
func dropWorse(cells []scan.Cell) int {
	if !slices.ContainsFunc(cells, func(c scan.Cell) bool { return c.Rank != 0 }) {
		return len(cells) // nearly always
	}
	best := make(map[uint32]uint16)
	for _, c := range cells {
		if rank, known := best[c.Field]; !known || c.Rank < rank {
			best[c.Field] = c.Rank
		}
	}
	n := 0
	for _, c := range cells {
		if c.Field != 0 && c.Rank > best[c.Field] {
			if c.Flags&scan.Keyword == 0 {
				continue
			}
			c.Field, c.Rank, c.Flags = 0, 0, c.Flags&^scan.Terminal
		}
		cells[n] = c
		n++
	}
	return n
}

// keywordsOf reports whether the field is the one of all strings.
func keywordsOf(field uint32) bool { return field == compile.Keywords }
