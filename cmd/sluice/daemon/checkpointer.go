package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/await"
	"github.com/sluicehq/sluice/internal/plural"
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/state"
)

// lastTimeout bounds the checkpoint of the shutdown.
const lastTimeout = 10 * time.Second

// checkpointer writes the state of the stages to the database and gives it back at the
// start. Its methods are called one after another.
type checkpointer struct {
	store    *state.Store
	series   *state.Series
	interval time.Duration
	log      *slog.Logger
	parts    []actors.SavedPart
	inputs   []sources.Positions // that can deliver again
	cut      func(context.Context, *graph.Barrier) error
	current  func(exports map[graph.Stage]any, at time.Time) // told of every checkpoint that counts

	barriers  uint64
	revisions map[string]uint64 // of the parts this process wrote
	dropped   map[string]bool   // stored parts that the next checkpoint must not keep
	restores  bool              // what is stored comes back
	clears    bool              // what is stored is dropped
	positions []state.Position  // that are stored
	covered   []state.Covered   // by the state that came back

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

// follow has checkpoints name the positions of inputs, and tells them what the
// state that comes back covers.
func (c *checkpointer) follow(inputs []sources.Positions) {
	c.inputs = inputs
	for _, in := range inputs {
		if c.restores {
			in.Restore(c.positions, c.covered)
		}
	}
}

// early receives until ctx ends when an input asks for a checkpoint before its time; nil
// when none ever does.
func (c *checkpointer) early(ctx context.Context) <-chan struct{} {
	if len(c.inputs) == 0 {
		return nil
	}
	asked := make(chan struct{})
	for _, in := range c.inputs {
		go func() {
			for {
				select {
				case <-in.Early():
				case <-ctx.Done():
					return
				}
				select {
				case asked <- struct{}{}:
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	return asked
}

// start begins with checkpoints, the first an interval from now.
func (c *checkpointer) start(cut func(context.Context, *graph.Barrier) error, current func(map[graph.Stage]any, time.Time)) {
	c.cut, c.current = cut, current
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	go c.run(ctx)
}

// quit ends the checkpoints by interval and gives up the one under way. It does
// not wait for either.
func (c *checkpointer) quit() {
	if c.cancel != nil {
		c.cancel()
	}
}

// run saves every interval, and earlier when the input asks for it. An interval
// that ends during a checkpoint is skipped.
func (c *checkpointer) run(ctx context.Context) {
	defer close(c.done)
	early := c.early(ctx)
	for tick := time.NewTicker(c.interval); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		case <-early:
		}
		if err := c.save(ctx); err != nil && ctx.Err() == nil {
			c.log.Warn("state not saved", "err", err)
		}
		select {
		case <-tick.C:
		default:
		}
	}
}

// save cuts the stream by a barrier and saves what the stages were when it
// passed. The checkpoint counts once everything before the barrier has ended.
func (c *checkpointer) save(ctx context.Context) error {
	c.barriers++
	b := graph.NewBarrier(c.barriers)
	if err := c.cut(ctx, b); err != nil {
		return err
	}
	select {
	case <-b.Passed():
	case <-ctx.Done():
		return ctx.Err()
	}
	return c.write(ctx, b.Exports(), b)
}

// last saves the final exports of the drain. What an input delivers again must not
// count twice, nor not at all: nothing is written when lines of it have not ended or
// a stage was abandoned, and the checkpoint before stays current.
func (c *checkpointer) last(ctx context.Context, drained []actors.Drained) error {
	exports := make(map[graph.Stage]any)
	for _, d := range drained {
		stage := graph.Stage(d.Actor)
		switch {
		case d.Export != nil:
			exports[stage] = d.Export
		case d.Expired && len(c.inputs) > 0 && slices.ContainsFunc(c.parts, func(p actors.SavedPart) bool { return p.Stage == stage }):
			return fmt.Errorf("%s did not end in time: the last complete save stays current", d.Actor)
		}
	}
	for _, in := range c.inputs {
		if n := in.Unreleased(); n > 0 {
			return fmt.Errorf("%s of the input did not end in time and will be delivered again: the last complete save stays current", plural.Of(n, "message"))
		}
	}
	return c.write(ctx, exports, nil)
}

// write saves views and makes the checkpoint current when everything before the
// barrier has ended; without a barrier everything has. If that does not come, the
// checkpoint before stays current.
func (c *checkpointer) write(ctx context.Context, exports map[graph.Stage]any, b *graph.Barrier) error {
	now := time.Now()
	s, err := c.series.Begin()
	if err != nil {
		return err
	}
	written, err := c.writeParts(ctx, s, exports, now)
	epoch := uint64(sources.Final)
	if err == nil && b != nil {
		epoch = b.Epoch()
		select {
		case <-b.Released():
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err == nil {
		err = s.Commit(now.Unix(), c.cover(s, epoch)...)
	}
	switch {
	case errors.Is(err, state.ErrCleanup):
		c.log.Warn("state saved", "err", err)
	case err != nil:
		return errors.Join(err, s.Discard())
	}
	for name, revision := range written {
		c.revisions[name] = revision
	}
	clear(c.dropped)
	for _, in := range c.inputs {
		in.Saved(epoch)
	}
	if c.current != nil {
		c.current(exports, now)
	}
	c.log.Debug("state saved", "parts_written", len(written), "took", time.Since(now))
	return nil
}

// cover has the head name what the checkpoint covers: of this run's inputs, and of
// those of earlier runs whose effect the state still holds. It returns the positions
// of the cut, and those of other inputs.
func (c *checkpointer) cover(s *state.Save, epoch uint64) (positions []state.Position) {
	var own []state.Covered
	for _, in := range c.inputs {
		at, covered := in.Cover(epoch)
		positions, own = append(positions, at...), append(own, covered...)
	}
	s.Cover(append(own, slices.DeleteFunc(slices.Clone(c.covered), func(o state.Covered) bool {
		return slices.ContainsFunc(own, func(n state.Covered) bool { return o.Stream == n.Stream && o.Consumer == n.Consumer })
	})...))
	return state.NewerPositions(positions, c.positions)
}

// writeParts writes what changed since it was last written and keeps the rest.
// It returns the revisions of what it wrote.
func (c *checkpointer) writeParts(ctx context.Context, s *state.Save, exports map[graph.Stage]any, now time.Time) (map[string]uint64, error) {
	written := make(map[string]uint64)
	for _, p := range c.parts {
		v, ok := exports[p.Stage].(actors.View)
		if !ok {
			if !c.dropped[p.Name] {
				s.Keep(p.Name)
			}
			continue
		}
		if was, ok := c.revisions[p.Name]; ok && was == v.Revision() && s.Keep(p.Name) {
			continue
		}
		var size int64
		err := s.WriteCompressed(p.Name, p.Version, func(w io.Writer) error {
			return v.Encode(cancellable{ctx, w, &size}, now.Unix())
		})
		if err != nil {
			return nil, fmt.Errorf("%w (after %d bytes)", err, size)
		}
		written[p.Name] = v.Revision()
	}
	return written, nil
}

// background runs work that uses the database, unless it is being closed.
func (c *checkpointer) background(work func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.others.Go(work)
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
func (c *checkpointer) close(drained []actors.Drained) error {
	ctx, cancel := context.WithTimeout(context.Background(), lastTimeout)
	defer cancel()
	return c.closeUntil(ctx, drained)
}

func (c *checkpointer) closeUntil(ctx context.Context, drained []actors.Drained) error {
	c.quit()
	var failure error // of the goroutine until it has closed done
	done := make(chan struct{})
	go func() {
		defer close(done)
		if c.cancel != nil {
			<-c.done
		}
		var err error
		if drained != nil {
			if err = c.last(ctx, drained); err != nil {
				err = fmt.Errorf("save state: %w", err)
			}
		}
		c.mu.Lock()
		c.closed = true
		c.mu.Unlock()
		c.others.Wait()
		failure = errors.Join(err, c.store.Close())
	}()
	if !await.Done(ctx, done, 0) {
		return fmt.Errorf("save state: %w", ctx.Err())
	}
	return failure
}
