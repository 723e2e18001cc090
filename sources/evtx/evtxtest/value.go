package evtxtest

import (
	"encoding/binary"
	"math"
	"time"
	"unicode/utf16"
)

// Value is a value of a record.
type Value struct {
	Kind    byte
	Data    []byte
	Nodes   []Node // of a fragment, in place of Data
	Counted bool   // as a literal it has its length in front
}

func le(kind byte, size int, n uint64) Value {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	return Value{Kind: kind, Data: b[:size:size]}
}

// The values of each type.

// Null is no value.
func Null() Value { return Value{} }

// String is a text.
func String(s string) Value { return Value{Kind: 0x01, Data: encode(s)} }

// ANSI is a text in a code page.
func ANSI(b string) Value { return Value{Kind: 0x02, Data: []byte(b), Counted: true} }

// Int8 and those below are numbers.
func Int8(n int8) Value { return le(0x03, 1, uint64(n)) }

// Uint8 is a number.
func Uint8(n uint8) Value { return le(0x04, 1, uint64(n)) }

// Int16 is a number.
func Int16(n int16) Value { return le(0x05, 2, uint64(n)) }

// Uint16 is a number.
func Uint16(n uint16) Value { return le(0x06, 2, uint64(n)) }

// Int32 is a number.
func Int32(n int32) Value { return le(0x07, 4, uint64(n)) }

// Uint32 is a number.
func Uint32(n uint32) Value { return le(0x08, 4, uint64(n)) }

// Int64 is a number.
func Int64(n int64) Value { return le(0x09, 8, uint64(n)) }

// Uint64 is a number.
func Uint64(n uint64) Value { return le(0x0a, 8, n) }

// Real32 is a number.
func Real32(f float32) Value { return le(0x0b, 4, uint64(math.Float32bits(f))) }

// Real64 is a number.
func Real64(f float64) Value { return le(0x0c, 8, math.Float64bits(f)) }

// Bool is a boolean; numbers other than 0 and 1 are flags that some providers keep in one.
func Bool(n uint32) Value { return le(0x0d, 4, uint64(n)) }

// Binary is bytes.
func Binary(b string) Value { return Value{Kind: 0x0e, Data: []byte(b), Counted: true} }

// GUID is an identifier by its 16 bytes.
func GUID(b string) Value { return Value{Kind: 0x0f, Data: []byte(b)} }

// Pointer is a number of the size of a pointer.
func Pointer(n uint64, size int) Value { return le(0x10, size, n) }

// FileTime is a time.
func FileTime(t time.Time) Value { return le(0x11, 8, ticks(t)) }

// SystemTime is a time by its parts: year, month, day of the week, day, hour, minute, second
// and millisecond.
func SystemTime(parts ...uint16) Value {
	v := Value{Kind: 0x12}
	for _, p := range parts {
		v.Data = binary.LittleEndian.AppendUint16(v.Data, p)
	}
	return v
}

// SID is a security identifier of revision 1.
func SID(authority byte, parts ...uint32) Value {
	v := Value{Kind: 0x13, Data: []byte{1, byte(len(parts)), 0, 0, 0, 0, 0, authority}}
	for _, p := range parts {
		v.Data = binary.LittleEndian.AppendUint32(v.Data, p)
	}
	return v
}

// Hex32 is a number that is shown in hexadecimal.
func Hex32(n uint32) Value { return le(0x14, 4, uint64(n)) }

// Hex64 is a number that is shown in hexadecimal.
func Hex64(n uint64) Value { return le(0x15, 8, n) }

// Fragment is content of its own.
func Fragment(nodes ...Node) Value { return Value{Kind: 0x21, Nodes: nodes} }

// Strings is an array of texts.
func Strings(items ...string) Value {
	v := Value{Kind: 0x81}
	for _, s := range items {
		v.Data = append(append(v.Data, encode(s)...), 0, 0)
	}
	return v
}

// Array is an array of values of one type.
func Array(items ...Value) Value {
	v := Value{Kind: items[0].Kind | 0x80}
	for _, i := range items {
		v.Data = append(v.Data, i.Data...)
	}
	return v
}

func encode(s string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

// ticks are 100 ns since 1601.
func ticks(t time.Time) uint64 {
	return uint64(t.Unix()+11644473600)*1e7 + uint64(t.Nanosecond()/100)
}
