package ingest

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields of the protocol's messages, with their wire types.
const (
	resourceLogs     = 1<<3 | 2 // of the request
	resourceField    = 1<<3 | 2 // of ResourceLogs
	scopeLogs        = 2<<3 | 2
	scopeField       = 1<<3 | 2 // of ScopeLogs
	logRecord        = 2<<3 | 2
	resourceAttr     = 1<<3 | 2 // of Resource
	scopeName        = 1<<3 | 2 // of InstrumentationScope
	scopeVersion     = 2<<3 | 2
	scopeAttr        = 3<<3 | 2
	recordTime       = 1<<3 | 1 // of LogRecord
	recordSeverity   = 2 << 3
	recordLevel      = 3<<3 | 2
	recordBody       = 5<<3 | 2
	recordAttr       = 6<<3 | 2
	recordTrace      = 9<<3 | 2
	recordSpan       = 10<<3 | 2
	recordObserved   = 11<<3 | 1
	pairKey          = 1<<3 | 2 // of KeyValue
	pairValue        = 2<<3 | 2
	valueString      = 1<<3 | 2 // of AnyValue, of which one is set
	valueBool        = 2 << 3
	valueInt         = 3 << 3
	valueDouble      = 4<<3 | 1
	valueArray       = 5<<3 | 2
	valueList        = 6<<3 | 2
	valueBytes       = 7<<3 | 2
	listElement      = 1<<3 | 2 // of ArrayValue and KeyValueList
	typeVarint       = 0
	typeFixed64      = 1
	typeLengthPrefix = 2
)

// field is a field of a message. Its tag has number and wire type, as the constants have.
type field struct {
	tag     uint64
	number  uint64 // of a varint, or of 8 bytes
	content []byte // of what has a length
}

// next reads the field that b begins with. The length n of a field is negative when it is
// malformed.
func next(b []byte) (f field, n int) {
	if len(b) > 1 && b[0] >= 1<<3 && b[0] < 0x80 { // all of the protocol are such
		f.tag = uint64(b[0])
		switch b[0] & 7 {
		case typeLengthPrefix:
			if from, end := span(b, 1); end > 0 {
				f.content = b[from:end]
				return f, end
			}
		case typeVarint:
			if b[1] < 0x80 {
				f.number = uint64(b[1])
				return f, 2
			}
		case typeFixed64:
			if len(b) >= 9 {
				f.number = binary.LittleEndian.Uint64(b[1:])
				return f, 9
			}
		}
	}
	return anyNext(b)
}

// span returns where what has its length at b[at] begins and ends, if the length takes one
// or two bytes and what it measures is there. Otherwise end is 0.
func span(b []byte, at int) (from, end int) {
	if at >= len(b) {
		return 0, 0
	}
	from, end = at+1, int(b[at])
	if end >= 0x80 {
		if from >= len(b) || b[from] >= 0x80 {
			return 0, 0
		}
		end = end&0x7f | int(b[from])<<7
		from++
	}
	if end += from; end > len(b) {
		return 0, 0
	}
	return from, end
}

// plainPair reads a KeyValue as it mostly is written: a short key, and behind it a value
// that is a text, a number or a bool, and nothing else. Its content is the text, the
// varint or the 8 bytes. The tag of all others is 0.
func plainPair(b []byte) (key []byte, tag byte, content []byte) {
	if len(b) < 4 || b[0] != pairKey || b[1] >= 0x80 {
		return nil, 0, nil
	}
	at := 2 + int(b[1])
	if at+2 >= len(b) || b[at] != pairValue {
		return nil, 0, nil
	}
	key = b[2:at]
	from, end := span(b, at+1)
	if end != len(b) || from == end {
		return nil, 0, nil
	}
	switch tag = b[from]; tag {
	case valueString:
		if from, end = span(b, from+1); end == len(b) {
			return key, tag, b[from:]
		}
	case valueInt, valueBool:
		if content = b[from+1:]; len(content) == 1 && content[0] < 0x80 {
			return key, tag, content
		}
		if _, n := binary.Uvarint(content); n > 0 && n == len(content) {
			return key, tag, content
		}
	case valueDouble:
		if content = b[from+1:]; len(content) == 8 {
			return key, tag, content
		}
	}
	return nil, 0, nil
}

// anyNext is next for fields of every kind.
func anyNext(b []byte) (f field, n int) {
	if f.tag, n = varint(b); n < 0 {
		return f, n
	}
	if f.tag>>3 == 0 || f.tag>>3 > uint64(protowire.MaxValidNumber) {
		return f, malformed
	}
	m := 0
	switch rest := b[n:]; f.tag & 7 {
	case typeLengthPrefix:
		size, k := varint(rest)
		if k < 0 {
			return f, k
		}
		if size > uint64(len(rest)-k) {
			return f, truncated
		}
		m = k + int(size)
		f.content = rest[k:m]
	case typeVarint:
		if f.number, m = varint(rest); m < 0 {
			return f, m
		}
	case typeFixed64:
		if len(rest) < 8 {
			return f, truncated
		}
		f.number, m = binary.LittleEndian.Uint64(rest), 8
	default: // none of the protocol's, but some may come
		if m = protowire.ConsumeFieldValue(protowire.Number(f.tag>>3), protowire.Type(f.tag&7), rest); m < 0 {
			return f, malformed
		}
	}
	return f, n + m
}

// Lengths of what is no field.
const (
	truncated = -1 - iota
	malformed
)

// varint is binary.Uvarint with our lengths.
func varint(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	v, n := binary.Uvarint(b)
	switch {
	case n > 0:
		return v, n
	case n == 0:
		return 0, truncated
	}
	return 0, malformed
}

// merged is a message that may stand in several pieces: they count as one.
type merged struct {
	content []byte
	set     bool
	owned   bool // content is memory of its own
}

func (m *merged) add(piece []byte) {
	switch {
	case !m.set:
		m.content, m.set = piece, true
	case m.owned:
		m.content = append(m.content, piece...)
	default:
		m.content, m.owned = append(append(make([]byte, 0, 2*(len(m.content)+len(piece))), m.content...), piece...), true
	}
}
