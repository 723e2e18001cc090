package window

import (
	"encoding/binary"
	"errors"
	"math"
)

// ErrCorrupt says that bytes are not the encoding of a window.
var ErrCorrupt = errors.New("window is not readable")

// reader takes numbers off the front of buf. After the first fault it gives
// zeros and remembers.
type reader struct {
	buf []byte
	bad bool
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.buf)
	if n <= 0 {
		r.bad, r.buf = true, nil
		return 0
	}
	r.buf = r.buf[n:]
	return v
}

// count reads a number of things that take at least one byte each.
func (r *reader) count() int {
	n := r.uvarint()
	if n > uint64(len(r.buf)) {
		r.bad, r.buf = true, nil
		return 0
	}
	return int(n)
}

func (r *reader) bytes(n int) []byte {
	if n > len(r.buf) {
		r.bad, r.buf = true, nil
		return nil
	}
	b := r.buf[:n]
	r.buf = r.buf[n:]
	return b
}

// clock writes timestamps as steps from the one before.
type clock struct{ at int64 }

func (c *clock) append(dst []byte, ts int64) []byte {
	dst = binary.AppendUvarint(dst, uint64(ts-c.at))
	c.at = ts
	return dst
}

func (c *clock) read(r *reader) int64 {
	step := r.uvarint()
	if step > uint64(math.MaxInt64-c.at) {
		r.bad = true
		return c.at
	}
	c.at += int64(step)
	return c.at
}

func pinned(is bool) byte {
	if is {
		return 1
	}
	return 0
}

// Append writes the runs: number, then second and count of each.
func (c *Counts) Append(dst []byte) []byte {
	runs := int(c.sealed.n)
	if c.openN > 0 {
		runs++
	}
	if c.pinned {
		runs++
	}
	dst = append(dst, pinned(c.pinned))
	dst = binary.AppendUvarint(dst, uint64(runs))
	var at clock
	for ts, n := range c.All() {
		dst = binary.AppendUvarint(at.append(dst, ts), uint64(n))
	}
	return dst
}

func (c *Counts) read(r *reader) {
	pin := r.bytes(1)
	apart := len(pin) == 1 && pin[0] == 1 // the first, a single entry then
	var at clock
	for k := r.count(); k > 0 && !r.bad; k-- {
		ts, n := at.read(r), r.uvarint()
		if n == 0 || n > math.MaxUint32 || apart && n != 1 {
			r.bad = true
			return
		}
		c.n += int(n)
		if apart {
			c.pinned, c.pin, apart = true, ts, false
			continue
		}
		c.addCount(ts, uint32(n), nil)
	}
}

// ReadCounts reads what Append wrote and returns the rest of buf.
func ReadCounts(buf []byte) (*Counts, []byte, error) {
	r, c := reader{buf: buf}, new(Counts)
	c.read(&r)
	if r.bad {
		return nil, nil, ErrCorrupt
	}
	return c, r.buf, nil
}

// Append writes the members one after another.
func (h *Hits) Append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(h.members)))
	for i := range h.members {
		dst = h.members[i].Append(dst)
	}
	return dst
}

// ReadHits reads what Append wrote and returns the rest of buf.
func ReadHits(buf []byte) (*Hits, []byte, error) {
	r := reader{buf: buf}
	h := NewHits(r.count())
	for i := range h.members {
		h.members[i].read(&r)
	}
	if r.bad {
		return nil, nil, ErrCorrupt
	}
	return h, r.buf, nil
}

// Append writes the entries; a text that came before is given by its number.
func (d *Distinct) Append(dst []byte) []byte {
	dst = append(dst, pinned(d.list.pin != nil))
	dst = binary.AppendUvarint(dst, uint64(d.Len()))
	var at clock
	seen := make(map[*text]int)
	for m := range d.list.all() {
		dst = at.append(dst, m.ts)
		if k, ok := seen[m.text]; ok {
			dst = binary.AppendUvarint(dst, uint64(k)+1)
			continue
		}
		seen[m.text] = len(seen)
		dst = append(dst, 0)
		b := m.text.bytes()
		dst = append(binary.AppendUvarint(dst, uint64(len(b))), b...)
	}
	return dst
}

// ReadDistinct reads what Append wrote and returns the rest of buf.
func ReadDistinct(buf []byte) (*Distinct, []byte, error) {
	r, d := reader{buf: buf}, new(Distinct)
	pin := r.bytes(1)
	var at clock
	var seen []*text
	for k := r.count(); k > 0 && !r.bad; k-- {
		ts, ref := at.read(&r), r.uvarint()
		switch {
		case ref == 0:
			seen = append(seen, newText(r.bytes(r.count())))
			ref = uint64(len(seen))
		case ref > uint64(len(seen)):
			r.bad = true
			continue
		}
		m := mention{ts, seen[ref-1]}
		if pin[0] == 1 && d.list.len() == 0 {
			d.list.pin = &m
		} else {
			d.list.add(m.ts, m, nil)
		}
	}
	if r.bad {
		return nil, nil, ErrCorrupt
	}
	d.Rebuild()
	return d, r.buf, nil
}

// Append writes the entries.
func (n *Numbers) Append(dst []byte) []byte {
	dst = append(dst, pinned(n.list.pin != nil))
	dst = binary.AppendUvarint(dst, uint64(n.Len()))
	var at clock
	for e := range n.list.all() {
		dst = binary.LittleEndian.AppendUint64(at.append(dst, e.ts), math.Float64bits(e.v))
	}
	return dst
}

// ReadNumbers reads what Append wrote, into a window that keeps the numbers in
// order when ranked, and returns the rest of buf.
func ReadNumbers(buf []byte, ranked bool) (*Numbers, []byte, error) {
	r, n := reader{buf: buf}, new(Numbers)
	if ranked {
		n = NewRanked()
	}
	pin := r.bytes(1)
	var at clock
	for k := r.count(); k > 0 && !r.bad; k-- {
		e := number{ts: at.read(&r)}
		b := r.bytes(8)
		if len(b) < 8 {
			break
		}
		e.v = math.Float64frombits(binary.LittleEndian.Uint64(b))
		if math.IsNaN(e.v) || math.IsInf(e.v, 0) {
			r.bad = true
			break
		}
		if pin[0] == 1 && n.list.len() == 0 {
			n.list.pin = &e
		} else {
			n.list.add(e.ts, e, nil)
		}
	}
	if r.bad {
		return nil, nil, ErrCorrupt
	}
	n.Rebuild()
	return n, r.buf, nil
}
