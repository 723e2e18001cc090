package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"sync"

	"github.com/sluicehq/sluice/sources"
)

// The outcomes of a body that was not read to its end, beside the error of its reader.
var (
	errTooLarge = errors.New("request body exceeds maximum size")
	errInflate  = errors.New("decompression error")
)

const (
	smallestBody = 4 << 10
	bodySizes    = 14 // the largest that is kept has 32 MiB
)

// bodies lends memory for bodies that are read as a whole.
type bodies struct{ idle [bodySizes]sync.Pool }

// get returns empty memory of at least the size.
func (b *bodies) get(size int) []byte {
	class := bits.Len(uint(max(size, 1)-1) / smallestBody)
	if class >= bodySizes {
		return make([]byte, 0, size)
	}
	if kept, ok := b.idle[class].Get().(*[]byte); ok {
		return (*kept)[:0]
	}
	return make([]byte, 0, smallestBody<<class)
}

// put takes memory back that get returned.
func (b *bodies) put(memory []byte) {
	if class := bits.Len(uint(max(cap(memory), 1)-1) / smallestBody); class < bodySizes && cap(memory) == smallestBody<<class {
		memory = memory[:0]
		b.idle[class].Put(&memory)
	}
}

// body is the body of a request in memory that grows as it comes.
type body struct {
	intake *Intake
	bytes  []byte
	held   int64 // of the budget for large ones
}

// close gives the memory back.
func (b *body) close() {
	b.intake.bodies.put(b.bytes)
	b.intake.budget.leave(b.held)
	b.bytes, b.held = nil, 0
}

// grow makes room for more, at most for one byte above the largest body: that one shows
// that there is too much.
func (b *body) grow(ctx context.Context, limit int64) error {
	size := min(max(2*int64(cap(b.bytes)), smallestBody), limit+1)
	if more := size - max(int64(cap(b.bytes)), freeBody); more > 0 {
		if err := b.intake.budget.enter(ctx, more); err != nil {
			return err
		}
		b.held += more
	}
	larger := append(b.intake.bodies.get(int(size)), b.bytes...)
	b.intake.bodies.put(b.bytes)
	b.bytes = larger
	return nil
}

// read reads src to its end. Of a body that says its length nothing is believed before it
// has come.
func (b *body) read(ctx context.Context, src io.Reader, limit int64) error {
	for {
		if len(b.bytes) == cap(b.bytes) {
			if err := b.grow(ctx, limit); err != nil {
				return err
			}
		}
		n, err := src.Read(b.bytes[len(b.bytes):min(int64(cap(b.bytes)), limit+1)])
		b.bytes = b.bytes[:len(b.bytes)+n]
		switch {
		case int64(len(b.bytes)) > limit:
			return errTooLarge
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// inflate reads what src holds. An error of src itself is returned as it is.
func (b *body) inflate(ctx context.Context, src io.Reader, limit int64) error {
	watched := &watchedReader{src: src}
	z, err := sources.NewGzipReader(watched)
	if err == nil {
		err = b.read(ctx, z, limit)
	}
	switch {
	case err == nil, errors.Is(err, errTooLarge), ctx.Err() != nil:
		return err
	case watched.err != nil:
		return watched.err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: the data ends too early", errInflate)
	}
	return fmt.Errorf("%w: %w", errInflate, err)
}

// watchedReader remembers how its source broke off.
type watchedReader struct {
	src io.Reader
	err error
}

func (r *watchedReader) Read(p []byte) (int, error) {
	n, err := r.src.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}
