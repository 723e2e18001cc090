package state

import (
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// ErrSpace is wrapped when the disk is too full to write to.
var ErrSpace = errors.New("too little space is left on the disk")

// ErrClosed is wrapped when a table of a closed store is used.
var ErrClosed = badger.ErrDBClosed

// spareBytes is what has to be free on the disk for a write to begin: badger
// maps its files, and a mapped file that the disk has no room for ends the
// process instead of giving an error.
const spareBytes = 32 << 20

// checkSpace refuses to write when the disk is about to be full. A rewrite of the
// tables, which badger may begin after any write, has to find room, too.
func (s *Store) checkSpace() error {
	if s.closed.Load() {
		return badger.ErrDBClosed
	}
	need := int64(spareBytes)
	for _, t := range s.db.Tables() {
		need += int64(t.OnDiskSize)
	}
	return enough(s.free, s.dir, need)
}

func enough(free func(dir string) (int64, error), dir string, need int64) error {
	n, err := free(dir)
	if err != nil {
		return fmt.Errorf("space on the disk of %s: %w", dir, err)
	}
	if n < need {
		return fmt.Errorf("%w: %d MiB are free, %d MiB have to be", ErrSpace, n>>20, need>>20)
	}
	return nil
}
