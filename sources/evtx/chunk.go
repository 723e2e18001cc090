package evtx

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// The layout of a file: a head, then chunks of one size, which are independent of each other.
const (
	headSize   = 4096
	chunkSize  = 64 << 10
	chunkHead  = 512
	recordHead = 24
	recordTail = 4 // the size again
)

const (
	fileMagic  = "ElfFile\x00"
	chunkMagic = "ElfChnk\x00"
)

var recordMagic = []byte("**\x00\x00")

// records walks over the records of a chunk.
type records struct {
	bytes []byte // of the chunk, fewer at the end of a file that was cut off
	next  int
	end   int // of the records
	cut   bool
	last  uint64 // identifier of the last record that was found
}

// newRecords begins with the first record of a chunk. Without a fault the chunk may be empty.
func newRecords(chunk []byte) (records, error) {
	switch {
	case len(chunk) >= len(chunkMagic) && string(chunk[:len(chunkMagic)]) == chunkMagic:
	case len(bytes.TrimLeft(chunk, "\x00")) == 0:
		return records{}, nil // room for later records
	default:
		return records{}, fmt.Errorf("its chunk does not begin like one")
	}
	if len(chunk) < chunkHead {
		return records{}, fmt.Errorf("the file ends inside the head of its chunk")
	}
	end := int64(binary.LittleEndian.Uint32(chunk[48:]))
	if end < chunkHead || end > chunkSize {
		end = chunkSize
	}
	return records{bytes: chunk, next: chunkHead, end: int(min(end, int64(len(chunk)))), cut: int64(len(chunk)) < end}, nil
}

// record is where a record stands in its chunk.
type record struct {
	at, end int // of its content
}

// more finds the next record. One that is damaged comes with an error, and the walk goes on
// behind it.
func (r *records) more() (rec record, ok bool, err error) {
	at := r.next
	rest := r.end - at
	if rest < recordHead+recordTail || !bytes.HasPrefix(r.bytes[at:], recordMagic) {
		zeros := len(bytes.TrimLeft(r.bytes[min(at, r.end):r.end], "\x00")) == 0
		r.next = r.end
		switch {
		case zeros && r.cut:
			r.cut = false
			return record{}, true, fmt.Errorf("the file ends inside its chunk")
		case zeros:
			return record{}, false, nil
		case r.cut && rest < recordHead+recordTail:
			r.cut = false
			return record{}, true, fmt.Errorf("the file ends inside it")
		}
		r.next = r.find(at + 1)
		return record{}, true, fmt.Errorf("it does not begin like one, at byte %d of its chunk", at)
	}
	size := int64(binary.LittleEndian.Uint32(r.bytes[at+4:]))
	r.last = binary.LittleEndian.Uint64(r.bytes[at+8:])
	switch {
	case size < recordHead+recordTail:
		r.next = r.find(at + recordHead)
		return record{}, true, fmt.Errorf("its length of %d is too small", size)
	case size > int64(rest) && r.cut:
		r.next, r.cut = r.end, false
		return record{}, true, fmt.Errorf("the file ends inside it")
	case size > int64(rest):
		r.next = r.find(at + recordHead)
		return record{}, true, fmt.Errorf("its length of %d leads out of its chunk", size)
	}
	end := at + int(size)
	r.next = end
	if again := binary.LittleEndian.Uint32(r.bytes[end-recordTail:]); int64(again) != size && !r.continues(end) {
		r.next = r.find(at + recordHead) // the length leads astray
	}
	return record{at + recordHead, end - recordTail}, true, nil
}

// continues reports whether the records go on, or end, at a place.
func (r *records) continues(at int) bool {
	return at == r.end || bytes.HasPrefix(r.bytes[at:r.end], recordMagic)
}

// find returns where the next record begins, the end when there is none. What looks like one
// is one when its length stands at its end again, or when its identifier follows.
func (r *records) find(from int) int {
	for at := from; at < r.end; at++ {
		i := bytes.Index(r.bytes[at:r.end], recordMagic)
		if i < 0 {
			break
		}
		at += i
		if at+recordHead > r.end {
			break
		}
		if id := binary.LittleEndian.Uint64(r.bytes[at+8:]); r.last > 0 && (id == r.last+1 || id == r.last+2) {
			return at
		}
		size := int64(binary.LittleEndian.Uint32(r.bytes[at+4:]))
		if size < recordHead+recordTail || size > int64(r.end-at) {
			continue
		}
		if int64(binary.LittleEndian.Uint32(r.bytes[at+int(size)-recordTail:])) == size {
			return at
		}
	}
	return r.end
}
