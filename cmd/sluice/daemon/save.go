package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/state"
)

// lastSaveTimeout bounds the save of the shutdown.
const lastSaveTimeout = 10 * time.Second

// view is a stage's state at one moment, as it exports it. It never changes.
type view interface {
	Revision() uint64
	Encode(w io.Writer, savedAt int64) error
}

// part is where a stage's state stands in a save.
type part struct {
	stage   graph.Stage
	name    string
	version int
}

// parts lists the stages that have state.
func parts() []part {
	return []part{{graph.StageCorrelate, "correlation", correlation.SnapshotVersion}}
}

// checkpointer writes the state of the stages to the database and gives it back at the
// start. Its methods are called one after another.
type checkpointer struct {
	store    *state.Store
	series   *state.Series
	interval time.Duration
	log      *slog.Logger
	cut      func(context.Context, *graph.Barrier) error
	current  func(exports map[graph.Stage]any, at time.Time) // told of every save that counts

	barriers  uint64
	revisions map[string]uint64 // of the parts this process wrote
	dropped   map[string]bool   // stored parts that the next save must not keep
	restores  bool              // what is stored comes back

	cancel context.CancelFunc
	done   chan struct{} // closed when run is over

	mu     sync.Mutex // guards closed, and others beginning with work
	closed bool
	others sync.WaitGroup // other users of the database
}

func newCheckpointer(store *state.Store, interval time.Duration, log *slog.Logger) *checkpointer {
	return &checkpointer{
		store: store, series: store.Series("save"), interval: interval, log: log,
		revisions: make(map[string]uint64), dropped: make(map[string]bool), done: make(chan struct{}),
	}
}

// start begins to save, an interval from now for the first time.
func (k *checkpointer) start(cut func(context.Context, *graph.Barrier) error, current func(map[graph.Stage]any, time.Time)) {
	k.cut, k.current = cut, current
	ctx, cancel := context.WithCancel(context.Background())
	k.cancel = cancel
	go k.run(ctx)
}

// quit ends the saving by interval; a save under way is given up. It does not
// wait for either.
func (k *checkpointer) quit() {
	if k.cancel != nil {
		k.cancel()
	}
}

// run saves every interval. An interval that ends during a save is skipped.
func (k *checkpointer) run(ctx context.Context) {
	defer close(k.done)
	for tick := time.NewTicker(k.interval); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		if err := k.save(ctx); err != nil && ctx.Err() == nil {
			k.log.Warn("state not saved", "err", err)
		}
		select {
		case <-tick.C:
		default:
		}
	}
}

// save cuts the stream by a barrier and saves what the stages were when it
// passed. The save counts once everything before the barrier has ended.
func (k *checkpointer) save(ctx context.Context) error {
	k.barriers++
	b := graph.NewBarrier(k.barriers)
	if err := k.cut(ctx, b); err != nil {
		return err
	}
	select {
	case <-b.Passed():
	case <-ctx.Done():
		return ctx.Err()
	}
	return k.write(ctx, b.Exports(), b.Released())
}

// last saves the final exports of the drain. No input of this build delivers
// again what the drain left unsettled, so the save always counts.
func (k *checkpointer) last(ctx context.Context, drained []actors.Drained) error {
	exports := make(map[graph.Stage]any)
	for _, d := range drained {
		if d.Export != nil {
			exports[graph.Stage(d.Actor)] = d.Export
		}
	}
	return k.write(ctx, exports, nil)
}

// write saves views and makes the save current when released is closed; nil is
// as good as closed. Without that the save before stays current.
func (k *checkpointer) write(ctx context.Context, exports map[graph.Stage]any, released <-chan struct{}) error {
	now := time.Now()
	s, err := k.series.Begin()
	if err != nil {
		return err
	}
	written, err := k.writeParts(ctx, s, exports, now)
	if err == nil && released != nil {
		select {
		case <-released:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err == nil {
		err = s.Commit(now.Unix(), nil)
	}
	switch {
	case errors.Is(err, state.ErrCleanup):
		k.log.Warn("state saved", "err", err)
	case err != nil:
		return errors.Join(err, s.Discard())
	}
	for name, revision := range written {
		k.revisions[name] = revision
	}
	clear(k.dropped)
	if k.current != nil {
		k.current(exports, now)
	}
	k.log.Debug("state saved", "parts_written", len(written), "took", time.Since(now))
	return nil
}

// writeParts writes what changed since it was last written and keeps the rest.
// It returns the revisions of what it wrote.
func (k *checkpointer) writeParts(ctx context.Context, s *state.Save, exports map[graph.Stage]any, now time.Time) (map[string]uint64, error) {
	written := make(map[string]uint64)
	for _, p := range parts() {
		v := worth(exports[p.stage])
		if v == nil {
			if !k.dropped[p.name] {
				s.Keep(p.name)
			}
			continue
		}
		if was, ok := k.revisions[p.name]; ok && was == v.Revision() && s.Keep(p.name) {
			continue
		}
		var size int64
		err := s.WriteCompressed(p.name, p.version, func(w io.Writer) error {
			return v.Encode(cancellable{ctx, w, &size}, now.Unix())
		})
		if err != nil {
			return nil, fmt.Errorf("%w (after %d bytes)", err, size)
		}
		written[p.name] = v.Revision()
	}
	return written, nil
}

// worth returns an export that is to be written. A rule set without correlations
// leaves what is stored of them alone.
func worth(export any) view {
	if v, ok := export.(*correlation.View); ok && v.Correlations() == 0 {
		return nil
	}
	v, _ := export.(view)
	return v
}

// background runs work that uses the database, unless it is being closed.
func (k *checkpointer) background(work func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closed {
		k.others.Go(work)
	}
}

// cancellable counts what is written and fails writes once its context is done.
type cancellable struct {
	ctx  context.Context
	w    io.Writer
	size *int64
}

func (c cancellable) Write(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.w.Write(b)
	*c.size += int64(n)
	return n, err
}

// close saves what the drain exported, when there was one, and closes the
// database, all within ten seconds.
func (k *checkpointer) close(drained []actors.Drained) error {
	k.quit()
	ctx, cancel := context.WithTimeout(context.Background(), lastSaveTimeout)
	defer cancel()
	result := make(chan error, 1)
	go func() {
		if k.cancel != nil {
			<-k.done
		}
		var err error
		if drained != nil {
			if err = k.last(ctx, drained); err != nil {
				err = fmt.Errorf("save state: %w", err)
			}
		}
		k.mu.Lock()
		k.closed = true
		k.mu.Unlock()
		k.others.Wait()
		result <- errors.Join(err, k.store.Close())
	}()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return fmt.Errorf("save state: %w", ctx.Err())
	}
}
