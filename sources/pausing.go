package sources

import "io"

// Pausing is a stream that is not waited for while memory is held for it.
type Pausing interface {
	io.Reader
	// Ready reports whether a read would not wait: for bytes, for the end or for an error.
	Ready() bool
}

// PausingReader reads a stream whose pauses it does not wait for, so that many streams
// that are idle cost little.
type PausingReader interface {
	Reader
	// Rest gives back the memory that is not needed while the stream pauses, and reports
	// whether there is the beginning of a text that has not ended.
	Rest() (unfinished bool)
}

// NewPausingReader returns a reader of the lines of src whose memory is b's. It is to be
// closed.
func (b *Buffers) NewPausingReader(src Pausing) *LineReader {
	r := &LineReader{newChunks(b, src)}
	r.pausing = src
	return r
}

// Rest implements PausingReader. What is short moves to memory of its size; a long text
// stays where it is, since it would have to move back for each of its pieces.
func (r *chunks) Rest() (unfinished bool) {
	rest := r.chunk[r.start:]
	switch {
	case len(rest) == 0:
		r.renew(nil, nil)
		r.size = firstChunk
	case len(rest) <= minRead && cap(r.chunk) > 2*len(rest)+smallest:
		lent, chunk := r.buffers.get(len(rest))
		r.renew(lent, append(chunk, rest...))
		r.size = firstChunk
	}
	return len(rest) > 0 || r.skipping
}
