package state

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/dgraph-io/badger/v4"
)

// maxGrow is how much memory a head is believed to need before its chunks are
// seen.
const maxGrow = 64 << 20

// Whole returns a part of the current save that fits into memory, in one pass.
// The checksum is verified. Errors are those of Read; a compressed part is for Read
// only.
func (s *Series) Whole(part string) (content string, version int, err error) {
	h, err := s.Head()
	if err != nil {
		return "", 0, err
	}
	p, ok := h.Parts[part]
	if !ok {
		return "", 0, fmt.Errorf("read part %s: %w", part, ErrNone)
	}
	if p.Compression != "" {
		return "", 0, fmt.Errorf("read part %s: %w: compressed", part, ErrVersion)
	}
	var b strings.Builder
	b.Grow(int(min(max(p.Bytes, 0), maxGrow)))
	sum := sha256.New()
	err = s.store.db.View(func(txn *badger.Txn) error {
		for i := range p.Chunks {
			item, err := txn.Get(s.chunkKey(p.Generation, part, i))
			if errors.Is(err, badger.ErrKeyNotFound) {
				return fmt.Errorf("chunk %d of %d is missing", i, p.Chunks)
			}
			if err != nil {
				return fmt.Errorf("chunk %d: %w", i, err)
			}
			err = item.Value(func(chunk []byte) error {
				sum.Write(chunk)
				b.Write(chunk)
				return nil
			})
			if err != nil {
				return fmt.Errorf("chunk %d: %w", i, err)
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return "", 0, fmt.Errorf("read part %s: %w: %w", part, ErrCorrupt, err)
	case int64(b.Len()) != p.Bytes || hex.EncodeToString(sum.Sum(nil)) != p.SHA256:
		return "", 0, fmt.Errorf("read part %s: %w: checksum", part, ErrCorrupt)
	}
	return b.String(), p.Version, nil
}
