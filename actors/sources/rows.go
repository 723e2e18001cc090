package sources

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sluicehq/sluice/internal/await"
	"github.com/sluicehq/sluice/sources/fetch"
)

// Table holds rows by key, in key order. What was put stays so when the process is killed.
// *state.Table is one.
type Table interface {
	Put(key, value []byte) error
	Delete(keys ...[]byte) error
	Each(visit func(key, value []byte) bool) error
}

// TableName is the name of the table in the state database.
const TableName = "source_cache"

// rows are the values that are stored. They are written beside the actor, of each source
// the newest.
type rows struct {
	table Table // nil without a state database
	log   *slog.Logger

	mu      sync.Mutex // guards the rest
	writes  map[string]*pendingWrite
	order   []string        // of the writes
	owed    map[string]*row // that could not be written
	writing bool
	closed  bool
	work    sync.WaitGroup

	// Of the goroutine that writes.
	held map[string]generation
	left map[string][]generation // that failed writes have left parts of
}

// pendingWrite is what is to be stored of a source.
type pendingWrite struct {
	row  *row // nil: nothing; its value is there
	told []chan<- error
}

func newRows(t Table, log *slog.Logger) *rows {
	return &rows{table: t, log: log, writes: make(map[string]*pendingWrite), owed: make(map[string]*row), held: make(map[string]generation), left: make(map[string][]generation)}
}

// store has a value stored. It does not wait.
func (r *rows) store(d *fetch.Declaration, value []byte, at time.Time) {
	r.enqueue(d.ID, &row{Version: rowVersion, Fingerprint: d.Fingerprint(), UpdatedAt: at.Unix(), Value: value}, nil)
}

// errEnded is a row that is not removed since nothing is stored any more.
var errEnded = errors.New("nothing is stored any more")

// drop has the row of a source removed. told, which has room for it, receives how that went.
func (r *rows) drop(id string, told chan<- error) {
	if r.table == nil {
		told <- nil
		return
	}
	r.enqueue(id, nil, told)
}

func (r *rows) enqueue(id string, what *row, told chan<- error) {
	if r.table == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		if told != nil {
			told <- errEnded
		}
		return
	}
	r.add(id, what, told)
	if !r.writing {
		r.writing = true
		r.work.Go(r.write)
	}
}

// add has something written after what is pending. It takes the place of what is pending
// or owed of the source. r.mu is held.
func (r *rows) add(id string, what *row, told chan<- error) {
	delete(r.owed, id)
	w := r.writes[id]
	if w == nil {
		w = &pendingWrite{}
		r.writes[id] = w
		r.order = append(r.order, id)
	}
	w.row = what
	if told != nil {
		w.told = append(w.told, told)
	}
}

// again has a value stored that could not be. It does not wait.
func (r *rows) again(id string) {
	r.mu.Lock()
	owed := r.owed[id]
	r.mu.Unlock()
	if owed != nil { // nobody but the actor stores anything newer
		r.enqueue(id, owed, nil)
	}
}

// write does what is pending until there is nothing.
func (r *rows) write() {
	for {
		r.mu.Lock()
		if len(r.order) == 0 {
			r.writing = false
			r.mu.Unlock()
			return
		}
		id := r.order[0]
		r.order = r.order[1:]
		w := r.writes[id]
		delete(r.writes, id)
		r.mu.Unlock()
		err := r.fulfil(id, w.row)
		if err != nil {
			r.log.Warn("the last value of a source is not stored as it is", "source", id, "err", err)
		}
		r.ended(id, w.row, err)
		for _, c := range w.told {
			c <- err
		}
	}
}

// ended notes what came of a write. A value that could not be written is owed: until the
// next fetch of its source, or until another write shows that writing is possible again.
func (r *rows) ended(id string, what *row, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		if what != nil && r.writes[id] == nil {
			r.owed[id] = what
		}
		return
	}
	r.addOwed()
}

// addOwed has everything written that is owed. r.mu is held.
func (r *rows) addOwed() {
	for _, id := range slices.Sorted(maps.Keys(r.owed)) {
		r.add(id, r.owed[id], nil)
	}
}

// close waits until everything is written, until ctx ends at most. What is owed is tried
// once more. Nothing is stored after it.
func (r *rows) close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	if r.addOwed(); len(r.order) > 0 && !r.writing {
		r.writing = true
		r.work.Go(r.write)
	}
	r.mu.Unlock()
	done := make(chan struct{})
	go func() { r.work.Wait(); close(done) }()
	if !await.Done(ctx, done, 0) {
		return fmt.Errorf("store values of sources: %w", ctx.Err())
	}
	return nil
}
