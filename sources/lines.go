package sources

import (
	"bytes"
	"io"
	"unsafe"

	"github.com/sluicehq/sluice/graph"
)

const (
	// MaxLine is the size of the longest event payload, without its terminator.
	MaxLine = 1 << 20
	// ExcerptSize is how much of an oversize line is kept to show for it.
	ExcerptSize = 8192

	minRead = 4 << 10 // below this much room a new chunk is begun
	maxIdle = 100     // reads in a row that bring neither bytes nor an error
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// Text is one line of a stream, without its terminator.
type Text struct {
	// Bytes are not written to again before the caller releases Buffer; without
	// a buffer they belong to the caller for good. Of an oversize
	// line they are the first ExcerptSize bytes.
	Bytes    []byte
	Buffer   *graph.Buffer
	Held     int // bytes of memory that the line keeps
	Oversize bool
}

// LineReader cuts a byte stream into lines. It splits at LF, strips one trailing
// CR, removes a byte order mark at the very start, passes blank lines over, and
// holds no more than MaxLine bytes of a line: of a longer one it reports the
// beginning and discards the rest. A last line without LF counts.
//
// It is not safe for concurrent use.
type LineReader struct {
	src      io.Reader
	buffers  *Buffers      // nil for chunks that are not used again
	lent     *graph.Buffer // what chunk lies in, with a share of the reader's; nil without buffers
	chunk    []byte        // what was read; bytes before start have been handed out
	size     int           // of the next chunk: they double, as a stream proves long
	start    int           // of the unfinished line
	scanned  int           // there is no LF in chunk[start:scanned]
	began    bool          // a byte order mark has been looked for
	skipping bool          // inside an oversize line, up to the next LF
	err      error         // of the stream, once met
}

// NewLineReader returns a reader of the lines of src.
func NewLineReader(src io.Reader) *LineReader { return &LineReader{src: src, size: firstChunk} }

// NewReader returns a reader of the lines of src whose memory is b's. It is to
// be closed.
func (b *Buffers) NewReader(src io.Reader) *LineReader {
	r := NewLineReader(src)
	r.buffers = b
	return r
}

// Close gives the reader's memory back; nothing is read any more. Lines that
// were handed out keep theirs.
func (r *LineReader) Close() { r.renew(nil, nil) }

// renew goes on with another chunk.
func (r *LineReader) renew(lent *graph.Buffer, chunk []byte) {
	r.lent.Release(1)
	r.lent, r.chunk, r.start, r.scanned = lent, chunk, 0, len(chunk)
}

// Next appends to dst the lines that have been read and returns it. It reads
// only when no whole line is left, and never to make a run longer. The error is
// that of the stream, io.EOF at its end, and comes without lines. What precedes
// an error other than io.EOF without being a whole line is not a line.
func (r *LineReader) Next(dst []Text) ([]Text, error) {
	before := len(dst)
	for {
		dst = r.cut(dst)
		if len(dst) > before {
			return dst, nil
		}
		if r.err != nil {
			return dst, r.err
		}
		r.fill()
	}
}

// cut appends the whole lines of the chunk, and at the end of the stream the
// unfinished one.
func (r *LineReader) cut(dst []Text) []Text {
	if !r.begin() {
		return dst
	}
	from := len(dst)
	for {
		i := bytes.IndexByte(r.chunk[r.scanned:], '\n')
		if i < 0 {
			break
		}
		end := r.scanned + i
		if r.skipping {
			r.skipping = false
		} else {
			dst = appendLine(dst, r.chunk[r.start:end:end])
		}
		r.start, r.scanned = end+1, end+1
	}
	r.scanned = len(r.chunk)
	switch rest := r.chunk[r.start:]; {
	case r.skipping:
		r.start = len(r.chunk)
	case len(rest) > MaxLine+1: // a CR may still turn out to belong to the terminator
		dst = appendLine(dst, rest)
		r.skipping = true
		r.share(dst[from:])
		r.renew(nil, nil)
	case r.err == io.EOF && len(rest) > 0: //nolint:errorlint // readers return it bare; what wraps it is a failure
		dst = appendLine(dst, rest[:len(rest):len(rest)])
		r.start = len(r.chunk)
	}
	r.share(dst[from:])
	return dst
}

// maxPinned is how many bytes of a chunk its lines may keep for each of their own.
const maxPinned = 4

// share gives each line of a run a share of the chunk they lie in, or of other memory
// where they would keep too much: the few of a small request, a short line beside a long
// one, and those between blank lines. A run is charged with all of what it keeps.
func (r *LineReader) share(lines []Text) {
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
func (r *LineReader) begin() bool {
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
func (r *LineReader) fill() {
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

// appendLine appends line unless it is blank.
func appendLine(dst []Text, line []byte) []Text {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	switch {
	case len(line) > MaxLine:
		return append(dst, Text{Bytes: bytes.Clone(line[:ExcerptSize]), Oversize: true})
	case Blank(line):
		return dst
	}
	return append(dst, Text{Bytes: line})
}

// Blank reports whether line is empty or only white space, and hence no event.
func Blank(line []byte) bool {
	if len(line) > 0 && line[0] > ' ' && line[0] < 0x80 {
		return false // the usual case
	}
	return len(bytes.TrimSpace(line)) == 0
}
