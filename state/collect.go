package state

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// ErrCleanup is wrapped when a save counts but old generations could not be
// removed; the next save tries again.
var ErrCleanup = errors.New("old generations could not be removed")

// Beyond this many bytes of tree for every byte that lives, tables are rewritten.
const (
	garbageFactor = 2
	garbageSlack  = 8 << 20
)

// collect deletes every chunk that parts does not name and lets badger drop the
// deleted bytes, so that the directory does not grow with the number of saves.
func (s *Series) collect(parts map[string]Part) error {
	var dead [][]byte
	prefix := s.chunkPrefix()
	err := s.store.db.View(func(txn *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.PrefetchValues, o.Prefix = false, prefix
		it := txn.NewIterator(o)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if key := it.Item().Key(); !s.named(parts, key) {
				dead = append(dead, bytes.Clone(key))
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("list chunks: %w", err)
	}
	batch := s.store.db.NewWriteBatch()
	defer batch.Cancel()
	for _, key := range dead {
		if err := batch.Delete(key); err != nil {
			return fmt.Errorf("delete chunk: %w", err)
		}
	}
	if err := batch.Flush(); err != nil {
		return fmt.Errorf("delete chunks: %w", err)
	}
	return s.store.compact()
}

// named reports whether parts holds the chunk stored under key.
func (s *Series) named(parts map[string]Part, key []byte) bool {
	rest := key[len(s.chunkPrefix()):]
	if len(rest) < 8+1+1+4 {
		return false
	}
	generation := binary.BigEndian.Uint64(rest)
	p, ok := parts[string(rest[9:len(rest)-5])]
	return ok && p.Generation == generation && int(binary.BigEndian.Uint32(rest[len(rest)-4:])) < p.Chunks
}

// compact rewrites the tree when most of it is dead, and then the value log. On
// a disk that is about to be full it leaves both for another time.
func (s *Store) compact() error {
	if s.checkSpace() != nil {
		return nil
	}
	s.compacting.Lock()
	defer s.compacting.Unlock()
	live, err := s.liveBytes()
	if err != nil {
		return err
	}
	var tree int64
	for _, t := range s.db.Tables() {
		tree += int64(t.OnDiskSize)
	}
	if tree > garbageFactor*live+garbageSlack {
		if err := s.db.Flatten(1); err != nil {
			return fmt.Errorf("compact: %w", err)
		}
	}
	for {
		err := s.db.RunValueLogGC(0.5)
		switch {
		case errors.Is(err, badger.ErrNoRewrite), errors.Is(err, badger.ErrRejected):
			return nil
		case err != nil:
			return fmt.Errorf("collect value log: %w", err)
		}
	}
}

// liveBytes is the size of everything that has not been deleted.
func (s *Store) liveBytes() (int64, error) {
	var n int64
	err := s.db.View(func(txn *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.PrefetchValues = false
		it := txn.NewIterator(o)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			n += it.Item().EstimatedSize()
		}
		return nil
	})
	return n, err
}
