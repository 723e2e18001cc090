package match

import (
	"encoding/binary"
	"errors"
	"math"
)

// ErrCorrupt says that bytes are not a record.
var ErrCorrupt = errors.New("match record is not readable")

const (
	hasID = 1 << iota
	hasCopy
	hasFields
	knownFlags = hasID | hasCopy | hasFields
)

// Record is what one event means to the correlations. Its slices point into the
// bytes it was decoded from.
type Record struct {
	Time     int64  // of the event, else its arrival
	Sequence uint64 // of the event in its source
	HasID    bool
	ID       []byte // reference of the event
	Copy     []byte // the deflated event, nil when nobody stores it

	fields  []byte
	nFields int
	updates []Update
	next    int // the first update not yet taken
}

// Update is one match seen by one correlation.
type Update struct {
	Rule   int // load index
	Feed   int // position in the rule's Feeds
	Hash   uint64
	Key    []byte
	Text   []byte  // Text and Tuple
	Number float64 // Number
}

// Field is a field kept for correlations of correlations.
type Field struct {
	Null   bool // JSON null
	Number bool // a number, or a text that may spell one
	Text   []byte
}

// Decode reads one record and returns what follows it. Everything is read, so
// that nothing can fail later.
func (r *Record) Decode(buf []byte) ([]byte, error) {
	c := cursor{buf: buf}
	body := cursor{buf: c.block()}
	if c.bad {
		return nil, ErrCorrupt
	}
	flags := body.byte()
	*r = Record{Time: int64(body.uvarint()), Sequence: body.uvarint(), updates: r.updates[:0]}
	if flags&hasID != 0 {
		r.HasID, r.ID = true, body.block()
	}
	if flags&hasCopy != 0 {
		r.Copy = body.block()
	}
	if flags&hasFields != 0 {
		r.nFields = int(body.uvarint())
		r.fields = body.block()
	}
	r.readUpdates(&body)
	if body.bad || len(body.buf) > 0 || flags&^knownFlags != 0 || r.Time < 0 || !r.soundFields() {
		return nil, ErrCorrupt
	}
	return c.buf, nil
}

func (r *Record) readUpdates(c *cursor) {
	for n := c.uvarint(); n > 0 && !c.bad; n-- {
		r.updates = append(r.updates, Update{})
		c.update(&r.updates[len(r.updates)-1])
	}
}

func (r *Record) soundFields() bool {
	c := cursor{buf: r.fields}
	for range r.nFields {
		if c.bad {
			return false
		}
		c.uvarint()
		c.byte()
		c.block()
	}
	return !c.bad && len(c.buf) == 0
}

// Next takes the next update off the record, in the order of matches and, within
// one match, of correlations. It returns nil after the last. The update is valid
// until the record is decoded anew.
func (r *Record) Next() *Update {
	if r.next == len(r.updates) {
		return nil
	}
	r.next++
	return &r.updates[r.next-1]
}

// Len returns the number of updates not yet taken.
func (r *Record) Len() int { return len(r.updates) - r.next }

// Field returns the field with this number, if it was present and scalar.
func (r *Record) Field(number int) (Field, bool) {
	c := cursor{buf: r.fields}
	for range r.nFields {
		n, kind, text := int(c.uvarint()), c.byte(), c.block()
		if n == number {
			return Field{Null: kind == fieldNull, Number: kind == fieldNumeric, Text: text}, true
		}
	}
	return Field{}, false
}

// The kinds of kept fields.
const (
	fieldNull = iota
	fieldNumeric
	fieldOther
)

// The encodings of a contribution.
const (
	tagNothing = iota
	tagText
	tagNumber
)

func (c *cursor) update(u *Update) {
	if !c.shortUpdate(u) {
		u.Rule, u.Feed, u.Hash, u.Key = int(c.uvarint()), int(c.uvarint()), c.uint64(), c.block()
	}
	switch c.byte() {
	case tagNothing:
	case tagText:
		u.Text = c.block()
	case tagNumber:
		u.Number = math.Float64frombits(c.uint64())
	default:
		c.bad = true
	}
}

// shortUpdate reads what comes before the contribution when all numbers of it
// take one byte, which is the fast path.
func (c *cursor) shortUpdate(u *Update) bool {
	const key = 1 + 1 + 8 + 1
	b := c.buf
	if len(b) < key || (b[0]|b[1]|b[key-1]) >= 0x80 || len(b) < key+int(b[key-1]) {
		return false
	}
	end := key + int(b[key-1])
	u.Rule, u.Feed, u.Hash, u.Key = int(b[0]), int(b[1]), binary.LittleEndian.Uint64(b[2:]), b[key:end:end]
	c.buf = b[end:]
	return true
}

// cursor takes values off the front of buf; after a fault it gives zeros.
type cursor struct {
	buf []byte
	bad bool
}

func (c *cursor) fail() { c.bad, c.buf = true, nil }

func (c *cursor) uvarint() uint64 {
	if len(c.buf) > 0 && c.buf[0] < 0x80 { // nearly always
		v := uint64(c.buf[0])
		c.buf = c.buf[1:]
		return v
	}
	v, n := binary.Uvarint(c.buf)
	if n <= 0 {
		c.fail()
		return 0
	}
	c.buf = c.buf[n:]
	return v
}

func (c *cursor) byte() byte {
	if len(c.buf) == 0 {
		c.fail()
		return 0
	}
	b := c.buf[0]
	c.buf = c.buf[1:]
	return b
}

func (c *cursor) uint64() uint64 {
	if len(c.buf) < 8 {
		c.fail()
		return 0
	}
	v := binary.LittleEndian.Uint64(c.buf)
	c.buf = c.buf[8:]
	return v
}

func (c *cursor) block() []byte {
	n := c.uvarint()
	if n > uint64(len(c.buf)) {
		c.fail()
		return nil
	}
	b := c.buf[:n:n]
	c.buf = c.buf[n:]
	return b
}
