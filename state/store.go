package state

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// ErrLocked is wrapped by Open when another process holds the directory.
var ErrLocked = errors.New("state directory is in use by another process")

// Store is an open state directory.
type Store struct {
	db   *badger.DB
	dir  string
	free func(dir string) (int64, error) // bytes left on the disk
	sync func() error                    // makes what was written durable

	using      sync.RWMutex // held for reading by whoever uses a table, and by Close
	compacting sync.Mutex   // series are cleaned up one at a time
	closed     atomic.Bool
}

// Sizes chosen so that an idle directory stays small: badger maps files of
// twice these sizes whatever they hold.
const (
	memTableBytes = 4 << 20
	valueLogBytes = 2 << 20
	chunkBytes    = 256 << 10
)

// halfMade is in the error about a log file without content, which a process
// leaves that is killed between making and sizing it. badger sizes the file and
// gives up, but only once.
const halfMade = "Create a new file"

// Open opens the directory, creating it with mode 0700 when it is missing. The
// directory is locked until Close; a second process gets an error that wraps
// ErrLocked, one that finds the disk full an error that wraps ErrSpace, and one
// that finds files it cannot use an error that wraps ErrDamaged.
func Open(dir string, log *slog.Logger) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create state directory: %w", err)
	}
	if err := enough(freeBytes, dir, spareBytes); err != nil {
		return nil, fmt.Errorf("open state directory %s: %w", dir, err)
	}
	o := badger.DefaultOptions(dir).
		WithLogger(logger{log}).
		WithMemTableSize(memTableBytes).
		WithNumMemtables(2).
		WithValueThreshold(300 << 10). // chunks live in the tree, where compaction drops them
		WithValueLogFileSize(valueLogBytes).
		WithBlockCacheSize(0). // blocks are mapped, and read once: badger warns of caches that do not help
		WithIndexCacheSize(0).
		WithBaseTableSize(2 << 20).
		WithBaseLevelSize(16 << 20).
		WithNumLevelZeroTables(2).
		WithNumLevelZeroTablesStall(8).
		WithNumCompactors(2).
		WithCompression(options.None). // the stream needs the processor more than the disk its room
		WithCompactL0OnClose(true).
		WithMetricsEnabled(false)
	if err := examine(dir, o, log); err != nil {
		return nil, fmt.Errorf("open state directory %s: %w", dir, err)
	}
	db, err := badger.Open(o)
	if err != nil && strings.Contains(err.Error(), halfMade) {
		db, err = badger.Open(o)
	}
	switch {
	case err == nil:
	case strings.Contains(err.Error(), "Cannot acquire directory lock"):
		return nil, fmt.Errorf("open state directory %s: %w", dir, ErrLocked)
	case scarce(err):
		return nil, fmt.Errorf("open state directory %s: %w", dir, err)
	default:
		return nil, fmt.Errorf("open state directory %s: %w: %w", dir, ErrDamaged, err)
	}
	return &Store{db: db, dir: dir, free: freeBytes, sync: db.Sync}, nil
}

// Close flushes and unlocks the directory. On a full disk it leaves the
// directory as a crash would, which loses nothing, and locked for as long as the
// process lives; the error then wraps ErrSpace. It waits for the tables that are
// in use at the moment, which get errors from then on. Closing again does nothing.
func (s *Store) Close() error {
	s.using.Lock()
	defer s.using.Unlock()
	if err := s.checkSpace(); err != nil && !errors.Is(err, badger.ErrDBClosed) {
		return fmt.Errorf("close state directory: %w", err)
	}
	if !s.closed.CompareAndSwap(false, true) {
		return nil
	}
	return s.db.Close()
}

// logger hands badger's messages on; what it calls info is debug to us.
type logger struct{ log *slog.Logger }

func (l logger) Errorf(f string, a ...any) {
	l.log.Error("state store", "detail", strings.TrimSpace(fmt.Sprintf(f, a...)))
}

func (l logger) Warningf(f string, a ...any) {
	l.log.Warn("state store", "detail", strings.TrimSpace(fmt.Sprintf(f, a...)))
}

func (l logger) Infof(f string, a ...any) {
	l.log.Debug("state store", "detail", strings.TrimSpace(fmt.Sprintf(f, a...)))
}
func (l logger) Debugf(string, ...any) {}
