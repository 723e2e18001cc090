package evtx

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"
)

// value is a piece of a chunk that is read as a type says.
type value struct {
	at, size uint32
	kind     kind
}

// kind is the type of a value. The types of arrays are those of their items and array.
type kind uint8

const (
	null       kind = 0x00
	unicode    kind = 0x01
	ansi       kind = 0x02
	int8s      kind = 0x03
	uint8s     kind = 0x04
	int16s     kind = 0x05
	uint16s    kind = 0x06
	int32s     kind = 0x07
	uint32s    kind = 0x08
	int64s     kind = 0x09
	uint64s    kind = 0x0a
	real32     kind = 0x0b
	real64     kind = 0x0c
	boolean    kind = 0x0d
	binaryData kind = 0x0e
	guid       kind = 0x0f
	sizeT      kind = 0x10
	fileTime   kind = 0x11
	systemTime kind = 0x12
	sid        kind = 0x13
	hex32      kind = 0x14
	hex64      kind = 0x15
	fragment   kind = 0x21 // binary XML

	array kind = 0x80
)

// sizes are those of the values of types that have one.
var sizes = [...]uint32{
	int8s: 1, uint8s: 1, int16s: 2, uint16s: 2, int32s: 4, uint32s: 4, int64s: 8, uint64s: 8,
	real32: 4, real64: 8, boolean: 4, guid: 16, fileTime: 8, systemTime: 16, hex32: 4, hex64: 8,
}

// fixed returns the size of every value of the type, 0 where they differ.
func (k kind) fixed() uint32 {
	if int(k) < len(sizes) {
		return sizes[k]
	}
	return 0
}

// bare reports whether a value of the type stands in JSON without quotes.
func (k kind) bare() bool { return k >= int8s && k <= uint64s || k == boolean }

// empty reports whether a value has no text.
func (v value) empty(chunk []byte) bool {
	switch {
	case v.kind == null || v.size == 0:
		return true
	case v.kind == unicode:
		b := v.bytes(chunk)
		return len(b) < 2 || b[0] == 0 && b[1] == 0
	case v.kind == ansi:
		return chunk[v.at] == 0
	}
	return false
}

func (v value) bytes(chunk []byte) []byte { return chunk[v.at : v.at+v.size] }

// item cuts the first item off an array that is not empty.
func (v value) item(chunk []byte) (first, rest value) {
	of := v.kind &^ array
	size, behind := v.size, uint32(0)
	switch b := v.bytes(chunk); {
	case of == unicode:
		for i := 0; i+1 < len(b); i += 2 {
			if b[i] == 0 && b[i+1] == 0 {
				size, behind = uint32(i), 2
				break
			}
		}
	case of == ansi:
		for i, c := range b {
			if c == 0 {
				size, behind = uint32(i), 1
				break
			}
		}
	case of == sid && len(b) >= sidHead:
		size = min(size, sidHead+4*uint32(b[1]))
	case of.fixed() > 0:
		size = min(size, of.fixed())
	}
	first = value{at: v.at, size: size, kind: of}
	rest = value{at: v.at + size + behind, size: v.size - size - behind, kind: v.kind}
	return first, rest
}

// appendText appends the text of a value as it stands between the quotes of a JSON string.
// A value that is not as long as its type says, and one of an unknown type, is rendered as
// its bytes.
func (v value) appendText(dst, chunk []byte) []byte {
	if v.kind&array != 0 {
		for rest, n := v, 0; rest.size > 0; n++ {
			if n > 0 {
				dst = append(dst, ',')
			}
			var first value
			first, rest = rest.item(chunk)
			dst = first.appendText(dst, chunk)
		}
		return dst
	}
	b := v.bytes(chunk)
	if len(b) < int(v.kind.fixed()) {
		return v.appendShort(dst, b)
	}
	le := binary.LittleEndian
	switch v.kind {
	case null:
		return dst
	case unicode:
		return appendUTF16(dst, b)
	case ansi:
		return appendANSI(dst, b)
	case int8s:
		return strconv.AppendInt(dst, int64(int8(b[0])), 10)
	case uint8s:
		return strconv.AppendUint(dst, uint64(b[0]), 10)
	case int16s:
		return strconv.AppendInt(dst, int64(int16(le.Uint16(b))), 10)
	case uint16s:
		return strconv.AppendUint(dst, uint64(le.Uint16(b)), 10)
	case int32s:
		return strconv.AppendInt(dst, int64(int32(le.Uint32(b))), 10)
	case uint32s:
		return strconv.AppendUint(dst, uint64(le.Uint32(b)), 10)
	case int64s:
		return strconv.AppendInt(dst, int64(le.Uint64(b)), 10)
	case uint64s:
		return strconv.AppendUint(dst, le.Uint64(b), 10)
	case real32:
		return appendReal(dst, float64(math.Float32frombits(le.Uint32(b))), 32)
	case real64:
		return appendReal(dst, math.Float64frombits(le.Uint64(b)), 64)
	case boolean:
		return appendBool(dst, int32(le.Uint32(b)))
	case guid:
		return appendGUID(dst, b)
	case sizeT:
		switch len(b) {
		case 4:
			return appendPointer(dst, uint64(le.Uint32(b)))
		case 8:
			return appendPointer(dst, le.Uint64(b))
		}
	case fileTime:
		return appendFileTime(dst, le.Uint64(b))
	case systemTime:
		return appendSystemTime(dst, b)
	case sid:
		if len(b) >= sidHead {
			return appendSID(dst, b)
		}
	case hex32:
		return appendPointer(dst, uint64(le.Uint32(b)))
	case hex64:
		return appendPointer(dst, le.Uint64(b))
	}
	return appendHex(dst, b)
}

