package sources

import (
	"bytes"
	"io"

	"github.com/sluicehq/sluice/sources/frame"
)

// SniffingReader reads lines, or values when package frame finds a stream of them at the
// beginning. It waits for more than the first line only where that is the beginning of
// a value.
//
// It is not safe for concurrent use.
type SniffingReader struct {
	Reader  // nil until it is known what the stream is
	src     io.Reader
	buffers *Buffers
}

// NewSniffingReader returns a reader of src whose memory is b's. It is to be closed.
func (b *Buffers) NewSniffingReader(src io.Reader) *SniffingReader {
	return &SniffingReader{src: src, buffers: b}
}

// Next implements Reader.
func (r *SniffingReader) Next(dst []Text) ([]Text, error) {
	if r.Reader == nil {
		r.sniff()
	}
	return r.Reader.Next(dst)
}

// Close implements Reader.
func (r *SniffingReader) Close() {
	if r.Reader != nil {
		r.Reader.Close()
	}
}

// sniff reads as much as it needs to know what the stream is.
func (r *SniffingReader) sniff() {
	ahead := &chunks{src: r.src, size: firstChunk} // read ahead
	sniffer := frame.Sniffer{Limit: MaxLine}
	values := false
	for decided := false; !decided; {
		ahead.fill()
		if !ahead.begin() {
			continue
		}
		text := ahead.chunk[ahead.start:]
		head := bytes.TrimLeft(text, " \r\n\t")
		blank := bytes.LastIndexByte(text[:len(text)-len(head)], '\n') + 1 // of lines
		ahead.start += blank
		values, decided = sniffer.Decide(head, ahead.err != nil)
		decided = decided || len(text)-blank > MaxLine+1
	}
	src := io.MultiReader(bytes.NewReader(ahead.chunk[ahead.start:]), &rest{ahead.err, r.src})
	if values {
		r.Reader = r.buffers.NewValueReader(src)
	} else {
		r.Reader = r.buffers.NewReader(src)
	}
}

// rest is what of a stream has not been read ahead.
type rest struct {
	err error // of the stream, if it was met
	src io.Reader
}

// Read implements io.Reader.
func (r *rest) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	return r.src.Read(p)
}
