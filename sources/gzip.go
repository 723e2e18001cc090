package sources

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// InflatingReader reads a stream as it is, or inflated when it begins like gzip, all
// members of it. It fails with an *EncodingError when the stream shows another encoding.
// It holds a window of the stream, never more, and waits for no more than the first byte
// that tells.
//
// It is not safe for concurrent use.
type InflatingReader struct {
	src  io.Reader
	in   io.Reader // nil until it is known what the stream is
	head []byte
	mark Mark
}

// NewInflatingReader returns a reader of src.
func NewInflatingReader(src io.Reader) *InflatingReader { return &InflatingReader{src: src} }

// Read implements io.Reader.
func (r *InflatingReader) Read(p []byte) (int, error) {
	for r.in == nil {
		var next [1]byte
		n, err := r.src.Read(next[:])
		r.head = append(r.head, next[:n]...)
		stream := io.MultiReader(bytes.NewReader(r.head), &rest{err, r.src})
		switch e := r.mark.In(next[:n]); {
		case e == Gzip:
			r.in = &inflated{src: stream}
		case e != Text8:
			r.in = &rest{err: &EncodingError{e}}
		case r.mark.over || err != nil:
			r.in = stream
		case n == 0:
			return 0, nil
		}
	}
	return r.in.Read(p)
}

// inflated is what a stream of gzip holds.
type inflated struct {
	src io.Reader
	z   io.Reader // nil at the beginning
}

// Read implements io.Reader.
func (r *inflated) Read(p []byte) (n int, err error) {
	if r.z == nil {
		r.z, err = NewGzipReader(r.src)
	}
	if err == nil {
		n, err = r.z.Read(p)
	}
	switch {
	case err == nil || err == io.EOF && r.z != nil: //nolint:errorlint // bare, as readers return it
		return n, err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("it ends too early")
	}
	return n, fmt.Errorf("inflate gzip: %w", err)
}
