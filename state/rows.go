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

// Put stores a row durably before it returns.
func (t *Table) Put(key, value []byte) error {
	if err := t.store.room(); err != nil {
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

// Delete removes a row; a missing one is no error.
func (t *Table) Delete(key []byte) error {
	k := append(bytes.Clone(t.prefix), key...)
	if err := t.store.db.Update(func(txn *badger.Txn) error { return txn.Delete(k) }); err != nil {
		return fmt.Errorf("delete row: %w", err)
	}
	return nil
}

// Get returns a row, or an error that wraps ErrNone.
func (t *Table) Get(key []byte) ([]byte, error) {
	return t.store.get(append(bytes.Clone(t.prefix), key...))
}

// Each calls visit for all rows in key order, as they were when it began, until
// visit returns false. Both slices are valid until visit returns.
func (t *Table) Each(visit func(key, value []byte) bool) error {
	err := t.store.db.View(func(txn *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.Prefix = t.prefix
		it := txn.NewIterator(o)
		defer it.Close()
		more := true
		for it.Rewind(); more && it.Valid(); it.Next() {
			err := it.Item().Value(func(v []byte) error {
				more = visit(it.Item().Key()[len(t.prefix):], v)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read rows: %w", err)
	}
	return nil
}
