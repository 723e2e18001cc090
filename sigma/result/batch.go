package result

import (
	"bytes"
	"unsafe"
)

// Batch collects the detections of one batch of events and owns the memory of
// those that it does not share. It is filled by one goroutine. Afterwards anyone
// may read it, and what was read stays valid whatever becomes of the Batch.
type Batch struct {
	pages  [][]*Detection // full but for the last
	n      int
	own    []Detection
	fields []Field
	extras []Extra
	bytes  []byte
	held   int
}

// Sizes of the pieces in which memory is taken. A piece that is full is left to
// the detections that use it, and the next is four times as large.
const (
	minOwn, maxOwn       = 16, 256
	minFields, maxFields = 64, 4096
	minBytes, maxBytes   = 4 << 10, 256 << 10
)

// page is how many detections are listed together.
const page = 512

// Held is how many bytes of memory it has taken for its detections. Truncate gives back
// none of it.
func (b *Batch) Held() int { return b.held }

// Len returns the number of detections.
func (b *Batch) Len() int { return b.n }

// At returns detection i, which stays what it is.
func (b *Batch) At(i int) *Detection { return b.pages[i/page][i%page] }

// Add appends a detection of r and returns it for filling.
func (b *Batch) Add(r *Rule) *Detection {
	b.own = append(grown(b, b.own, 1, minOwn, maxOwn), Detection{Rule: r})
	d := &b.own[len(b.own)-1]
	b.Append(d)
	return d
}

// Append appends a detection that exists already; it is shared and must not change.
func (b *Batch) Append(d *Detection) {
	if b.n == len(b.pages)*page {
		b.pages = append(b.pages, make([]*Detection, page))
	}
	b.pages[b.n/page][b.n%page] = d
	b.n++
}

// Truncate removes all detections from number n on.
func (b *Batch) Truncate(n int) {
	for i := n; i < b.n; i++ {
		b.pages[i/page][i%page] = nil
	}
	b.n = min(b.n, n)
}

// Keep forgets the detections from number n on that keep does not accept.
func (b *Batch) Keep(n int, keep func(*Detection) bool) {
	kept := n
	for i := n; i < b.n; i++ {
		if d := b.At(i); keep(d) {
			b.pages[kept/page][kept%page] = d
			kept++
		}
	}
	b.Truncate(kept)
}

// FieldList returns a copy of fields that belongs to the batch. Their values are
// taken as they are.
func (b *Batch) FieldList(fields []Field) []Field {
	if len(fields) == 0 {
		return nil
	}
	b.fields = grown(b, b.fields, len(fields), minFields, maxFields)
	at := len(b.fields)
	b.fields = append(b.fields, fields...)
	return b.fields[at:len(b.fields):len(b.fields)]
}

// Extra returns an empty Extra that belongs to the batch.
func (b *Batch) Extra() *Extra {
	b.extras = append(grown(b, b.extras, 1, minOwn, maxOwn), Extra{})
	return &b.extras[len(b.extras)-1]
}

// Bytes returns a copy of data that belongs to the batch.
func (b *Batch) Bytes(data []byte) []byte {
	if len(data) > maxBytes/4 {
		b.held += len(data)
		return bytes.Clone(data)
	}
	b.bytes = grown(b, b.bytes, len(data), minBytes, maxBytes)
	at := len(b.bytes)
	b.bytes = append(b.bytes, data...)
	return b.bytes[at:len(b.bytes):len(b.bytes)]
}

// grown returns s, or an empty larger piece when n more do not fit.
func grown[T any](b *Batch, s []T, n, least, limit int) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	s = make([]T, 0, max(n, min(max(least, 4*cap(s)), limit)))
	b.held += cap(s) * int(unsafe.Sizeof(*new(T)))
	return s
}
