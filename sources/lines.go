package sources

import (
	"bytes"
	"io"

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

// Text is one event of a stream as it was received: a line without its terminator, or a
// value.
type Text struct {
	// Bytes are not written to again before the caller releases Buffer; without
	// a buffer they belong to the caller for good. Of an oversize
	// text they are the first ExcerptSize bytes.
	Bytes    []byte
	Buffer   *graph.Buffer
	Held     int // bytes of memory that the line keeps
	Oversize bool
	Value    bool // one JSON value, whatever the input format
	Line     int  // it begins on, from 1; 0 unless the reader counts
}

// Reader cuts a stream into texts.
type Reader interface {
	// Next appends to dst what has been read and returns it. It reads only when
	// nothing whole is left. The error is that of the stream, io.EOF at its end, and
	// comes without texts. No texts without an error are a pause, of a stream that is
	// Pausing.
	Next(dst []Text) ([]Text, error)
	// Close gives the reader's memory back. Texts that were handed out keep theirs.
	Close()
}

// LineReader cuts a byte stream into lines. It splits at LF, strips one trailing
// CR, removes a byte order mark at the very start, passes blank lines over, and
// holds no more than MaxLine bytes of a line: of a longer one it reports the
// beginning and discards the rest. A last line without LF counts.
//
// It is not safe for concurrent use.
type LineReader struct{ chunks }

// NewLineReader returns a reader of the lines of src.
func NewLineReader(src io.Reader) *LineReader { return &LineReader{newChunks(nil, src)} }

// NewReader returns a reader of the lines of src whose memory is b's. It is to
// be closed.
func (b *Buffers) NewReader(src io.Reader) *LineReader { return &LineReader{newChunks(b, src)} }

// Next appends to dst the lines that have been read and returns it. It reads
// only when no whole line is left, and never to make a run longer. The error is
// that of the stream, io.EOF at its end, and comes without lines. What precedes
// an error other than io.EOF without being a whole line is not a line.
func (r *LineReader) Next(dst []Text) ([]Text, error) { return r.next(dst, r) }

// cut appends the whole lines of the chunk, and at the end of the stream the
// unfinished one.
func (r *LineReader) cut(dst []Text) []Text {
	for {
		i := bytes.IndexByte(r.chunk[r.scanned:], '\n')
		if i < 0 {
			break
		}
		end := r.scanned + i
		if r.skipping {
			r.skipping = false
		} else {
			dst = r.append(dst, r.chunk[r.start:end:end])
		}
		r.start, r.scanned = end+1, end+1
	}
	r.scanned = len(r.chunk)
	switch rest := r.chunk[r.start:]; {
	case r.skipping:
		r.start = len(r.chunk)
	case len(rest) > MaxLine+1: // a CR may still turn out to belong to the terminator
		dst = r.append(dst, rest)
		r.skipping, r.spent = true, true
	case r.ended() && len(rest) > 0:
		dst = r.append(dst, rest[:len(rest):len(rest)])
		r.start = len(r.chunk)
	}
	return dst
}

// append appends line unless it is blank.
func (r *LineReader) append(dst []Text, line []byte) []Text {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	switch {
	case len(line) > MaxLine:
		return append(dst, Text{Bytes: bytes.Clone(line[:ExcerptSize]), Oversize: true, Line: r.lineAt(r.start)})
	case Blank(line):
		return dst
	}
	return append(dst, Text{Bytes: line, Line: r.lineAt(r.start)})
}

// Blank reports whether line is empty or only white space, and hence no event.
func Blank(line []byte) bool {
	if len(line) > 0 && line[0] > ' ' && line[0] < 0x80 {
		return false // the usual case
	}
	return len(bytes.TrimSpace(line)) == 0
}
