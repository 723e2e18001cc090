package sources

import (
	"bytes"
	"io"
	"unsafe"

	"github.com/sluicehq/sluice/graph"
)

// chunks is the memory that a stream is read into and texts are cut from.
type chunks struct {
	src      io.Reader
	pausing  Pausing       // src, if it is never waited for
	buffers  *Buffers      // nil for chunks that are not used again
	lent     *graph.Buffer // what chunk lies in, with a share of the reader's; nil without buffers
	chunk    []byte        // what was read; bytes before start have been handed out
	size     int           // of the next chunk: they double, as a stream proves long
	start    int           // of the unfinished text
	scanned  int           // chunk[start:scanned] does not hold the end of the text
	began    bool          // a byte order mark has been looked for
	skipping bool          // inside an oversize text, up to its end
	spent    bool          // nothing in the chunk is needed any more
	err      error         // of the stream, once met
	lines    *lines        // nil unless they are counted
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
	r.pass(len(r.chunk) - len(chunk))
	r.lent.Release(1)
	r.lent, r.chunk, r.start, r.scanned = lent, chunk, 0, len(chunk)
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
		if r.pausing != nil && !r.pausing.Ready() {
			return dst, nil
		}
		r.fill()
	}
}

// ended reports whether the stream has.
func (r *chunks) ended() bool {
	return r.err == io.EOF //nolint:errorlint // readers return it bare; what wraps it is a failure
}

// maxPinned is how many bytes of a chunk its lines may keep for each of their own.
const maxPinned = 4

// share gives each line of a run a share of the chunk they lie in, or of other memory
// where they would keep too much: the few of a small request, a short line beside a long
// one, and those between blank lines. A run is charged with all of what it keeps.
func (r *chunks) share(lines []Text) {
	here, apart := portion{buffer: r.lent, memory: r.chunk}, portion{}
	for i := range lines {
		if !lines[i].Oversize {
			here.size += len(lines[i].Bytes)
		}
	}
	least := 0 // bytes of a line that stays in the chunk
	switch kept := cap(r.chunk) / maxPinned; {
	case here.size < kept:
		least = MaxLine + 1
	case cap(r.chunk) > chunkSize:
		least = kept
	}
	if least > 0 {
		for i := range lines {
			if n := len(lines[i].Bytes); n < least && !lines[i].Oversize {
				apart.size += n
			}
		}
	}
	if apart.size > 0 {
		here.size -= apart.size
		apart.buffer, apart.memory = r.buffers.get(apart.size)
		defer apart.buffer.Release(1)
	}
	here.measure()
	apart.measure()
	for i := range lines {
		switch line := &lines[i]; {
		case line.Oversize:
		case len(line.Bytes) < least:
			from := len(apart.memory)
			apart.memory = append(apart.memory, line.Bytes...)
			line.Bytes = apart.memory[from:len(apart.memory):len(apart.memory)]
			apart.keep(line)
		default:
			here.keep(line)
		}
	}
	here.buffer.Retain(here.lines)
	apart.buffer.Retain(apart.lines)
}

// portion is memory that lines of a run lie in.
type portion struct {
	buffer *graph.Buffer
	memory []byte
	size   int // of the lines
	lines  int
	each   int // what is kept for a byte of them, in 256ths
}

func (p *portion) measure() { p.each = (cap(p.memory)<<8 + p.size) / max(1, p.size) }

func (p *portion) keep(line *Text) {
	line.Buffer, line.Held = p.buffer, lineSize+(len(line.Bytes)*p.each)>>8
	p.lines++
}

// lineSize is what a line takes at most beside its bytes: its place in a queue that has
// just grown, and its buffer.
const lineSize = 3 * int(unsafe.Sizeof(graph.Line{}))

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
		r.pass(len(r.chunk))
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
