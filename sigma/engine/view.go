package engine

import (
	"github.com/sluicehq/sluice/sigma/engine/internal/scan"
	"github.com/sluicehq/sluice/sigma/event"
)

// view is the current event: its cells, chained by field, and the texts that have
// been decoded so far.
type view struct {
	doc   []byte
	root  event.Value
	cells []scan.Cell
	next  []int32 // the next cell of the same field, or none

	heads    []uint64 // by field: epoch and first cell
	resolved []uint32 // by field: epoch in which a virtual field was resolved
	epoch    uint32
	wraps    uint32 // how often epoch began again
	strings  bool   // keywords are searched in some string

	texts []cellText
	arena []byte
}

// cellText is where the texts of a cell are in the arena, once they have been asked
// for in the current epoch.
type cellText struct {
	epoch         uint32
	known         uint32 // which of the two are there
	plain, folded textSpan
}

type textSpan struct{ from, to uint32 }

const (
	knownPlain  = 1 << iota
	knownFolded // of a number it is the plain text
)

const none int32 = -1

// viewArena is the size of a new arena.
const viewArena = 8 << 10

func (v *view) init(fields int) {
	v.heads = make([]uint64, fields)
	v.resolved = make([]uint32, fields)
	v.arena = make([]byte, 0, viewArena)
}

// open makes d the current event.
func (v *view) open(d *decoded, cells []scan.Cell) {
	v.epoch++
	if v.epoch == 0 { // wrapped: old marks could look new
		clear(v.heads)
		clear(v.resolved)
		clear(v.texts)
		v.epoch = 1
		v.wraps++
	}
	v.doc, v.root, v.cells = d.doc, d.value(), cells[:len(cells):len(cells)]
	v.arena = v.arena[:0]
	v.grow()
	heads, next, epoch := v.heads, v.next[:len(cells)], uint64(v.epoch)<<32
	var flags scan.Flags
	for i := len(cells) - 1; i >= 0; i-- {
		c := &cells[i]
		flags |= c.Flags
		if c.Field == 0 {
			continue
		}
		next[i] = none
		if h := heads[c.Field]; h>>32 == epoch>>32 {
			next[i] = int32(uint32(h))
		}
		heads[c.Field] = epoch | uint64(uint32(i))
	}
	v.strings = flags&scan.Keyword != 0
}

func (v *view) grow() {
	if n := len(v.cells) - len(v.next); n > 0 {
		v.next = append(v.next, make([]int32, n)...)
		v.texts = append(v.texts, make([]cellText, n)...)
	}
}

// link puts cell i before the cells of its field.
func (v *view) link(field uint32, i int32) {
	v.next[i] = v.first(field)
	v.heads[field] = uint64(v.epoch)<<32 | uint64(uint32(i))
}

// first returns the first cell of a field, or none.
func (v *view) first(field uint32) int32 {
	h := v.heads[field]
	if uint32(h>>32) != v.epoch {
		return none
	}
	return int32(uint32(h))
}

// many stands for several cells.
const many int32 = -2

// only returns the only terminal cell of a field, none, or many.
func (v *view) only(field uint32) int32 {
	found := none
	for i := v.first(field); i != none; i = v.next[i] {
		if v.cells[i].Flags&scan.Terminal == 0 {
			continue
		}
		if found != none {
			return many
		}
		found = i
	}
	return found
}

// single returns the only value of a field that has exactly one.
func (v *view) single(field uint32) (*scan.Cell, bool) {
	i := v.first(field)
	if i == none {
		return nil, false
	}
	if c := &v.cells[i]; v.next[i] == none {
		return c, c.Flags&scan.Terminal != 0
	}
	return v.singleAmong(i)
}

// singleAmong looks at cell i and those behind it of the same field.
func (v *view) singleAmong(i int32) (*scan.Cell, bool) {
	var found *scan.Cell
	for ; i != none; i = v.next[i] {
		c := &v.cells[i]
		if c.Flags&scan.Terminal == 0 {
			continue
		}
		if found != nil {
			return nil, false
		}
		found = c
	}
	return found, found != nil
}

