package state

import (
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// compressionZstd is a part that is one Zstandard stream (RFC 8878).
const compressionZstd = "zstd"

// windowBytes is how far back a stream refers: what compressing and reading need
// memory for, twice or three times over.
const windowBytes = 256 << 10

// compress writes what write produces to w, compressed, one block after another and
// without goroutines of its own.
func compress(w io.Writer, write func(io.Writer) error) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(windowBytes))
	if err != nil {
		return err
	}
	if err := write(z); err != nil {
		return err
	}
	return z.Close()
}

// decompress gives read what the stream r holds.
func decompress(compression string, r io.Reader, read func(io.Reader) error) error {
	switch compression {
	case "":
		return read(r)
	case compressionZstd:
	default:
		return fmt.Errorf("%w: compression %q", ErrVersion, compression)
	}
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(windowBytes))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	defer z.Close()
	return read(z)
}
