package sources

import (
	"bytes"
	"io"

	"github.com/sluicehq/sluice/sources/frame"
)

// ValueReader cuts a stream of JSON into values, whatever lines they stand on: package
// frame says how. A line break inside a value becomes a blank. The reader removes a byte
// order mark at the very start and holds no more than MaxLine bytes of a value: of a
// longer one it reports the beginning and discards the rest. What the stream ends with
// is a value, whole or not.
//
// It is not safe for concurrent use.
type ValueReader struct {
	chunks
	frame  frame.Scanner
	closed bool // the end of the stream has been looked at
}

// NewValueReader returns a reader of the values of src whose memory is b's. It is to
// be closed.
func (b *Buffers) NewValueReader(src io.Reader) *ValueReader {
	return &ValueReader{chunks: newChunks(b, src)}
}

// Whole says whether an array at the top is one value like others, instead of its
// elements. It is called before the first read.
func (r *ValueReader) Whole(whole bool) { r.frame.Whole = whole }

// Next implements Reader. What precedes an error other than io.EOF without being a whole
// value is not a value.
func (r *ValueReader) Next(dst []Text) ([]Text, error) { return r.next(dst, r) }

// cut appends the whole values of the chunk, and at the end of the stream the unfinished
// one.
func (r *ValueReader) cut(dst []Text) []Text {
	for r.scanned < len(r.chunk) {
		if !r.frame.Open() {
			r.scanned += r.frame.Skip(r.chunk[r.scanned:])
			if r.start = r.scanned; r.start == len(r.chunk) {
				break
			}
		}
		n, whole := r.frame.Take(r.chunk[r.scanned:])
		r.scanned += n
		if !whole {
			break
		}
		if r.skipping {
			r.skipping = false
		} else {
			dst = r.append(dst, r.chunk[r.start:r.scanned:r.scanned])
		}
		r.start = r.scanned
	}
	switch rest := r.chunk[r.start:]; {
	case r.skipping:
		r.start = len(r.chunk)
	case len(rest) > MaxLine:
		dst = r.append(dst, rest)
		r.skipping, r.spent = true, true
	case r.ended() && len(rest) > 0:
		dst = r.append(dst, rest[:len(rest):len(rest)])
		r.start = len(r.chunk)
		r.closed = true // what is missing at the end is told by the value
	case r.ended():
		dst = r.close(dst)
	}
	return dst
}

// close appends a value that is not whole when the stream ends between two elements of
// an array: what was cut off is counted like an element that was.
func (r *ValueReader) close(dst []Text) []Text {
	if r.closed || r.frame.Open() || !r.frame.Unclosed() {
		return dst
	}
	r.closed = true
	return append(dst, Text{Bytes: []byte{'['}, Value: true, Line: r.lineAt(len(r.chunk))})
}

// append appends a value. What precedes a comma may end with white space.
func (r *ValueReader) append(dst []Text, value []byte) []Text {
	whole := value // with the white space behind it: what is cut off there is not whole
	if value[len(value)-1] <= ' ' {
		value = bytes.TrimRight(value, " \r\n\t")
	}
	text := Text{Bytes: value, Value: true, Line: r.lineAt(r.start)}
	if len(whole) > MaxLine {
		text.Bytes, text.Oversize = bytes.Clone(whole[:ExcerptSize]), true
	}
	if r.frame.Broken() {
		r.lineAt(min(r.start+len(whole), len(r.chunk)))
		unbreak(text.Bytes)
	}
	return append(dst, text)
}

// unbreak makes blanks of the line breaks in b.
func unbreak(b []byte) {
	for _, end := range []byte{'\n', '\r'} {
		for rest := b; ; {
			i := bytes.IndexByte(rest, end)
			if i < 0 {
				break
			}
			rest[i] = ' '
			rest = rest[i+1:]
		}
	}
}
