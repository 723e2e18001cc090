package reload

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"
)

// collect is how long changed values are gathered before a rebuild.
const collect = 100 * time.Millisecond

// Rebuild asks for a rebuild because the values of these sources have changed. It never
// waits. Changes that come close together, or while a pass or a rebuild is under way, share
// one.
func (r *Reloader) Rebuild(ids []string) {
	r.mu.Lock()
	for _, id := range ids {
		if !slices.Contains(r.changed, id) {
			r.changed = append(r.changed, id)
		}
	}
	r.mu.Unlock()
	r.Lane().TryPut([]Trigger{{}}) // with a full mailbox the actor looks anyway
}

// rebuildDue reports whether a rebuild has to be started.
func (r *Reloader) rebuildDue() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	due := len(r.changed) > 0 && !r.rebuilding
	r.rebuilding = r.rebuilding || due
	return due
}

// rebuild waits for the changes that belong together and carries one rebuild out. It is no
// pass: of what tells of passes, only the count of failures knows it.
func (r *Reloader) rebuild(ctx context.Context) {
	wait := time.NewTimer(collect)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
		return
	}
	r.mu.Lock()
	ids := r.changed
	r.changed, r.rebuilding = nil, false
	r.mu.Unlock()
	slices.Sort(ids)
	err := r.rebuilt(ctx, ids)
	if err == nil || ctx.Err() != nil {
		return
	}
	r.o.Metrics.failed.Inc()
	r.o.Log.Error("rebuild failed, the previous rules stay", "sources", ids, "err", err)
}

// rebuilt turns a panic into an error.
func (r *Reloader) rebuilt(ctx context.Context, ids []string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.o.Log.Error("rebuild panicked", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return r.o.Rebuild(ctx, ids)
}
