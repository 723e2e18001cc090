package match

import (
	"compress/flate"
	"encoding/binary"
	"math"
	"slices"

	"github.com/sluicehq/sluice/sigma/correlation/internal/window"
	"github.com/sluicehq/sluice/sigma/event"
)

// Source is the event a record is made of. Fields are numbers in Spec.Fields; what
// is returned is valid until the source is opened for another event.
type Source interface {
	// Value returns the field's value as detection finds it. A field with several
	// values counts as an array.
	Value(field int) (event.Value, bool)
	// Text returns the type of that value and its text form (event.Value.AppendText),
	// nil where it has none.
	Text(field int) (text []byte, of event.Type, ok bool)
	// AppendJSON appends the event's JSON form.
	AppendJSON(dst []byte) []byte
}

// Extractor writes records. It belongs to one goroutine.
type Extractor struct {
	spec *Spec

	keys    []written // by number in the spec
	record  uint64    // number of the current record
	seen    []int     // fields kept in it
	digests []digest  // of its long texts
	json    []byte
	blob    []byte
	deflate *flate.Writer
	scratch []byte
}

// written is a group key that the record of the given number has.
type written struct {
	record uint64
	at     uint32
}

// NewExtractor returns an extractor for spec.
func NewExtractor(spec *Spec) *Extractor {
	return &Extractor{spec: spec, keys: make([]written, len(spec.Keys))}
}

// Append appends the record of an event that met the rules with the given load
// indexes, in ascending order. It appends nothing when no correlation can use
// any of them.
func (x *Extractor) Append(dst []byte, rules []int, time int64, src Source) []byte {
	feeds, wantID, wantCopy, chained := 0, false, false, false
	for _, rule := range rules {
		if x.spec.Wants(rule) {
			r := &x.spec.Rules[rule]
			feeds += r.To - r.From
			wantID, wantCopy, chained = wantID || r.WantID, wantCopy || r.Copy, chained || len(r.Chain) > 0
		}
	}
	if feeds == 0 {
		return dst
	}
	x.record++
	x.digests = x.digests[:0]
	start, at := len(dst), len(dst)+headSize
	dst = extend(dst, headSize+feeds*updateSize)
	for _, rule := range rules {
		if x.spec.Wants(rule) {
			dst, at = x.match(dst, start, at, &x.spec.Rules[rule], src)
		}
	}
	clear(dst[at : start+headSize+feeds*updateSize])
	count, rest, flags := (at-start-headSize)/updateSize, len(dst)-start, uint32(0)
	if wantID {
		if id, ok := x.id(src); ok {
			flags |= hasID
			dst = appendBlock(dst, id)
		}
	}
	if wantCopy {
		flags |= hasCopy
		dst = appendBlock(dst, x.compress(src))
	}
	if chained {
		dst = x.chain(dst, rules, src)
	}
	if len(x.digests) > 0 {
		flags |= hasLong
	}
	head := (*[headSize]byte)(dst[start:])
	binary.LittleEndian.PutUint32(head[sizeAt:], uint32(len(dst)-start))
	binary.LittleEndian.PutUint32(head[specAt:], x.spec.Mark)
	binary.LittleEndian.PutUint64(head[timeAt:], uint64(max(time, 0)))
	binary.LittleEndian.PutUint32(head[flagsAt:], flags)
	binary.LittleEndian.PutUint32(head[countAt:], uint32(count))
	binary.LittleEndian.PutUint32(head[restAt:], uint32(rest))
	return dst
}

// match writes the updates of one match at offset at, for the record that begins at
// start, and returns the offset of the next one.
func (x *Extractor) match(dst []byte, start, at int, r *Rule, src Source) (out []byte, next int) {
	feeds := x.spec.Feeds[r.From:r.To]
	for i := range feeds {
		f := &feeds[i]
		if f.Kind != Nothing {
			var counts bool
			if dst, counts = x.contribute(dst, start, at, f, src); !counts {
				continue
			}
		}
		k := &x.keys[f.Key]
		if k.record != x.record {
			k.record, k.at = x.record, uint32(len(dst)-start)
			dst = x.appendKey(dst, x.spec.Keys[f.Key], src)
		}
		update := (*[updateSize]byte)(dst[at:])
		if f.Kind == Nothing {
			clear(update[valueAt:])
		}
		binary.LittleEndian.PutUint32(update[feedAt:], uint32(r.From+i))
		binary.LittleEndian.PutUint32(update[keyAt:], k.at)
		at += updateSize
	}
	return dst, at
}

// chain appends the fields that dependent correlations may need.
func (x *Extractor) chain(dst []byte, rules []int, src Source) []byte {
	x.seen = x.seen[:0]
	for _, rule := range rules {
		if x.spec.Wants(rule) {
			for _, f := range x.spec.Rules[rule].Chain {
				dst = x.keep(dst, f, src)
			}
		}
	}
	return dst
}

// extend makes dst longer by n bytes, which the caller writes.
func extend(dst []byte, n int) []byte {
	if cap(dst)-len(dst) < n {
		dst = slices.Grow(dst, n)
	}
	return dst[:len(dst)+n]
}

