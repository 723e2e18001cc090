package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/dgraph-io/badger/v4"
)

// Read gives a part of the current save to read, as a stream. The checksum is
// verified before read is called, so what read sees is what was written.
// The error wraps ErrNone for a part the save does not have, ErrCorrupt for missing
// chunks or a wrong checksum, and ErrVersion for a compression of another build.
func (s *Series) Read(part string, read func(version int, r io.Reader) error) error {
	h, err := s.Head()
	if err != nil {
		return err
	}
	p, ok := h.Parts[part]
	if !ok {
		return fmt.Errorf("read part %s: %w", part, ErrNone)
	}
	sum := sha256.New()
	n, err := io.Copy(sum, s.reader(part, p))
	switch {
	case err != nil:
		return fmt.Errorf("read part %s: %w", part, err)
	case n != p.Bytes || hex.EncodeToString(sum.Sum(nil)) != p.SHA256:
		return fmt.Errorf("read part %s: %w: checksum", part, ErrCorrupt)
	}
	return decompress(p.Compression, s.reader(part, p), func(r io.Reader) error { return read(p.Version, r) })
}

func (s *Series) reader(part string, p Part) io.Reader {
	return &chunkReader{series: s, part: part, info: p}
}

// chunkReader holds one chunk at a time.
type chunkReader struct {
	series *Series
	part   string
	info   Part
	next   int
	chunk  bytes.Reader
}

func (r *chunkReader) Read(b []byte) (int, error) {
	for r.chunk.Len() == 0 {
		if r.next == r.info.Chunks {
			return 0, io.EOF
		}
		raw, err := r.series.store.get(r.series.chunkKey(r.info.Generation, r.part, r.next))
		if errors.Is(err, ErrNone) {
			return 0, fmt.Errorf("%w: chunk %d of %d is missing", ErrCorrupt, r.next, r.info.Chunks)
		}
		if err != nil {
			return 0, fmt.Errorf("%w: chunk %d: %w", ErrCorrupt, r.next, err)
		}
		r.next++
		r.chunk.Reset(raw)
	}
	return r.chunk.Read(b)
}

// Quarantine moves a part that cannot be used aside, where the next save does
// not overwrite it and nothing reads it. A part that was set aside before is
// replaced.
func (s *Series) Quarantine(part string) error {
	h, err := s.Head()
	if err != nil {
		return err
	}
	p, ok := h.Parts[part]
	if !ok {
		return nil
	}
	for i := range p.Chunks {
		raw, err := s.store.get(s.chunkKey(p.Generation, part, i))
		if err != nil {
			continue // what cannot be read cannot be kept
		}
		if err := s.store.db.Update(func(txn *badger.Txn) error { return txn.Set(s.quarantineKey(part, i), raw) }); err != nil {
			return fmt.Errorf("set part %s aside: %w", part, err)
		}
	}
	return nil
}

// VersionError says that a part was written by a build that writes it otherwise.
type VersionError struct{ Stored, Known int }

func (e *VersionError) Error() string {
	return fmt.Sprintf("stored version is %d, this build knows %d", e.Stored, e.Known)
}
