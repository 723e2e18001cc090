package match

import (
	"encoding/binary"
	"errors"
	"math"
)

// ErrCorrupt says that bytes are not a record.
var ErrCorrupt = errors.New("match record is not readable")

// A record begins with its size behind these four bytes, its flags and its time.
// Then come the matches: the rule, the number of its feeds, and for each of them the
// contribution and the key; the reference, the copy and the kept fields follow.
const (
	sizeBytes = 4
	flagsAt   = sizeBytes
	timeAt    = flagsAt + 1
	headSize  = timeAt + 8
)

const (
	hasID = 1 << iota
	hasCopy
	knownFlags = hasID | hasCopy
)

// What stands before a number. A text has one more than its length in front, so
// zero says absent as well.
const (
	absent = iota
	present
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
	keys    []recordKey // by number in the spec
	round   uint64      // records decoded so far
}

// recordKey is a group key of the record that has the given number.
type recordKey struct {
	hash  uint64
	bytes []byte
	round uint64
}

// Update is one match seen by one correlation.
type Update struct {
	Feed   *Feed
	Key    []byte
	Hash   uint64 // of Key
	Text   []byte // Text and Tuple
	Mark   uint32 // of Text: window.Hash
	Number float64
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
	if len(buf) < headSize || uint64(binary.LittleEndian.Uint32(buf)) > uint64(len(buf)-sizeBytes) {
		return nil, ErrCorrupt
	}
	end := sizeBytes + int(binary.LittleEndian.Uint32(buf))
	if end < headSize {
		return nil, ErrCorrupt
	}
	flags := buf[flagsAt]
	r.Time = int64(binary.LittleEndian.Uint64(buf[timeAt:]))
	r.HasID, r.ID, r.Copy = false, nil, nil
	c := cursor{buf: buf[headSize:end]}
	r.readMatches(s, &c)
	if flags&hasID != 0 {
		r.HasID, r.ID = true, c.block()
	}
	if flags&hasCopy != 0 {
		r.Copy = c.block()
	}
	r.fields = c.buf
	if c.bad || flags&^knownFlags != 0 || r.Time < 0 || !soundFields(c) {
		return nil, ErrCorrupt
	}
	return buf[end:], nil
}

func (r *Record) readMatches(s *Spec, c *cursor) {
	if len(r.keys) != len(s.Keys) {
		r.keys = make([]recordKey, len(s.Keys))
	}
	r.round++
	r.updates = r.updates[:0]
	for n := c.uvarint(); n > 0 && !c.bad; n-- {
		rule, size := c.uvarint(), c.uvarint()
		if rule >= uint64(len(s.Rules)) || size != uint64(len(s.Rules[rule].Feeds)) {
			c.fail()
			return
		}
		feeds := s.Rules[rule].Feeds
		for i := range feeds {
			r.readUpdate(&feeds[i], c)
		}
	}
}

func (r *Record) readUpdate(f *Feed, c *cursor) {
	if len(r.updates) == cap(r.updates) {
		r.updates = append(r.updates, Update{})[:len(r.updates)]
	}
	u := &r.updates[:len(r.updates)+1][len(r.updates)]
	switch f.Kind {
	case Nothing:
	case Number:
		if c.byte() == absent {
			return
		}
		u.Number = math.Float64frombits(c.uint64())
	default:
		size := c.uvarint()
		if size == absent {
			return
		}
		u.Text = c.take(size - 1)
		u.Mark = c.uint32()
	}
	k := &r.keys[f.Key]
	if k.round != r.round {
		k.round, k.hash, k.bytes = r.round, c.uint64(), c.block()
	}
	u.Feed, u.Key, u.Hash = f, k.bytes, k.hash
	r.updates = r.updates[:len(r.updates)+1]
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

func (c *cursor) uint32() uint32 {
	if len(c.buf) < 4 {
		c.fail()
		return 0
	}
	v := binary.LittleEndian.Uint32(c.buf)
	c.buf = c.buf[4:]
	return v
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
