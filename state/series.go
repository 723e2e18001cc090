package state

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// HeadVersion is the version of heads that this build writes and reads.
const HeadVersion = 1

// Errors of reading a series. ErrVersion is for heads of another version.
var (
	ErrNone    = errors.New("nothing is stored")
	ErrCorrupt = errors.New("stored data is damaged")
	ErrVersion = errors.New("stored data has another version")
)

// Part describes one stored part. Its chunks stand under Generation. Bytes and
// SHA256 are of the chunks as they are stored.
type Part struct {
	Version     int    `json:"version"`
	Generation  uint64 `json:"generation"`
	Chunks      int    `json:"chunks"`
	Bytes       int64  `json:"bytes"`
	SHA256      string `json:"sha256"`
	Compression string `json:"compression,omitempty"`
}

// Head makes a save current.
type Head struct {
	Version  int             `json:"version"`
	SavedAt  int64           `json:"saved_at"` // Unix seconds
	Position *Position       `json:"position,omitempty"`
	Others   []Position      `json:"positions,omitempty"` // of further streams
	Covered  []Covered       `json:"covered,omitempty"`
	Parts    map[string]Part `json:"parts"`
}

// Series is a sequence of saves of which one is current.
type Series struct {
	store *Store
	name  string
}

// Series names a sequence of saves. Names are fixed by the callers and hold no
// slash.
func (s *Store) Series(name string) *Series { return &Series{store: s, name: name} }

// Head returns the head of the current save, or an error that wraps ErrNone,
// ErrVersion or ErrCorrupt.
func (s *Series) Head() (Head, error) {
	raw, err := s.store.get(s.headKey())
	if err != nil {
		return Head{}, fmt.Errorf("read head of %s: %w", s.name, err)
	}
	var h Head
	if err := json.Unmarshal(raw, &h); err != nil {
		return Head{}, fmt.Errorf("read head of %s: %w: %w", s.name, ErrCorrupt, err)
	}
	if h.Version != HeadVersion {
		return Head{}, fmt.Errorf("read head of %s: %w: %d, this build writes %d", s.name, ErrVersion, h.Version, HeadVersion)
	}
	return h, nil
}

func (s *Store) get(key []byte) ([]byte, error) {
	var out []byte
	err := s.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get(key)
		if errors.Is(err, badger.ErrKeyNotFound) {
			return ErrNone
		}
		if err != nil {
			return err
		}
		out, err = item.ValueCopy(nil)
		return err
	})
	return out, err
}

func (s *Series) headKey() []byte { return []byte("h/" + s.name) }

func (s *Series) chunkPrefix() []byte { return []byte("g/" + s.name + "/") }

func (s *Series) generationPrefix(generation uint64) []byte {
	return append(binary.BigEndian.AppendUint64(s.chunkPrefix(), generation), '/')
}

func (s *Series) chunkKey(generation uint64, part string, chunk int) []byte {
	k := append(s.generationPrefix(generation), part...)
	return binary.BigEndian.AppendUint32(append(k, '/'), uint32(chunk))
}

func (s *Series) quarantineKey(part string, chunk int) []byte {
	return binary.BigEndian.AppendUint32([]byte("q/"+s.name+"/"+part+"/"), uint32(chunk))
}

// lastGeneration finds the highest generation of which anything is left, also
// of saves that never became current.
func (s *Series) lastGeneration() (uint64, error) {
	var last uint64
	prefix := s.chunkPrefix()
	err := s.store.db.View(func(txn *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.PrefetchValues, o.Reverse, o.Prefix = false, true, prefix
		it := txn.NewIterator(o)
		defer it.Close()
		it.Seek(append(append([]byte(nil), prefix...), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff))
		if it.ValidForPrefix(prefix) {
			last = binary.BigEndian.Uint64(it.Item().Key()[len(prefix):])
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("find last generation of %s: %w", s.name, err)
	}
	if h, err := s.Head(); err == nil {
		for _, p := range h.Parts {
			last = max(last, p.Generation)
		}
	}
	return last, nil
}