// appendShort appends a value that is shorter than its type says. Booleans of one byte are
// written by some providers.
func (v value) appendShort(dst, b []byte) []byte {
	if v.kind == boolean && len(b) == 1 {
		return appendBool(dst, int32(b[0]))
	}
	return appendHex(dst, b)
}

// whole reports whether a value is as long as its type says, so that a bare one is a number
// or a boolean.
func (v value) whole() bool {
	return v.size >= v.kind.fixed() || v.kind == boolean && v.size == 1
}

// appendBool appends a boolean. Some providers keep flags in it: these are numbers.
func appendBool(dst []byte, n int32) []byte {
	switch n {
	case 0:
		return append(dst, "false"...)
	case 1:
		return append(dst, "true"...)
	}
	return strconv.AppendInt(dst, int64(n), 10)
}

func appendPointer(dst []byte, n uint64) []byte {
	return strconv.AppendUint(append(dst, "0x"...), n, 16)
}

func appendReal(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	}
	form := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-5 || a >= 1e16) {
		form = 'e'
	}
	from := len(dst)
	dst = strconv.AppendFloat(dst, f, form, -1, bits)
	for _, c := range dst[from:] {
		if c == '.' || c == 'e' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

// appendGUID appends a GUID, whose first three parts have their little end first.
func appendGUID(dst, b []byte) []byte {
	for i, at := range [16]int{3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15} {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hexUpper[b[at]>>4], hexUpper[b[at]&15])
	}
	return dst
}

// sidHead is what a security identifier has before its parts.
const sidHead = 8

func appendSID(dst, b []byte) []byte {
	dst = strconv.AppendUint(append(dst, "S-"...), uint64(b[0]), 10)
	authority := binary.BigEndian.Uint64(b[:8]) & (1<<48 - 1)
	dst = strconv.AppendUint(append(dst, '-'), authority, 10)
	for i, at := 0, sidHead; i < int(b[1]) && at+4 <= len(b); i, at = i+1, at+4 {
		dst = strconv.AppendUint(append(dst, '-'), uint64(binary.LittleEndian.Uint32(b[at:])), 10)
	}
	return dst
}

// epoch is how many seconds before 1970 the time of Windows begins.
const epoch = 11644473600

// appendFileTime appends a time that counts 100 ns from 1601 on, to the microsecond.
func appendFileTime(dst []byte, ticks uint64) []byte {
	t := time.Unix(int64(ticks/1e7)-epoch, 0).UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	return appendTime(dst, year, int(month), day, hour, minute, second, int(ticks%1e7/10))
}

// appendSystemTime appends a time that is stored by its parts. One that is not set is the
// first that there is.
func appendSystemTime(dst, b []byte) []byte {
	part := func(i int) int { return int(binary.LittleEndian.Uint16(b[2*i:])) }
	year, month, day := part(0), part(1), part(3)
	if year == 0 && month == 0 && day == 0 && part(4) == 0 && part(5) == 0 && part(6) == 0 && part(7) == 0 {
		year, month, day = 1601, 1, 1
	}
	return appendTime(dst, year, month, day, part(4), part(5), part(6), part(7)*1000)
}

func appendTime(dst []byte, year, month, day, hour, minute, second, micro int) []byte {
	dst = append(appendDigits(dst, year, 4), '-')
	dst = append(appendDigits(dst, month, 2), '-')
	dst = append(appendDigits(dst, day, 2), 'T')
	dst = append(appendDigits(dst, hour, 2), ':')
	dst = append(appendDigits(dst, minute, 2), ':')
	dst = append(appendDigits(dst, second, 2), '.')
	return append(appendDigits(dst, micro, 6), 'Z')
}

// appendDigits appends n with at least width digits.
func appendDigits(dst []byte, n, width int) []byte {
	least := 1
	for range width - 1 {
		least *= 10
	}
	for ; n < least && least > 1; least /= 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, int64(n), 10)
}
