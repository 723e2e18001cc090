package sources

import (
	"bytes"
	"io"

	"github.com/sluicehq/sluice/graph"
)

// chunks is the memory that a stream is read into and texts are cut from.
type chunks struct {
	src      io.Reader
	buffers  *Buffers      // nil for chunks that are not used again
	lent     *graph.Buffer // what chunk lies in, with a share of the reader's; nil without buffers
	chunk    []byte        // what was read; bytes before start have been handed out
	size     int           // of the next chunk: they double, as a stream proves long
	start    int           // of the unfinished text
	handed   int           // bytes of texts that keep the chunk
	scanned  int           // chunk[start:scanned] does not hold the end of the text
	began    bool          // a byte order mark has been looked for
	skipping bool          // inside an oversize text, up to its end
	spent    bool          // nothing in the chunk is needed any more
	err      error         // of the stream, once met
}

func newChunks(b *Buffers, src io.Reader) chunks {
	return chunks{src: src, buffers: b, size: firstChunk}
}

// cutter finds the texts of a chunk.
type cutter interface{ cut(dst []Text) []Text }

// Close gives the reader's memory back; nothing is read any more. Texts that
// were handed out keep theirs.
func (r *chunks) Close() { r.renew(nil, nil) }

// renew goes on with another chunk.
func (r *chunks) renew(lent *graph.Buffer, chunk []byte) {
	r.lent.Release(1)
	r.lent, r.chunk, r.start, r.scanned, r.handed = lent, chunk, 0, len(chunk), 0
}

// next appends what c finds, and reads only when that is nothing.
func (r *chunks) next(dst []Text, c cutter) ([]Text, error) {
	before := len(dst)
	for {
		if r.begin() {
			from := len(dst)
			dst = c.cut(dst)
			r.share(dst[from:])
			if r.spent {
				r.spent = false
				r.renew(nil, nil)
			}
		}
		if len(dst) > before {
			return dst, nil
		}
		if r.err != nil {
			return dst, r.err
		}
		r.fill()
	}
}

// ended reports whether the stream has.
func (r *chunks) ended() bool {
	return r.err == io.EOF //nolint:errorlint // readers return it bare; what wraps it is a failure
}

// maxPinned is how many bytes of a chunk its lines may keep for each of their own: what
// waits is counted by its line.
const maxPinned = 4

// share gives each of the lines a share of the chunk they lie in, or memory of its own
// where it would keep too much: a short line in the chunk of a long one, and lines of a
// chunk that are mostly blank or too long.
func (r *chunks) share(lines []Text) {
	size := 0
	for i := range lines {
		size += len(lines[i].Bytes)
	}
	apart := r.start > firstChunk && r.start > maxPinned*(r.handed+size)
	long := cap(r.chunk) > chunkSize
	n := 0
	for i := range lines {
		line := &lines[i]
		switch {
		case line.Oversize:
		case apart, long && maxPinned*len(line.Bytes) < cap(r.chunk):
			line.Bytes = bytes.Clone(line.Bytes)
		default:
			line.Buffer = r.lent
			r.handed += len(line.Bytes)
			n++
		}
	}
	r.lent.Retain(n)
}

// begin removes a byte order mark. It returns false while too little has been
// read to tell.
func (r *chunks) begin() bool {
	if r.began {
		return true
	}
	head := r.chunk[r.start:]
	if len(head) < len(byteOrderMark) && bytes.HasPrefix(byteOrderMark, head) && r.err == nil {
		return false
	}
	r.began = true
	if bytes.HasPrefix(head, byteOrderMark) {
		r.start += len(byteOrderMark)
		r.scanned = r.start
	}
	return true
}

// fill reads once. Lines handed out share the chunk, so it is only ever appended
// to; the discarded part of an oversize line is not shared and is overwritten.
func (r *chunks) fill() {
	if r.skipping && cap(r.chunk) > 0 {
		r.chunk, r.start, r.scanned = r.chunk[:0], 0, 0
	}
	if cap(r.chunk)-len(r.chunk) < minRead {
		rest := r.chunk[r.start:]
		size := max(r.size, min(2*len(rest), MaxLine+1)+minRead)
		r.size = min(2*r.size, chunkSize)
		lent, chunk := r.buffers.get(size)
		r.renew(lent, append(chunk, rest...))
	}
	for range maxIdle {
		n, err := r.src.Read(r.chunk[len(r.chunk):cap(r.chunk)])
		r.chunk = r.chunk[:len(r.chunk)+n]
		if err != nil {
			r.err = err
			return
		}
		if n > 0 {
			return
		}
	}
	r.err = io.ErrNoProgress
}
