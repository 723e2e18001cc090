package match

import (
	"compress/flate"
	"encoding/binary"
	"math"
	"slices"

	"github.com/sluicehq/sluice/sigma/event"
)

// Source is the event a record is made of. Fields are numbers in Spec.Fields.
type Source interface {
	// Value returns the field's value as detection would find it. A field with
	// several values counts as an array.
	Value(field int) (event.Value, bool)
	// AppendJSON appends the event's JSON form.
	AppendJSON(dst []byte) []byte
}

// Extractor writes records. It belongs to one goroutine.
type Extractor struct {
	spec *Spec

	body, fields, updates []byte
	nFields, nUpdates     int
	seen                  []int
	text                  []byte
	json, blob            []byte
	deflate               *flate.Writer

	likes [][]int // by rule and feed: the first feed of the rule with the same key
	keys  []key   // by feed of the rule at hand
	parts []byte  // of the keys
}

// key is an encoded group key, somewhere in the extractor's parts.
type key struct {
	hash     uint64
	from, to int
}

// NewExtractor returns an extractor for spec.
func NewExtractor(spec *Spec) *Extractor {
	x := &Extractor{spec: spec, likes: make([][]int, len(spec.Rules))}
	for i := range spec.Rules {
		feeds := spec.Rules[i].Feeds
		for _, f := range feeds {
			x.likes[i] = append(x.likes[i], slices.IndexFunc(feeds, func(g Feed) bool { return slices.Equal(f.Key, g.Key) }))
		}
	}
	return x
}

// Append appends the record of an event that met the rules with the given load
// indexes, in ascending order. It appends nothing when no correlation can use
// any of them.
func (x *Extractor) Append(dst []byte, rules []int, time int64, sequence uint64, src Source) []byte {
	if !slices.ContainsFunc(rules, x.spec.Wants) {
		return dst
	}
	x.fields, x.updates, x.seen = x.fields[:0], x.updates[:0], x.seen[:0]
	x.nFields, x.nUpdates = 0, 0
	wantID, wantCopy := false, false
	for _, rule := range rules {
		if !x.spec.Wants(rule) {
			continue
		}
		r := &x.spec.Rules[rule]
		wantID, wantCopy = wantID || r.WantID, wantCopy || r.Copy
		x.keys, x.parts = x.keys[:0], x.parts[:0]
		for i := range r.Feeds {
			x.update(rule, i, &r.Feeds[i], src)
		}
		for _, f := range r.Chain {
			x.keep(f, src)
		}
	}
	body := append(x.body[:0], 0)
	body = binary.AppendUvarint(body, uint64(max(time, 0)))
	body = binary.AppendUvarint(body, sequence)
	if id, ok := x.id(wantID, src); ok {
		body[0] |= hasID
		body = appendBlock(body, id)
	}
	if wantCopy {
		body[0] |= hasCopy
		body = appendBlock(body, x.compress(src))
	}
	if x.nFields > 0 {
		body[0] |= hasFields
		body = binary.AppendUvarint(body, uint64(x.nFields))
		body = appendBlock(body, x.fields)
	}
	body = binary.AppendUvarint(body, uint64(x.nUpdates))
	x.body = append(body, x.updates...)
	return appendBlock(dst, x.body)
}

