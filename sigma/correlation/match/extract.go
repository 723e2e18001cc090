package match

import (
	"compress/flate"
	"encoding/binary"
	"math"
	"slices"

	"github.com/sluicehq/sluice/sigma/correlation/window"
	"github.com/sluicehq/sluice/sigma/event"
)

// Source is the event a record is made of. Fields are numbers in Spec.Fields; what
// is returned is valid until the source is opened for another event.
type Source interface {
	// Value returns the field's value as detection would find it. A field with
	// several values counts as an array.
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

	written []uint64 // by key: the last record that has it
	record  uint64   // number of the record in hand
	seen    []int    // fields kept in it
	json    []byte
	blob    []byte
	deflate *flate.Writer
	number  []byte
}

// NewExtractor returns an extractor for spec.
func NewExtractor(spec *Spec) *Extractor {
	return &Extractor{spec: spec, written: make([]uint64, len(spec.Keys))}
}

// Append appends the record of an event that met the rules with the given load
// indexes, in ascending order. It appends nothing when no correlation can use
// any of them.
func (x *Extractor) Append(dst []byte, rules []int, time int64, src Source) []byte {
	matches, wantID, wantCopy := 0, false, false
	for _, rule := range rules {
		if x.spec.Wants(rule) {
			matches++
			r := &x.spec.Rules[rule]
			wantID, wantCopy = wantID || r.WantID, wantCopy || r.Copy
		}
	}
	if matches == 0 {
		return dst
	}
	x.record++
	start := len(dst)
	dst = append(dst, make([]byte, headSize)...)
	binary.LittleEndian.PutUint64(dst[start+timeAt:], uint64(max(time, 0)))
	dst = binary.AppendUvarint(dst, uint64(matches))
	for _, rule := range rules {
		if x.spec.Wants(rule) {
			feeds := x.spec.Rules[rule].Feeds
			dst = binary.AppendUvarint(dst, uint64(rule))
			dst = binary.AppendUvarint(dst, uint64(len(feeds)))
			for i := range feeds {
				dst = x.update(dst, &feeds[i], src)
			}
		}
	}
	flags := byte(0)
	if id, ok := x.id(wantID, src); ok {
		flags |= hasID
		dst = appendBlock(dst, id)
	}
	if wantCopy {
		flags |= hasCopy
		dst = appendBlock(dst, x.compress(src))
	}
	x.seen = x.seen[:0]
	for _, rule := range rules {
		if x.spec.Wants(rule) {
			for _, f := range x.spec.Rules[rule].Chain {
				dst = x.keep(dst, f, src)
			}
		}
	}
	dst[start+flagsAt] = flags
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-sizeBytes))
	return dst
}

func appendBlock(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// update appends what one feed gets: its contribution, then its key unless the
// record has it already. Without a contribution there is no key.
func (x *Extractor) update(dst []byte, f *Feed, src Source) []byte {
	switch f.Kind {
	case Text:
		text, ok := counted(f.Values[0], src)
		if !ok {
			return append(dst, absent)
		}
		dst = AppendPart(dst, text)
		dst = binary.LittleEndian.AppendUint32(dst, window.Hash(text))
	case Tuple:
		mark := len(dst)
		var ok bool
		if dst, ok = appendTuple(dst, f.Values, src); !ok {
			return append(dst[:mark], absent)
		}
	case Number:
		v, ok := x.numeric(f.Values[0], src)
		if !ok {
			return append(dst, absent)
		}
		dst = binary.LittleEndian.AppendUint64(append(dst, present), math.Float64bits(v))
	}
	if x.written[f.Key] == x.record {
		return dst
	}
	x.written[f.Key] = x.record
	return appendKey(dst, x.spec.Keys[f.Key], src)
}

// appendKey appends a group key with its hash and its length in front.
func appendKey(dst []byte, fields []int, src Source) []byte {
	const size = 8 // of the hash
	mark := len(dst)
	dst = append(dst, make([]byte, size+1)...)
	for _, f := range fields {
		if text, of, ok := src.Text(f); ok && scalar(of) {
			dst = AppendPart(dst, text)
		} else {
			dst = AppendMissing(dst)
		}
	}
	key := dst[mark+size+1:]
	binary.LittleEndian.PutUint64(dst[mark:], Hash(key))
	if len(key) < 0x80 {
		dst[mark+size] = byte(len(key))
		return dst
	}
	key = slices.Clone(key) // its length takes more than the byte left for it
	return appendBlock(dst[:mark+size], key)
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

// appendTuple appends a tuple as one text.
func appendTuple(dst []byte, fields []int, src Source) ([]byte, bool) {
	tuple := make([]byte, 0, 64)
	for _, f := range fields {
		text, ok := counted(f, src)
		if !ok {
			return dst, false
		}
		tuple = AppendPart(tuple, text)
	}
	return binary.LittleEndian.AppendUint32(AppendPart(dst, tuple), window.Hash(tuple)), true
}

func (x *Extractor) numeric(field int, src Source) (float64, bool) {
	v, ok := src.Value(field)
	if !ok {
		return 0, false
	}
	var n event.Numeric
	n, ok, x.number = v.Numeric(x.number)
	return n.Float, ok && finite(n.Float)
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// ParseNumber reads a text that is entirely a decimal number.
func ParseNumber(text []byte) (float64, bool) {
	n, ok := event.ParseNumeric(text)
	return n.Float, ok && finite(n.Float)
}

// keep appends a field for correlations of correlations, once.
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
	return appendBlock(append(binary.AppendUvarint(dst, uint64(field)), kind), text)
}

// id returns the event's reference: the first present of the id fields, when it
// is a text or a number.
func (x *Extractor) id(want bool, src Source) ([]byte, bool) {
	if !want {
		return nil, false
	}
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
