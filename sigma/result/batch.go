package result

// Batch collects the detections of one batch of events and owns their memory.
// It is filled by one goroutine. Afterwards anyone may read it, and what was
// read stays valid whatever becomes of the Batch.
type Batch struct {
	pages  [][]Detection // full but for the last
	n      int
	fields []Field
	bytes  []byte
}

// Sizes of the pieces in which memory is taken. A piece that is full is left to
// the detections that use it, and the next is four times as large.
const (
	minFields, maxFields = 64, 4096
	minBytes, maxBytes   = 4 << 10, 256 << 10
)

// page is how many detections are kept together.
const page = 128

// Len returns the number of detections.
func (b *Batch) Len() int { return b.n }

// At returns detection i. The pointer stays valid until the batch is truncated.
func (b *Batch) At(i int) *Detection { return &b.pages[i/page][i%page] }

// Add appends a detection of r and returns it for filling.
func (b *Batch) Add(r *Rule) *Detection {
	if b.n == len(b.pages)*page {
		b.pages = append(b.pages, make([]Detection, page))
	}
	d := b.At(b.n)
	b.n++
	d.Rule = r
	return d
}

// Truncate forgets all detections from number n on.
func (b *Batch) Truncate(n int) {
	for i := n; i < b.n; i++ {
		*b.At(i) = Detection{}
	}
	b.n = min(b.n, n)
}

// FieldList returns a copy of fields that belongs to the batch. Their values are
// taken as they are.
func (b *Batch) FieldList(fields []Field) []Field {
	if len(fields) == 0 {
		return nil
	}
	b.fields = room(b.fields, len(fields), minFields, maxFields)
	at := len(b.fields)
	b.fields = append(b.fields, fields...)
	return b.fields[at:len(b.fields):len(b.fields)]
}

// Bytes returns a copy of data that belongs to the batch.
func (b *Batch) Bytes(data []byte) []byte {
	b.bytes = room(b.bytes, len(data), minBytes, maxBytes)
	at := len(b.bytes)
	b.bytes = append(b.bytes, data...)
	return b.bytes[at:len(b.bytes):len(b.bytes)]
}

// room returns s, or an empty larger piece when n more do not fit.
func room[T any](s []T, n, least, limit int) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	return make([]T, 0, max(n, min(max(least, 4*cap(s)), limit)))
}
