package match

import (
	"encoding/binary"
	"math"

	"github.com/sluicehq/sluice/sigma/correlation/internal/window"
)

// Adopt checks the record at the begin of buf, which another process has written for
// the same spec, so that Open may trust it, and returns what follows it. It checks
// every offset and replaces the hashes, which differ between processes. Bytes that an
// Extractor for s cannot have written are ErrForeign; Adopt may have changed them.
func Adopt(s *Spec, buf []byte) ([]byte, error) {
	if len(buf) < headSize || binary.LittleEndian.Uint32(buf[specAt:]) != s.Mark {
		return nil, ErrForeign
	}
	size := binary.LittleEndian.Uint32(buf[sizeAt:])
	if size < headSize || uint64(size) > uint64(len(buf)) {
		return nil, ErrForeign
	}
	a := adoption{spec: s, record: buf[:size], count: binary.LittleEndian.Uint32(buf[countAt:]), rest: binary.LittleEndian.Uint32(buf[restAt:])}
	// The first pass writes hashes into the record. The second one finds offsets that
	// lead into the hash of another key.
	if !a.whole() || !a.updates(true) || !a.updates(false) {
		return nil, ErrForeign
	}
	return buf[size:], nil
}

// adoption is a record that is being checked.
type adoption struct {
	spec   *Spec
	record []byte
	count  uint32
	rest   uint32
}

// whole reports whether all parts of the record are within it and well-formed.
func (a *adoption) whole() bool {
	if uint64(a.rest) > uint64(len(a.record)) || headSize+uint64(a.count)*updateSize > uint64(a.rest) {
		return false
	}
	c := careful{rest: a.record[a.rest:]}
	flags := binary.LittleEndian.Uint32(a.record[flagsAt:])
	if flags&hasID != 0 {
		c.block()
	}
	if flags&hasCopy != 0 {
		c.block()
	}
	for len(c.rest) > 0 && !c.failed {
		field, kind := c.uvarint(), c.byte()
		c.block()
		c.failed = c.failed || field >= uint64(len(a.spec.Fields)) || kind > fieldOther
	}
	return !c.failed && flags&^(hasID|hasCopy) == 0 && int64(binary.LittleEndian.Uint64(a.record[timeAt:])) >= 0
}

// updates checks all updates and writes the hashes, or compares them.
func (a *adoption) updates(write bool) bool {
	for i := range int(a.count) {
		raw := a.record[headSize+i*updateSize:][:updateSize]
		feed := binary.LittleEndian.Uint32(raw[feedAt:])
		if uint64(feed) >= uint64(len(a.spec.Feeds)) {
			return false
		}
		f := &a.spec.Feeds[feed]
		switch f.Kind {
		case Nothing:
		case Number:
			if v := math.Float64frombits(binary.LittleEndian.Uint64(raw[valueAt:])); math.IsNaN(v) || math.IsInf(v, 0) {
				return false
			}
		default:
			text, ok := a.at(binary.LittleEndian.Uint64(raw[valueAt:]), binary.LittleEndian.Uint32(raw[lengthAt:]))
			if !ok || !mark32(raw[markAt:], window.Hash(text), write) {
				return false
			}
		}
		offset := uint64(binary.LittleEndian.Uint32(raw[keyAt:]))
		head, ok := a.at(offset, keyHead)
		if !ok {
			return false
		}
		key, ok := a.at(offset+keyHead, binary.LittleEndian.Uint32(head[8:]))
		if !ok || !ValidKey(string(key), len(a.spec.Keys[f.Key])) || !mark64(head, Hash(key), write) {
			return false
		}
	}
	return true
}

// at returns n bytes at an offset behind the updates.
func (a *adoption) at(offset uint64, n uint32) ([]byte, bool) {
	if offset < headSize+uint64(a.count)*updateSize || offset > uint64(a.rest) || uint64(n) > uint64(a.rest)-offset {
		return nil, false
	}
	return a.record[offset : offset+uint64(n)], true
}

func mark32(at []byte, hash uint32, write bool) bool {
	if write {
		binary.LittleEndian.PutUint32(at, hash)
	}
	return binary.LittleEndian.Uint32(at) == hash
}

func mark64(at []byte, hash uint64, write bool) bool {
	if write {
		binary.LittleEndian.PutUint64(at, hash)
	}
	return binary.LittleEndian.Uint64(at) == hash
}

// careful is a cursor over untrusted bytes.
type careful struct {
	rest   []byte
	failed bool
}

func (c *careful) uvarint() uint64 {
	v, n := binary.Uvarint(c.rest)
	if n <= 0 {
		c.failed, c.rest = true, nil
		return 0
	}
	c.rest = c.rest[n:]
	return v
}

func (c *careful) byte() byte {
	if len(c.rest) == 0 {
		c.failed = true
		return 0
	}
	b := c.rest[0]
	c.rest = c.rest[1:]
	return b
}

func (c *careful) block() {
	n := c.uvarint()
	if n > uint64(len(c.rest)) {
		c.failed, c.rest = true, nil
		return
	}
	c.rest = c.rest[n:]
}
