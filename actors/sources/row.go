package sources

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// rowVersion is the layout of rows.
const rowVersion = 1

// partBytes is how many bytes a row has at most, about. A longer value is cut into parts,
// which are rows of their own.
const partBytes = 256 << 10

// row is a value as it is stored.
type row struct {
	Version     int             `json:"v"`
	Fingerprint string          `json:"fingerprint"`
	UpdatedAt   int64           `json:"updated_at"` // Unix seconds
	Value       json.RawMessage `json:"value,omitempty"`
	Parts       *generation     `json:"parts,omitempty"` // that the value is cut into
}

// generation names the parts of a value, so that those of another value stand beside them.
type generation struct {
	Number uint64 `json:"generation"`
	Count  int    `json:"count"`
	Bytes  int    `json:"bytes"`
}

// keys are those of the parts. No id has a slash.
func (g generation) keys(id string) (all [][]byte) {
	for i := range g.Count {
		all = append(all, fmt.Appendf(nil, "%s/%016x/%08x", id, g.Number, i))
	}
	return all
}

// fulfil stores a row, or removes that of a source. Whenever the process ends, the row
// before is there or the new one.
func (r *rows) fulfil(id string, what *row) error {
	before := r.held[id]
	left := r.left[id]
	now := generation{Number: before.Number + uint64(len(left)) + 1} // never one that a head may name already
	head := []byte("{}")                                             // a deletion alone may be undone by a failure of the machine
	if what != nil {
		stored := *what
		if len(stored.Value) > partBytes {
			now.Count, now.Bytes = (len(stored.Value)+partBytes-1)/partBytes, len(stored.Value)
			for i, key := range now.keys(id) {
				if err := r.table.Put(key, stored.Value[i*partBytes:min((i+1)*partBytes, len(stored.Value))]); err != nil {
					if i > 0 { // else the next attempt writes over it
						r.left[id] = append(left, generation{Number: now.Number, Count: i + 1})
					}
					return err
				}
			}
			stored.Value, stored.Parts = nil, &now
		}
		var b bytes.Buffer
		to := json.NewEncoder(&b)
		to.SetEscapeHTML(false) // what comes back is what was fetched, byte for byte
		if err := to.Encode(&stored); err != nil {
			return fmt.Errorf("encode: %w", err)
		}
		head = bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
	}
	if err := r.table.Put([]byte(id), head); err != nil {
		if now.Count > 0 {
			r.left[id] = append(left, now)
		}
		return err
	}
	r.held[id] = now
	delete(r.left, id)
	gone := before.keys(id)
	for _, g := range left {
		gone = append(gone, g.keys(id)...)
	}
	if what == nil {
		gone = append(gone, []byte(id))
	}
	if len(gone) == 0 {
		return nil
	}
	return r.table.Delete(gone...)
}

// restore gives the values to a book that are stored of its sources, and removes those of
// sources that are declared otherwise or no more.
func (r *rows) restore(b *book) {
	if r.table == nil {
		return
	}
	var drop [][]byte
	heads := make(map[string]row)
	values := make(map[string]*bytes.Buffer) // of which parts are read
	err := r.table.Each(func(key, value []byte) bool {
		id, part, isPart := strings.Cut(string(key), "/")
		switch head := heads[id]; {
		case !isPart:
			if head, ok := r.read(b, id, value); ok {
				heads[id] = head
				if head.Parts != nil {
					values[id] = &bytes.Buffer{}
					r.held[id] = *head.Parts
				}
				return true
			}
		case head.Parts != nil && strings.HasPrefix(part, fmt.Sprintf("%016x/", head.Parts.Number)):
			values[id].Write(value) // parts come in order, and behind their head
			return true
		}
		drop = append(drop, slices.Clone(key))
		return true
	})
	if err != nil {
		r.log.Error("stored values of sources cannot be read: those that are missing are no fallback", "err", err)
	}
	var back []string
	for _, e := range b.entries {
		head, ok := heads[e.ID]
		if !ok {
			continue
		}
		value := []byte(head.Value)
		if head.Parts != nil {
			value = values[e.ID].Bytes()
		}
		if head.Parts != nil && (len(value) != head.Parts.Bytes || !json.Valid(value)) {
			r.log.Warn("the stored value of a source is not whole and is no fallback", "source", e.ID)
			continue
		}
		e.last, e.lastID, e.restored = value, identityOf(value), true
		back = append(back, e.ID)
	}
	if len(drop) > 0 {
		if err := r.table.Delete(drop...); err != nil {
			r.log.Warn("stored values of sources that are not declared so any more are not deleted", "rows", len(drop), "err", err)
		}
	}
	if len(back) > 0 {
		r.log.Info("values of sources restored", "sources", back)
	}
}

// read reads the row of a source. It is not ok if it is of another declaration.
func (r *rows) read(b *book, id string, text []byte) (head row, ok bool) {
	e := b.byID[id]
	ok = e != nil && json.Unmarshal(text, &head) == nil && head.Version == rowVersion && head.Fingerprint == e.Fingerprint() &&
		(len(head.Value) > 0) != (head.Parts != nil)
	return head, ok
}
