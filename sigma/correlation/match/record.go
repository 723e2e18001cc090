package match

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/sluicehq/sluice/sigma/correlation/window"
)

// ErrCorrupt says that bytes are not a record.
var ErrCorrupt = errors.New("match record is not readable")

// A record begins with a head of its size, its flags, its time, the number of
// updates and where the rest begins. The updates follow, then texts and keys in any
// order. The rest is the reference, the copy and the kept fields.
const (
	sizeAt   = 0
	flagsAt  = 4
	timeAt   = 8
	countAt  = 16
	restAt   = 20
	headSize = 24
)

// An update is a feed, the place of its key and what is contributed: a number, or
// the place, the hash and the length of a text. Places count from the begin of the
// record. A key has its hash and its length in front.
const (
	feedAt     = 0
	keyAt      = 4
	valueAt    = 8
	markAt     = 16
	lengthAt   = 20
	updateSize = 24
	keyHead    = 8 + 4
)

const (
	hasID = 1 << iota
	hasCopy
	knownFlags = hasID | hasCopy
)

// Record is what one event means to the correlations. Its slices point into the
// bytes it was decoded from.
type Record struct {
	Time  int64 // of the event, else its arrival
	HasID bool
	ID    []byte // reference of the event
	Copy  []byte // the deflated event, nil when nobody stores it

	fields  []byte
	updates []Update
}

// Update is one match seen by one correlation.
type Update struct {
	Feed *Feed
	Key  []byte
	Hash uint64 // of Key
	window.Contribution
}

// Field is a field kept for correlations of correlations.
type Field struct {
	Null   bool // JSON null
	Number bool // a number, or a text that may spell one
	Text   []byte
}

// Decode reads one record that an Extractor for s wrote and returns what follows
// it. Everything is read, so that nothing can fail later.
func (r *Record) Decode(s *Spec, buf []byte) ([]byte, error) {
	if len(buf) < headSize {
		return nil, ErrCorrupt
	}
	size, flags := binary.LittleEndian.Uint32(buf[sizeAt:]), binary.LittleEndian.Uint32(buf[flagsAt:])
	count, rest := uint64(binary.LittleEndian.Uint32(buf[countAt:])), binary.LittleEndian.Uint32(buf[restAt:])
	if uint64(size) > uint64(len(buf)) || rest > size || headSize+count*updateSize > uint64(rest) || flags&^knownFlags != 0 {
		return nil, ErrCorrupt
	}
	r.Time = int64(binary.LittleEndian.Uint64(buf[timeAt:]))
	if r.Time < 0 || !r.readUpdates(s, buf[:rest], int(count)) {
		return nil, ErrCorrupt
	}
	r.HasID, r.ID, r.Copy = false, nil, nil
	c := cursor{buf: buf[rest:size]}
	if flags&hasID != 0 {
		r.HasID, r.ID = true, c.block()
	}
	if flags&hasCopy != 0 {
		r.Copy = c.block()
	}
	r.fields = c.buf
	if c.bad || len(c.buf) > 0 && !soundFields(c) {
		return nil, ErrCorrupt
	}
	return buf[size:], nil
}

// readUpdates reads the updates of a record, given up to its rest, and reports
// whether they are in order.
func (r *Record) readUpdates(s *Spec, buf []byte, count int) bool {
	if count > cap(r.updates) {
		r.updates = make([]Update, count)
	}
	r.updates = r.updates[:count]
	raw := buf[headSize:]
	for i := range r.updates {
		u := &r.updates[i]
		field := (*[updateSize]byte)(raw)
		raw = raw[updateSize:]
		feed := binary.LittleEndian.Uint32(field[feedAt:])
		key := uint64(binary.LittleEndian.Uint32(field[keyAt:]))
		if uint64(feed) >= uint64(len(s.Feeds)) || key+keyHead > uint64(len(buf)) {
			return false
		}
		u.Feed = &s.Feeds[feed]
		u.Hash = binary.LittleEndian.Uint64(buf[key:])
		end := key + keyHead + uint64(binary.LittleEndian.Uint32(buf[key+8:]))
		if end > uint64(len(buf)) {
			return false
		}
		u.Key = buf[key+keyHead : end : end]
		value := binary.LittleEndian.Uint64(field[valueAt:])
		switch u.Feed.Kind {
		case Nothing:
			u.Members = u.Feed.Members
		case Number:
			u.Number = math.Float64frombits(value)
		default:
			length := uint64(binary.LittleEndian.Uint32(field[lengthAt:]))
			if value > uint64(len(buf)) || length > uint64(len(buf))-value {
				return false
			}
			u.Text = buf[value : value+length : value+length]
			u.Mark = binary.LittleEndian.Uint32(field[markAt:])
		}
	}
	return true
}

func soundFields(c cursor) bool {
	for len(c.buf) > 0 {
		c.uvarint()
		c.byte()
		c.block()
	}
	return !c.bad
}

// Updates returns the updates in the order of matches and, within one match, of
// correlations. They are valid until the record is decoded anew.
func (r *Record) Updates() []Update { return r.updates }

// Field returns the field with this number, if it was present and scalar.
func (r *Record) Field(number int) (Field, bool) {
	c := cursor{buf: r.fields}
	for len(c.buf) > 0 {
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
	return c.longUvarint()
}

func (c *cursor) longUvarint() uint64 {
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

func (c *cursor) block() []byte { return c.take(c.uvarint()) }

func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.buf)) {
		c.fail()
		return nil
	}
	b := c.buf[:n:n]
	c.buf = c.buf[n:]
	return b
}