// add lists a value that was found by walking the document, and the elements of
// arrays in it, as cells of the field.
func (v *view) add(field uint32, value event.Value, flags scan.Flags) {
	start := cap(v.doc) - cap(value.Raw)
	f := flags
	if value.Type == event.String {
		f |= scan.Escaped | scan.High
	}
	v.cells = append(v.cells, scan.Cell{
		Start: uint32(start), End: uint32(start + len(value.Raw)), Field: field, Type: value.Type, Flags: f,
	})
	for e := range value.Elements {
		v.add(field, e, 0)
	}
}

// resolve fills in a field with positions, once per event.
func (v *view) resolve(field uint32, p *event.Path, hits []event.Hit) []event.Hit {
	if v.resolved[field] == v.epoch {
		return hits
	}
	v.resolved[field] = v.epoch
	from := len(v.cells)
	hits = p.Resolve(hits[:0], v.root, false)
	for _, h := range hits {
		v.add(field, h.Value, scan.Terminal)
	}
	v.grow()
	for i := len(v.cells) - 1; i >= from; i-- {
		v.link(field, int32(i))
	}
	return hits
}

// hasText reports whether a cell's value has a text form.
func hasText(c *scan.Cell) bool {
	return 1<<c.Type&(1<<event.Null|1<<event.Array|1<<event.Object) == 0
}

// verbatim returns the text of a string without escapes and of ASCII only.
func verbatim(c *scan.Cell, doc []byte) (text []byte, is bool) {
	if c.Type != event.String || c.Flags&(scan.Escaped|scan.High) != 0 {
		return nil, false
	}
	return doc[c.Start+1 : c.End-1], true
}

// plain returns the text form of cell i, which must have one. It is valid until the
// next event is opened.
func (v *view) plain(i int32) []byte {
	c := &v.cells[i]
	if raw, is := verbatim(c, v.doc); is {
		return raw
	}
	t := v.slot(i)
	if t.known&knownPlain == 0 {
		at := len(v.arena)
		v.arena, _ = c.Value(v.doc).AppendText(v.arena)
		t.plain, t.known = v.since(at), t.known|knownPlain
	}
	return v.inArena(t.plain)
}

// folded returns the text form of cell i with case folded.
func (v *view) folded(i int32) []byte {
	t := v.slot(i)
	if t.known&knownFolded != 0 {
		return v.inArena(t.folded)
	}
	c := &v.cells[i]
	if c.Type == event.String && c.Flags&scan.High == 0 {
		at := len(v.arena)
		v.arena = event.AppendFoldedASCII(v.arena, v.doc[c.Start+1:c.End-1])
		t.folded = v.since(at)
	} else if plain := v.plain(i); c.Type == event.Number {
		t.folded = t.plain // digits, signs and points
	} else {
		at := len(v.arena)
		v.arena = event.AppendFolded(v.arena, plain)
		t.folded = v.since(at)
	}
	t.known |= knownFolded
	return v.inArena(t.folded)
}

// since is the end of the arena from a position on.
func (v *view) since(at int) textSpan { return textSpan{uint32(at), uint32(len(v.arena))} }

func (v *view) inArena(s textSpan) []byte { return v.arena[s.from:s.to:s.to] }

// searched returns the text form of cell i for looking up literals, where the case
// of ASCII letters does not matter: the bytes of the event, if possible.
func (v *view) searched(i int32) []byte {
	c := &v.cells[i]
	if c.Type == event.String && c.Flags&(scan.Escaped|scan.High) == 0 {
		return v.doc[c.Start+1 : c.End-1]
	}
	return v.folded(i)
}

func (v *view) slot(i int32) *cellText {
	t := &v.texts[i]
	if t.epoch != v.epoch {
		t.epoch, t.known = v.epoch, 0
	}
	return t
}

// numeric returns the numeric form of cell i.
func (v *view) numeric(i int32) (event.Numeric, bool) {
	c := &v.cells[i]
	switch c.Type {
	case event.Number:
		return event.ParseNumeric(v.doc[c.Start:c.End])
	case event.String:
		if b := v.doc[c.Start+1]; b > '9' && b != '\\' { // no sign and no digit
			return event.Numeric{}, false
		}
		return event.ParseNumeric(v.plain(i))
	case event.Text:
		return event.ParseNumeric(v.plain(i))
	}
	return event.Numeric{}, false
}
