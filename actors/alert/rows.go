package alert

import (
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert/silence"
	"github.com/sluicehq/sluice/state"
)

// Table holds rows by key, in key order. What was put or deleted stays so when the process
// is killed. After an error of Put that wraps state.ErrSpace the row is not there, after
// others it may be. *state.Table is one.
type Table interface {
	Put(key, value []byte) error
	Delete(keys ...[]byte) error
	Each(visit func(key, value []byte) bool) error
}

// rows are the silences that are stored, in the order in which they were made. Whoever
// changes them enters first and leaves behind what belongs together; without a table that
// is all they do.
type rows struct {
	table Table // nil without a state database
	log   *slog.Logger
	busy  chan struct{} // holds something while somebody has entered

	// Of whoever has entered.
	ids    graph.DeliveryIDs
	last   uint64            // number of the last row
	number map[string]uint64 // of the rows that there are, by id of the silence

	ctx     context.Context // of the goroutine that deletes what has expired
	cancel  context.CancelFunc
	mu      sync.Mutex      // guards the rest
	expired map[string]bool // ids
	working bool
	work    sync.WaitGroup
}

func newRows(t Table, log *slog.Logger) *rows {
	r := &rows{table: t, log: log, busy: make(chan struct{}, 1), number: make(map[string]uint64), expired: make(map[string]bool)}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// enter waits for its turn, until ctx ends.
func (r *rows) enter(ctx context.Context) bool {
	select {
	case r.busy <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (r *rows) leave() { <-r.busy }

func (r *rows) newID() string { return r.ids.Next().UUID() }

func rowKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// put stores a silence. After an error it is not there, as far as the table can be told.
func (r *rows) put(x *silence.Silence) error {
	if r.table == nil {
		return nil
	}
	r.last++
	r.number[x.ID] = r.last
	err := r.table.Put(rowKey(r.last), x.Row())
	if err == nil {
		return nil
	}
	r.log.Warn("silence not made, it cannot be stored", "err", err)
	if errors.Is(err, state.ErrSpace) { // nothing was written
		delete(r.number, x.ID)
	} else {
		r.takeBack(x.ID)
	}
	return err
}

// remove deletes the row of a silence, if it is stored. putBack stores it again, in its
// place, when the silence is not removed after all.
func (r *rows) remove(x *silence.Silence) (putBack func(), err error) {
	n, stored := r.number[x.ID]
	if !stored || x.Origin != silence.API {
		return func() {}, nil
	}
	if err := r.table.Delete(rowKey(n)); err != nil {
		r.log.Warn("silence not deleted, its row cannot be", "id", x.ID, "err", err)
		return nil, err
	}
	delete(r.number, x.ID)
	return func() {
		r.number[x.ID] = n
		if err := r.table.Put(rowKey(n), x.Row()); err != nil {
			r.log.Error("a silence that was not deleted is stored no more: it ends with this run", "id", x.ID, "err", err)
		}
	}, nil
}

// takeBack deletes the row of a silence that was not made after all.
func (r *rows) takeBack(id string) {
	n, ok := r.number[id]
	if !ok {
		return
	}
	delete(r.number, id)
	if err := r.table.Delete(rowKey(n)); err != nil {
		r.log.Warn("a silence that was refused may be stored all the same: if it is there after a restart, delete it", "id", id, "err", err)
	}
}

// restore returns the silences that are stored, in the order in which they were made. Rows of
// expired ones are deleted; with clear all are.
func (r *rows) restore(clear bool, now int64) (all []*silence.Silence) {
	if r.table == nil {
		return nil
	}
	var drop [][]byte
	err := r.table.Each(func(key, value []byte) bool {
		if len(key) == 8 {
			r.last = max(r.last, binary.BigEndian.Uint64(key))
		}
		if clear {
			drop = append(drop, slices.Clone(key))
			return true
		}
		x, err := silence.FromRow(value)
		switch {
		case err != nil:
			r.log.Warn("a stored silence cannot be used, it stays stored", "err", err)
		case x.State(now) == silence.Expired:
			drop = append(drop, slices.Clone(key))
		case len(key) == 8:
			all = append(all, x)
			r.number[x.ID] = binary.BigEndian.Uint64(key)
		}
		return true
	})
	if err != nil {
		r.log.Error("stored silences cannot be read: those that are missing mute nothing", "err", err)
	}
	if len(drop) > 0 {
		if err := r.table.Delete(drop...); err != nil {
			r.log.Warn("rows of silences are not deleted", "rows", len(drop), "err", err)
		}
	}
	if len(all) > 0 {
		r.log.Info("silences restored", "silences", len(all))
	}
	return all
}

// forget has the rows of silences deleted that have expired. It does not wait. Rows that
// cannot be deleted are deleted by the next start.
func (r *rows) forget(ids map[string]bool) {
	if r.table == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.Copy(r.expired, ids)
	if !r.working && r.ctx.Err() == nil {
		r.working = true
		r.work.Go(r.clean)
	}
}

// clean deletes rows until none has to be.
func (r *rows) clean() {
	for {
		entered := r.enter(r.ctx)
		r.mu.Lock()
		ids := r.expired
		r.expired = make(map[string]bool)
		if !entered || len(ids) == 0 {
			r.working = false
			r.mu.Unlock()
			if entered {
				r.leave()
			}
			return
		}
		r.mu.Unlock()
		var keys [][]byte
		for id := range ids {
			if n, ok := r.number[id]; ok {
				delete(r.number, id)
				keys = append(keys, rowKey(n))
			}
		}
		if len(keys) > 0 {
			if err := r.table.Delete(keys...); err != nil && r.ctx.Err() == nil {
				r.log.Warn("rows of expired silences are not deleted before the next start", "rows", len(keys), "err", err)
			}
		}
		r.leave()
	}
}

// close waits for what is being deleted.
func (r *rows) close() error {
	r.cancel()
	r.work.Wait()
	return nil
}
