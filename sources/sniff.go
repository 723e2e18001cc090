package sources

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/sluicehq/sluice/sources/frame"
)

// SniffingReader reads lines, or values when package frame finds a stream of them at the
// beginning. It waits for more than the first line only where that is the beginning of
// a value, and no longer than its patience where another line is an event of its own.
//
// It is not safe for concurrent use.
type SniffingReader struct {
	Reader  // nil until it is known what the stream is
	src     patient
	buffers *Buffers
	counts  bool // lines
	whole   bool // arrays at the top
}

// Whole says whether an array at the top is one value like others, instead of its
// elements. It is called before the first read.
func (r *SniffingReader) Whole(whole bool) { r.whole = whole }

// CountLines has the reader say which lines texts begin on. It is called before the first
// read.
func (r *SniffingReader) CountLines() { r.counts = true }

// NewSniffingReader returns a reader of src whose memory is b's. It is to be closed. A
// src that never pauses, such as a file, needs no patience: 0 waits for ever.
func (b *Buffers) NewSniffingReader(src io.Reader, patience time.Duration) *SniffingReader {
	return &SniffingReader{src: patient{src: src, patience: patience}, buffers: b}
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
	ahead := &chunks{src: &r.src, size: firstChunk} // read ahead
	sniffer := frame.Sniffer{Limit: MaxLine}
	values, above := false, 0 // blank lines above the first text
	for decided := false; !decided; {
		ahead.fill()
		if ahead.err == errPaused { //nolint:errorlint // nobody wraps it
			ahead.err, values, decided = nil, false, true
			continue
		}
		if !ahead.begin() {
			continue
		}
		text := ahead.chunk[ahead.start:]
		head := bytes.TrimLeft(text, " \r\n\t")
		blank := bytes.LastIndexByte(text[:len(text)-len(head)], '\n') + 1 // of lines
		ahead.start += blank
		above += bytes.Count(text[:blank], []byte{'\n'})
		values, decided = sniffer.Decide(head, ahead.err != nil)
		decided = decided || len(text)-blank > MaxLine+1
		r.src.hurried = !decided && sniffer.Torn(head)
	}
	r.src.hurried = false
	src := io.MultiReader(bytes.NewReader(ahead.chunk[ahead.start:]), &rest{ahead.err, &r.src})
	in := newChunks(r.buffers, src)
	in.began = ahead.began // what follows a byte order mark may look like another
	if r.counts {
		in.lines = &lines{before: above}
	}
	if values {
		reader := &ValueReader{chunks: in}
		reader.Whole(r.whole)
		r.Reader = reader
	} else {
		r.Reader = &LineReader{in}
	}
}

// patient is a reader that may be told not to wait for ever.
type patient struct {
	src      io.Reader
	patience time.Duration // 0 waits for ever
	hurried  bool          // a read that takes longer than the patience is put off

	pending chan taken // a read that was put off
	left    taken      // of it
}

// taken is what a read has brought.
type taken struct {
	bytes []byte
	err   error
}

// errPaused says that nothing came for as long as the patience is.
var errPaused = errors.New("the stream pauses")

// Read implements io.Reader. A read that is put off loses nothing: the next one gets
// what it brings.
func (p *patient) Read(dst []byte) (int, error) {
	if p.pending == nil && len(p.left.bytes) == 0 && p.left.err == nil {
		if !p.hurried || p.patience == 0 {
			return p.src.Read(dst)
		}
		p.pending = make(chan taken, 1)
		go func(src io.Reader, pending chan<- taken) {
			b := make([]byte, firstChunk)
			n, err := src.Read(b)
			pending <- taken{b[:n], err}
		}(p.src, p.pending)
	}
	if p.pending != nil {
		var late <-chan time.Time // never, unless it is hurried
		if p.hurried {
			late = time.After(p.patience)
		}
		select {
		case p.left = <-p.pending:
			p.pending = nil
		case <-late:
			return 0, errPaused
		}
	}
	n := copy(dst, p.left.bytes)
	if p.left.bytes = p.left.bytes[n:]; len(p.left.bytes) > 0 {
		return n, nil
	}
	err := p.left.err
	p.left.err = nil
	return n, err
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