func appendBlock(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// update encodes one feed; what contributes nothing leaves no trace.
func (x *Extractor) update(rule, i int, f *Feed, src Source) {
	mark := len(x.updates)
	dst := binary.AppendUvarint(x.updates, uint64(rule))
	dst = binary.AppendUvarint(dst, uint64(i))
	k := x.key(x.likes[rule][i], f, src)
	dst = binary.LittleEndian.AppendUint64(dst, k.hash)
	dst = appendBlock(dst, x.parts[k.from:k.to])
	ok := true
	switch f.Kind {
	case Nothing:
		dst = append(dst, tagNothing)
	case Text:
		x.text, ok = appendCounted(x.text[:0], f.Values[0], src)
		dst = appendBlock(append(dst, tagText), x.text)
	case Tuple:
		x.text, ok = x.tuple(f.Values, src)
		dst = appendBlock(append(dst, tagText), x.text)
	case Number:
		var v float64
		v, ok = x.number(f.Values[0], src)
		dst = binary.LittleEndian.AppendUint64(append(dst, tagNumber), math.Float64bits(v))
	}
	if !ok {
		x.updates = dst[:mark]
		return
	}
	x.updates = dst
	x.nUpdates++
}

// key returns the key of the next feed, which is that of feed like.
func (x *Extractor) key(like int, f *Feed, src Source) key {
	if like < len(x.keys) {
		x.keys = append(x.keys, x.keys[like])
		return x.keys[like]
	}
	k := key{from: len(x.parts)}
	for _, part := range f.Key {
		x.parts = appendKeyPart(x.parts, part, src)
	}
	k.to = len(x.parts)
	k.hash = Hash(x.parts[k.from:])
	x.keys = append(x.keys, k)
	return k
}

// appendKeyPart appends the part a field gives: its text, or missing for what is
// absent, null or no scalar.
func appendKeyPart(dst []byte, field int, src Source) []byte {
	v, ok := src.Value(field)
	if !ok || !scalar(v) {
		return AppendMissing(dst)
	}
	mark := len(dst)
	dst, _ = v.AppendText(append(dst, 0))
	size := len(dst) - mark - 1
	if size < 0x7f { // one byte tells the length
		dst[mark] = byte(size + 1)
		return dst
	}
	text := slices.Clone(dst[mark+1:])
	return AppendPart(dst[:mark], text)
}

func scalar(v event.Value) bool {
	return v.Type != event.Null && v.Type != event.Array && v.Type != event.Object
}

// appendCounted appends the text that value_count counts: null counts, lists,
// objects and absent fields do not.
func appendCounted(dst []byte, field int, src Source) ([]byte, bool) {
	v, ok := src.Value(field)
	if !ok {
		return dst, false
	}
	if v.Type == event.Null {
		return append(dst, "null"...), true
	}
	return v.AppendText(dst)
}

func (x *Extractor) tuple(fields []int, src Source) ([]byte, bool) {
	out := x.text[:0]
	var part []byte
	for _, f := range fields {
		var ok bool
		if part, ok = appendCounted(part[:0], f, src); !ok {
			return out, false
		}
		out = AppendPart(out, part)
	}
	return out, true
}

func (x *Extractor) number(field int, src Source) (float64, bool) {
	v, ok := src.Value(field)
	if !ok {
		return 0, false
	}
	var n event.Numeric
	n, ok, x.text = v.Numeric(x.text)
	return n.Float, ok && finite(n.Float)
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// ParseNumber reads a text that is entirely a decimal number.
func ParseNumber(text []byte) (float64, bool) {
	n, ok := event.ParseNumeric(text)
	return n.Float, ok && finite(n.Float)
}

// keep stores a field for correlations of correlations, once.
func (x *Extractor) keep(field int, src Source) {
	if slices.Contains(x.seen, field) {
		return
	}
	x.seen = append(x.seen, field)
	v, ok := src.Value(field)
	if !ok || v.Type == event.Array || v.Type == event.Object {
		return
	}
	kind := byte(fieldOther)
	switch v.Type {
	case event.Null:
		kind = fieldNull
	case event.Number, event.String, event.Text:
		kind = fieldNumeric
	}
	x.text, _ = v.AppendText(x.text[:0])
	x.fields = append(binary.AppendUvarint(x.fields, uint64(field)), kind)
	x.fields = appendBlock(x.fields, x.text)
	x.nFields++
}

// id returns the event's reference: the first present of the id fields, when it
// is a text or a number.
func (x *Extractor) id(want bool, src Source) ([]byte, bool) {
	if !want {
		return nil, false
	}
	for _, f := range x.spec.IDs {
		v, ok := src.Value(f)
		if !ok {
			continue
		}
		switch v.Type {
		case event.String, event.Text, event.Number:
			return v.AppendText(x.text[:0])
		}
		return nil, false
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
