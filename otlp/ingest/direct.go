package ingest

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/sluicehq/sluice/sources"
)

// A byte of a record becomes at most so many of its event, beside what a record without
// any byte may take.
const (
	mostPerByte   = 8
	mostPerRecord = 1 << 10
)

// direct appends the event of a record as its fields stand there, and reports true when
// it could: no member has the key of another one, and the event can't be too long. Most
// records are such. Otherwise nothing is appended.
func (f *flattener) direct(dst []byte, r *record, size int) (_ []byte, ok bool) {
	if f.tooLong || mostPerByte*size+mostPerRecord+len(f.block) > sources.MaxLine {
		return dst, false
	}
	f.keys.begin()
	w := writer{out: dst, limit: len(dst) + sources.MaxLine}
	if r.time != 0 {
		w.out = f.clock.appendTime(append(w.out, keyTime.text...), r.time)
	}
	if r.observed != 0 {
		w.out = f.clock.appendTime(append(w.out, keyObserved.text...), r.observed)
	}
	if int32(r.severity) != 0 {
		w.out = strconv.AppendInt(append(w.out, keySeverity.text...), int64(int32(r.severity)), 10)
	}
	if len(r.level) > 0 {
		w.out = appendString(append(w.out, keyLevel.text...), r.level)
	}
	switch what, list := bodyOf(r.body.content); what {
	case 0:
	case valueList:
		for b := list; len(b) > 0; {
			one, n := next(b)
			if n < 0 {
				break
			}
			b = b[n:]
			if one.tag == listElement && !f.attribute(&w, one.content) {
				return dst, false
			}
		}
	default:
		w.out = append(w.out, keyBody.text...)
		w.value(r.body.content, 1)
	}
	if len(r.trace) > 0 {
		w.out = appendHex(append(w.out, keyTrace.text...), r.trace)
	}
	if len(r.span) > 0 {
		w.out = appendHex(append(w.out, keySpan.text...), r.span)
	}
	if r.attributes > len(f.pairs) {
		return dst, false
	}
	for _, one := range f.pairs[:r.attributes] {
		if !f.attribute(&w, one) {
			return dst, false
		}
	}
	if len(w.out) == len(dst) || len(f.block) > len("{}") {
		w.out = append(w.out, ',')
	}
	w.out = append(w.out, f.block[1:]...)
	w.out[len(dst)] = '{' // instead of the first member's comma
	return w.out, true
}

// attribute appends a KeyValue, unless it has no value. It reports false when its key
// isn't the only one of its kind, or may not be.
func (f *flattener) attribute(w *writer, b []byte) bool {
	name, tag, content := plainPair(b)
	if tag == 0 {
		name, value := readPair(b)
		if !value.set {
			return true
		}
		k := f.keys.once(name)
		if k == nil {
			return false
		}
		w.out = append(w.out, k.text...)
		w.value(value.content, 1)
		return true
	}
	k := f.keys.once(name)
	if k == nil {
		return false
	}
	w.out = append(w.out, k.text...)
	switch tag {
	case valueString:
		w.out = appendString(w.out, content)
	case valueInt:
		v, _ := varint(content)
		w.out = strconv.AppendInt(w.out, int64(v), 10)
	case valueBool:
		v, _ := varint(content)
		w.out = strconv.AppendBool(w.out, v != 0)
	case valueDouble:
		w.out = appendDouble(w.out, math.Float64frombits(binary.LittleEndian.Uint64(content)))
	}
	return true
}
