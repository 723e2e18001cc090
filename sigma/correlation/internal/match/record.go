package match

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/sluicehq/sluice/sigma/correlation/internal/window"
)

// ErrForeign says that bytes are not a record for the program in use.
var ErrForeign = errors.New("match record is not of these correlations")

// A record begins with a head of its size, the mark of its spec, its time, its
// flags, the number of updates and where the rest begins. The updates follow, then
// texts and keys in any order. The rest is the reference, the copy and the kept
// fields.
const (
	sizeAt   = 0
	specAt   = 4
	timeAt   = 8
	flagsAt  = 16
	countAt  = 20
	restAt   = 24
	headSize = 28
)

// An update is a feed, the offset of its key and what is contributed: a number, or
// the offset, the hash and the length of a text. Offsets count from the begin of the
// record. A key follows its hash and its length.
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
	hasLong
)

// Record is an event as the correlations need it. Its slices point into the bytes
// that it was opened on.
type Record struct {
	Time  int64 // of the event, else its arrival
	HasID bool
	ID    []byte // reference of the event
	Copy  []byte // the deflated event, nil when nobody stores it
	Long  bool   // keys, texts and fields are to be sealed

	feeds  []Feed
	raw    []byte // up to the rest
	count  int
	fields []byte
}

// Field is a field kept for correlations of correlations.
type Field struct {
	Null   bool    // JSON null
	Number bool    // a number, or a text that may spell one
	Text   []byte  // nil for a long one
	Long   []byte  // a part to be sealed
	Value  float64 // of a long one that is a number
}

// Numeric returns the number that the field is or spells.
func (f *Field) Numeric() (float64, bool) {
	if f.Long != nil || !f.Number {
		return f.Value, f.Number
	}
	return ParseNumber(f.Text)
}

// Open reads the record at the begin of buf and returns what follows it. An
// Extractor for s must have written it in this process. A record for another spec is
// ErrForeign; other bytes may panic.
func (r *Record) Open(s *Spec, buf []byte) ([]byte, error) {
	if len(buf) < headSize || binary.LittleEndian.Uint32(buf[specAt:]) != s.Mark {
		return nil, ErrForeign
	}
	head := (*[headSize]byte)(buf)
	size, rest := binary.LittleEndian.Uint32(head[sizeAt:]), binary.LittleEndian.Uint32(head[restAt:])
	r.Time = int64(binary.LittleEndian.Uint64(head[timeAt:]))
	r.feeds, r.raw, r.count = s.Feeds, buf[:rest], int(binary.LittleEndian.Uint32(head[countAt:]))
	flags := binary.LittleEndian.Uint32(head[flagsAt:])
	r.HasID, r.ID, r.Copy, r.fields, r.Long = false, nil, nil, nil, flags&hasLong != 0
	if rest < size {
		c := cursor(buf[rest:size])
		if flags&hasID != 0 {
			r.HasID, r.ID = true, c.block()
		}
		if flags&hasCopy != 0 {
			r.Copy = c.block()
		}
		r.fields = c
	}
	return buf[size:], nil
}

// Len returns the number of updates, each a match seen by one correlation. They
// are in the order of matches and, within one match, of correlations.
func (r *Record) Len() int { return r.count }

// Update returns the feed of update i and the group's key with its hash. It sets the
// fields of v that the kind of the feed needs.
func (r *Record) Update(i int, v *window.Contribution) (feed *Feed, hash uint64, key []byte) {
	all := r.raw
	raw := (*[updateSize]byte)(all[headSize+i*updateSize:])
	feed = &r.feeds[binary.LittleEndian.Uint32(raw[feedAt:])]
	switch feed.Kind {
	case Nothing:
		if feed.Members != nil {
			v.Members = feed.Members
		}
	case Number:
		v.Number = math.Float64frombits(binary.LittleEndian.Uint64(raw[valueAt:]))
	default:
		value := all[binary.LittleEndian.Uint32(raw[valueAt:]):]
		v.Text = value[:binary.LittleEndian.Uint32(raw[lengthAt:])]
		v.Mark = binary.LittleEndian.Uint32(raw[markAt:])
	}
	key = all[binary.LittleEndian.Uint32(raw[keyAt:]):]
	head := (*[keyHead]byte)(key)
	return feed, binary.LittleEndian.Uint64(head[:]), key[keyHead:][:binary.LittleEndian.Uint32(head[8:])]
}

// Field returns the field with this number, if it was present and scalar.
func (r *Record) Field(number int) (Field, bool) {
	for c := cursor(r.fields); len(c) > 0; {
		n, kind, text := int(c.uvarint()), c.byte(), c.block()
		switch {
		case n != number:
		case kind == fieldLong:
			v := math.Float64frombits(binary.LittleEndian.Uint64(text))
			return Field{Number: !math.IsNaN(v), Value: v, Long: text[8:]}, true
		default:
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
	fieldLong
)

// cursor takes values off its front.
type cursor []byte

func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(*c)
	*c = (*c)[n:]
	return v
}

func (c *cursor) byte() byte {
	b := (*c)[0]
	*c = (*c)[1:]
	return b
}

func (c *cursor) block() []byte {
	n := c.uvarint()
	b := (*c)[:n:n]
	*c = (*c)[n:]
	return b
}