func appendBlock(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// contribute writes what a feed contributes at offset at. It writes nothing and
// returns false when the event contributes nothing.
func (x *Extractor) contribute(dst []byte, start, at int, f *Feed, src Source) (out []byte, counts bool) {
	switch f.Kind {
	case Number:
		v, ok := x.numeric(f.Values[0], src)
		if !ok {
			return dst, false
		}
		update := (*[updateSize]byte)(dst[at:])
		binary.LittleEndian.PutUint64(update[valueAt:], math.Float64bits(v))
		clear(update[markAt:])
	case Text:
		text, ok := counted(f.Values[0], src)
		if !ok {
			return dst, false
		}
		if marked(text) {
			text = x.appendPart(append(x.scratch[:0], longMark), f.Values[0], text)
			x.scratch = text
		}
		dst = appendText(dst, text, start, at)
	case Tuple:
		if !x.tuple(f.Values, src) {
			return dst, false
		}
		dst = appendText(dst, x.scratch, start, at)
	}
	return dst, true
}

// appendText appends a text and writes its offset at offset at.
func appendText(dst, text []byte, start, at int) []byte {
	update := (*[updateSize]byte)(dst[at:])
	binary.LittleEndian.PutUint64(update[valueAt:], uint64(len(dst)-start))
	binary.LittleEndian.PutUint32(update[lengthAt:], uint32(len(text)))
	binary.LittleEndian.PutUint32(update[markAt:], window.Hash(text))
	return append(dst, text...)
}

// appendKey appends a group key behind its hash and its length.
func (x *Extractor) appendKey(dst []byte, fields []int, src Source) []byte {
	mark := len(dst)
	dst = extend(dst, keyHead)
	for _, f := range fields {
		switch text, of, ok := src.Text(f); {
		case !ok || !scalar(of):
			dst = AppendMissing(dst)
		case len(text) > maxText:
			dst = x.appendLong(dst, f, text)
		default:
			dst = AppendPart(dst, text)
		}
	}
	key := dst[mark+keyHead:]
	binary.LittleEndian.PutUint64(dst[mark:], Hash(key))
	binary.LittleEndian.PutUint32(dst[mark+8:], uint32(len(key)))
	return dst
}

func scalar(t event.Type) bool { return t != event.Null && t != event.Array && t != event.Object }

var null = []byte("null")

// counted returns the text that value_count counts: null counts, lists, objects
// and absent fields do not.
func counted(field int, src Source) ([]byte, bool) {
	text, of, ok := src.Text(field)
	if of == event.Null {
		text = null
	}
	return text, ok && of != event.Array && of != event.Object
}

// tuple makes x.scratch the tuple of fields, as one text, when it has all parts.
func (x *Extractor) tuple(fields []int, src Source) bool {
	x.scratch = x.scratch[:0]
	for _, f := range fields {
		text, ok := counted(f, src)
		if !ok {
			return false
		}
		x.scratch = x.appendPart(x.scratch, f, text)
	}
	return true
}

func (x *Extractor) numeric(field int, src Source) (float64, bool) {
	v, ok := src.Value(field)
	if !ok {
		return 0, false
	}
	if n, small := smallInteger(v.Raw); small && v.Type == event.Number {
		return n, true
	}
	var n event.Numeric
	n, ok, x.scratch = v.Numeric(x.scratch)
	return n.Float, ok && finite(n.Float)
}

// smallInteger reads up to 15 digits, which most numbers are.
func smallInteger(raw []byte) (float64, bool) {
	if len(raw) > 15 {
		return 0, false
	}
	n := int64(0)
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return float64(n), len(raw) > 0
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// ParseNumber reads a text that is entirely a decimal number.
func ParseNumber(text []byte) (float64, bool) {
	n, ok := event.ParseNumeric(text)
	return n.Float, ok && finite(n.Float)
}

// keep appends a field for dependent correlations, once.
func (x *Extractor) keep(dst []byte, field int, src Source) []byte {
	if slices.Contains(x.seen, field) {
		return dst
	}
	x.seen = append(x.seen, field)
	text, of, ok := src.Text(field)
	if !ok || of == event.Array || of == event.Object {
		return dst
	}
	kind := byte(fieldOther)
	switch of {
	case event.Null:
		kind = fieldNull
	case event.Number, event.String, event.Text:
		kind = fieldNumeric
	}
	if len(text) > maxText {
		x.scratch = x.long(x.scratch[:0], field, text, kind == fieldNumeric)
		kind, text = fieldLong, x.scratch
	}
	return appendBlock(append(binary.AppendUvarint(dst, uint64(field)), kind), text)
}

// long appends what is kept of a long field: the number that it spells, if any, and a
// part.
func (x *Extractor) long(dst []byte, field int, text []byte, numeric bool) []byte {
	number := math.NaN()
	if n, ok := ParseNumber(text); ok && numeric {
		number = n
	}
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(number))
	return x.appendPart(dst, field, text)
}

// id returns the event's reference: the first present of the id fields, when it
// is a text or a number.
func (x *Extractor) id(src Source) ([]byte, bool) {
	for _, f := range x.spec.IDs {
		text, of, ok := src.Text(f)
		if !ok {
			continue
		}
		return text, of == event.String || of == event.Text || of == event.Number
	}
	return nil, false
}

// compress returns the event's JSON form, deflated.
func (x *Extractor) compress(src Source) []byte {
	x.json = src.AppendJSON(x.json[:0])
	out := sink{x.blob[:0]}
	if x.deflate == nil {
		x.deflate, _ = flate.NewWriter(&out, flate.BestSpeed) // fails only for an unknown level
	} else {
		x.deflate.Reset(&out)
	}
	_, _ = x.deflate.Write(x.json) // a sink never fails
	_ = x.deflate.Close()
	x.blob = out.buf
	return x.blob
}

type sink struct{ buf []byte }

func (s *sink) Write(p []byte) (int, error) {
	s.buf = append(s.buf, p...)
	return len(p), nil
}
