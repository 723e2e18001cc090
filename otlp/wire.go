package otlp

import (
	"encoding/binary"
	"math"
	"math/bits"
	"time"
	"unicode/utf8"
	"unsafe"
)

// Fields of a LogRecord, with their wire types: none is that of a varint.
const (
	fieldTime           = 1<<3 | 1
	fieldSeverityNumber = 2 << 3
	fieldSeverityText   = 3<<3 | 2
	fieldBody           = 5<<3 | 2
	fieldAttribute      = 6<<3 | 2
	fieldObservedTime   = 11<<3 | 1
)

// Fields of an AnyValue, of which one is set, and of what lists and members are made of.
const (
	valueString  = 1<<3 | 2
	valueBool    = 2 << 3
	valueInt     = 3 << 3
	valueDouble  = 4<<3 | 1
	valueArray   = 5<<3 | 2
	valueObject  = 6<<3 | 2
	fieldElement = 1<<3 | 2 // of ArrayValue and KeyValueList
	fieldKey     = 1<<3 | 2 // of KeyValue
	fieldValue   = 2<<3 | 2
)

// AppendTime appends when the record's event happened. It comes first.
func AppendTime(dst []byte, t time.Time) []byte { return appendNanos(dst, fieldTime, t) }

// AppendObservedTime appends when the record was observed. It comes last.
func AppendObservedTime(dst []byte, t time.Time) []byte {
	return appendNanos(dst, fieldObservedTime, t)
}

func appendNanos(dst []byte, field byte, t time.Time) []byte {
	if n := t.UnixNano(); n != 0 {
		return binary.LittleEndian.AppendUint64(append(dst, field), uint64(n))
	}
	return dst
}

// AppendSeverity appends a severity, nothing for number 0. It comes behind the time.
func AppendSeverity(dst []byte, number byte, name string) []byte {
	if number != 0 {
		dst = append(dst, fieldSeverityNumber, number)
	}
	if name != "" {
		dst = append(append(dst, fieldSeverityText, byte(len(name))), name...)
	}
	return dst
}

// AppendBody appends a text as the record's body. It comes behind the severity.
func AppendBody(dst []byte, body string) []byte {
	return appendString(dst, place{field: fieldBody}, body)
}

// AppendText appends an attribute that is a text. Bytes that are no UTF-8 become U+FFFD.
func AppendText(dst []byte, key, value string) []byte {
	return appendString(dst, place{fieldAttribute, true, key}, value)
}

// place is where a value stands: as a field of a message, as an element of an array, or
// with a key.
type place struct {
	field byte
	keyed bool
	key   string
}

var element = place{field: fieldElement}

func member(key string) place { return place{fieldElement, true, key} }

// keySize is the size of the key as a field.
func (p *place) keySize() int {
	if p.key == "" {
		return 0
	}
	return 1 + uvarintSize(len(p.key)) + len(p.key)
}

// headSize is the size of what stands before n bytes of content.
func (p *place) headSize(n int) int {
	value := 1 + uvarintSize(n) + n
	size := 1 + uvarintSize(value) + value
	if p.keyed {
		size += p.keySize()
		size += 1 + uvarintSize(size)
	}
	return size - n
}

// appendHead appends what stands before n bytes of content of a kind.
func (p *place) appendHead(dst []byte, kind byte, n int) []byte {
	dst = p.appendOuter(dst, 1+uvarintSize(n)+n)
	return binary.AppendUvarint(append(dst, kind), uint64(n))
}

// appendOuter appends what stands before an AnyValue of n bytes.
func (p *place) appendOuter(dst []byte, n int) []byte {
	dst = append(dst, p.field)
	if p.keyed {
		dst = binary.AppendUvarint(dst, uint64(p.keySize()+1+uvarintSize(n)+n))
		if p.key != "" {
			dst = binary.AppendUvarint(append(dst, fieldKey), uint64(len(p.key)))
			dst = append(dst, p.key...)
		}
		dst = append(dst, fieldValue)
	}
	return binary.AppendUvarint(dst, uint64(n))
}

// enclose puts the head of content before it. The content ends dst and begins reserved bytes
// behind at; it moves if its head takes more or less than that.
func (p *place) enclose(dst []byte, at, reserved int, kind byte) []byte {
	n := len(dst) - at - reserved
	need := p.headSize(n)
	if need > reserved {
		dst = append(dst, make([]byte, need-reserved)...)
	}
	if need != reserved {
		copy(dst[at+need:], dst[at+reserved:at+reserved+n])
		dst = dst[:at+need+n]
	}
	p.appendHead(dst[:at], kind, n)
	return dst
}

// leave leaves room for a head of content of about n bytes.
func (p *place) leave(dst []byte, n int) (_ []byte, reserved int) {
	reserved = p.headSize(n)
	if reserved <= len(zeros) {
		return append(dst, zeros[:reserved]...), reserved
	}
	return append(dst, make([]byte, reserved)...), reserved
}

var zeros [64]byte

// aboutList is the length of a list that is assumed until it is known.
const aboutList = 1 << 8

func appendString(dst []byte, p place, s string) []byte {
	if !utf8.ValidString(s) {
		at := len(dst)
		dst, reserved := p.leave(dst, len(s))
		return p.enclose(appendValid(dst, s), at, reserved, valueString)
	}
	return append(p.appendHead(dst, valueString, len(s)), s...)
}

func appendNull(dst []byte, p place) []byte { return p.appendOuter(dst, 0) }

func appendBool(dst []byte, p place, v bool) []byte {
	dst = p.appendOuter(dst, 2)
	if v {
		return append(dst, valueBool, 1)
	}
	return append(dst, valueBool, 0)
}

func appendInt(dst []byte, p place, v int64) []byte {
	dst = p.appendOuter(dst, 1+(bits.Len64(uint64(v)|1)+6)/7)
	return binary.AppendUvarint(append(dst, valueInt), uint64(v))
}

func appendDouble(dst []byte, p place, v float64) []byte {
	dst = p.appendOuter(dst, 9)
	return binary.LittleEndian.AppendUint64(append(dst, valueDouble), math.Float64bits(v))
}

func uvarintSize(n int) int { return (bits.Len64(uint64(n)|1) + 6) / 7 }

// appendValid appends s with each byte that is no UTF-8 replaced.
func appendValid(dst []byte, s string) []byte {
	for _, r := range s {
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// textOf reads b as a text for as long as b does not change.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
