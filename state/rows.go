package state

import (
	"bytes"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// Table holds rows by key, in key order. Rows are written when they change, not
// with a save.
type Table struct {
	store  *Store
	prefix []byte
}

// Table names a table of rows. Names are fixed by the callers and hold no slash.
func (s *Store) Table(name string) *Table {
	return &Table{store: s, prefix: []byte("r/" + name + "/")}
}

// Put stores a row durably before it returns: what was put survives the end of the
// process, however it comes. After an error the row may be there or not; one that wraps
// ErrSpace has written nothing.
func (t *Table) Put(key, value []byte) error {
	t.store.using.RLock()
	defer t.store.using.RUnlock()
	if err := t.store.checkSpace(); err != nil {
		return fmt.Errorf("put row: %w", err)
	}
	k := append(bytes.Clone(t.prefix), key...)
	if err := t.store.db.Update(func(txn *badger.Txn) error { return txn.Set(k, value) }); err != nil {
		return fmt.Errorf("put row: %w", err)
	}
	if err := t.store.sync(); err != nil {
		return fmt.Errorf("sync row: %w", err)
	}
	return nil
}

// Delete removes rows; missing ones are no error. A row that is deleted may be there
// again after the machine has failed.
func (t *Table) Delete(keys ...[]byte) error {
	t.store.using.RLock()
	defer t.store.using.RUnlock()
	if err := t.store.checkSpace(); err != nil {
		return fmt.Errorf("delete rows: %w", err)
	}
	batch := t.store.db.NewWriteBatch()
	defer batch.Cancel()
	for _, key := range keys {
		if err := batch.Delete(append(bytes.Clone(t.prefix), key...)); err != nil {
			return fmt.Errorf("delete rows: %w", err)
		}
	}
	if err := batch.Flush(); err != nil {
		return fmt.Errorf("delete rows: %w", err)
	}
	return nil
}

// Get returns a row, or an error that wraps ErrNone.
func (t *Table) Get(key []byte) ([]byte, error) {
	t.store.using.RLock()
	defer t.store.using.RUnlock()
	return t.store.get(append(bytes.Clone(t.prefix), key...))
}

// Each calls visit for all rows in key order, as they were when it began, until
// visit returns false. Both slices are valid until visit returns.
func (t *Table) Each(visit func(key, value []byte) bool) error {
	var failed error
	err := t.Walk(Forward, func(r Row) bool {
		more := true
		failed = r.item.Value(func(v []byte) error {
			more = visit(r.Key(), v)
			return nil
		})
		return more && failed == nil
	})
	if failed != nil {
		err = fmt.Errorf("read rows: %w", failed)
	}
	return err
}

// Order is the order in which Walk goes through a table.
type Order bool

// The orders of Walk: by key, ascending or descending.
const (
	Forward  Order = false
	Backward Order = true
)

// Row is where Walk has arrived. It is valid until visit returns.
type Row struct {
	item   *badger.Item
	prefix int
}

// Key is the key of the row. It is valid until visit returns.
func (r Row) Key() []byte { return r.item.Key()[r.prefix:] }

// Value reads the value of the row and returns a copy.
func (r Row) Value() ([]byte, error) { return r.item.ValueCopy(nil) }

// Walk calls visit for the rows in order, as they were when it began, until visit
// returns false. It reads keys only: a value is read when visit asks for it, so that
// passing over a row is cheap. visit must not use the table.
func (t *Table) Walk(o Order, visit func(Row) bool) error {
	t.store.using.RLock()
	defer t.store.using.RUnlock()
	if t.store.closed.Load() {
		return fmt.Errorf("read rows: %w", badger.ErrDBClosed)
	}
	err := t.store.db.View(func(txn *badger.Txn) error {
		options := badger.DefaultIteratorOptions
		options.Prefix, options.PrefetchValues, options.Reverse = t.prefix, false, bool(o)
		it := txn.NewIterator(options)
		defer it.Close()
		from := t.prefix
		if o == Backward {
			from = append(bytes.Clone(t.prefix[:len(t.prefix)-1]), '/'+1) // just behind the last key
		}
		for it.Seek(from); it.ValidForPrefix(t.prefix); it.Next() {
			if !visit(Row{it.Item(), len(t.prefix)}) {
				break
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read rows: %w", err)
	}
	return nil
}
