package state

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"runtime"

	"github.com/dgraph-io/badger/v4"
)

// Save is a save under way: write or keep its parts, then Commit. Without
// Commit it never counts, and Discard removes what it wrote.
type Save struct {
	series     *Series
	generation uint64
	previous   Head
	parts      map[string]Part
	covered    []Covered
}

// Begin starts a save. The parts of the current one stay readable until Commit.
func (s *Series) Begin() (*Save, error) {
	previous, err := s.Head()
	if err != nil && !errors.Is(err, ErrNone) && !errors.Is(err, ErrVersion) && !errors.Is(err, ErrCorrupt) {
		return nil, err
	}
	last, err := s.lastGeneration()
	if err != nil {
		return nil, err
	}
	return &Save{series: s, generation: last + 1, previous: previous, parts: map[string]Part{}}, nil
}

// Keep lets the new head name the part of the current save, unchanged. It
// reports whether there is one.
func (v *Save) Keep(part string) bool {
	p, ok := v.previous.Parts[part]
	if ok {
		v.parts[part] = p
	}
	return ok
}

// Cover has the new head name what the save covers; without it the head names nothing.
func (v *Save) Cover(covered []Covered) { v.covered = covered }

// Write stores a part as write produces it, in chunks, so that a part is never
// in memory as a whole. Between two pieces that write produces it lets others run:
// a save has time, and what waits for the processor meanwhile does not. The part
// belongs to the save only when Write succeeds.
func (v *Save) Write(part string, version int, write func(io.Writer) error) error {
	return v.write(part, version, "", write)
}

// WriteCompressed is Write for a part that is written often and read seldom: badger
// copies what it is given three times, to its log, its tables and its next level,
// and does none of it in pieces. Reading gives what was written.
func (v *Save) WriteCompressed(part string, version int, write func(io.Writer) error) error {
	return v.write(part, version, compressionZstd, func(w io.Writer) error { return compress(w, write) })
}

func (v *Save) write(part string, version int, compression string, write func(io.Writer) error) error {
	w := &chunkWriter{save: v, part: part, sum: sha256.New(), buf: make([]byte, 0, chunkBytes)}
	err := write(w)
	if err == nil {
		err = w.flush()
	}
	if err != nil {
		return fmt.Errorf("write part %s: %w", part, err)
	}
	v.parts[part] = Part{
		Version: version, Generation: v.generation, Chunks: w.chunks, Bytes: w.bytes,
		SHA256: hex.EncodeToString(w.sum.Sum(nil)), Compression: compression,
	}
	return nil
}

// Commit makes the save current and drops the generations no head names.
// savedAt is in Unix seconds. The head names the positions, and none of the save before.
// An error of the clean-up alone wraps ErrCleanup: the save counts.
func (v *Save) Commit(savedAt int64, positions ...Position) error {
	st := v.series.store
	if err := st.checkSpace(); err != nil {
		return fmt.Errorf("write head: %w", err)
	}
	if err := st.sync(); err != nil {
		return fmt.Errorf("sync chunks: %w", err)
	}
	head := Head{Version: HeadVersion, SavedAt: savedAt, Covered: v.covered, Parts: v.parts}
	head.setPositions(positions)
	raw, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("encode head: %w", err)
	}
	if err := st.db.Update(func(txn *badger.Txn) error { return txn.Set(v.series.headKey(), raw) }); err != nil {
		return fmt.Errorf("write head: %w", err)
	}
	if err := st.sync(); err != nil {
		return fmt.Errorf("sync head: %w", err)
	}
	if err := v.series.collect(v.parts); err != nil {
		return fmt.Errorf("%w: %w", ErrCleanup, err)
	}
	return nil
}

// Discard removes what the save wrote. The current save stays as it is. On a
// disk without any room it leaves that to the next save: a mark of deletion takes
// room, too.
func (v *Save) Discard() error {
	st := v.series.store
	if err := enough(st.free, st.dir, spareBytes/2); err != nil {
		return nil
	}
	return v.series.collect(v.previous.Parts)
}

// chunkWriter cuts what is written to it into chunks of one part.
type chunkWriter struct {
	save   *Save
	part   string
	sum    hash.Hash
	buf    []byte
	chunks int
	bytes  int64
}

// Write never keeps b.
func (w *chunkWriter) Write(b []byte) (int, error) {
	runtime.Gosched()
	n := len(b)
	w.sum.Write(b)
	w.bytes += int64(n)
	for len(b) > 0 {
		free := min(cap(w.buf)-len(w.buf), len(b))
		w.buf = append(w.buf, b[:free]...)
		b = b[free:]
		if len(w.buf) == cap(w.buf) {
			if err := w.flush(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

func (w *chunkWriter) flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	s := w.save.series
	if err := s.store.checkSpace(); err != nil {
		return err
	}
	key := s.chunkKey(w.save.generation, w.part, w.chunks)
	// badger keeps the value until the transaction is through, which Update awaits.
	if err := s.store.db.Update(func(txn *badger.Txn) error { return txn.Set(key, w.buf) }); err != nil {
		return err
	}
	w.chunks++
	w.buf = w.buf[:0]
	return nil
}
