package reload

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/sluicehq/sluice/actors"
)

// collecting is how long a rebuild waits for further changes.
const collecting = 100 * time.Millisecond

// Rebuild has the rules serve values of sources that have changed; sources are their ids,
// sorted. It reads no file. A rebuild that fails keeps what serves; actors.ErrUnchanged is
// no failure.
type Rebuild func(ctx context.Context, sources []string) error

// Changed asks for a rebuild since values of sources changed. It never waits. Changes
// within 100 ms are one rebuild, those during a rebuild are one more, and no pass runs
// beside one.
func (r *Reloader) Changed(sources ...string) {
	r.mu.Lock()
	for _, id := range sources {
		if !slices.Contains(r.changed, id) {
			r.changed = append(r.changed, id)
		}
	}
	r.mu.Unlock()
	r.Lane().TryPut([]Trigger{{}}) // with a full mailbox somebody is about to look
}

// work does what is asked for: a rebuild, then a pass.
func (r *Reloader) work(ctx context.Context) {
	if r.rebuilds() {
		r.rebuild(ctx)
	}
	if r.due() {
		r.pass(ctx)
	}
}

func (r *Reloader) rebuilds() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.changed) > 0
}

// rebuild waits for the changes that belong together and carries one rebuild out.
func (r *Reloader) rebuild(ctx context.Context) {
	wait := time.NewTimer(collecting)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
		return
	}
	r.mu.Lock()
	sources := r.changed
	r.changed = nil
	r.mu.Unlock()
	slices.Sort(sources)
	if err := r.guarded("rebuild", func() error { return r.o.Rebuild(ctx, sources) }); err != nil && !errors.Is(err, actors.ErrUnchanged) && ctx.Err() == nil {
		r.o.Log.Error("rebuild failed, the previous rules stay", "sources", strings.Join(sources, ", "), "err", err)
		r.o.Metrics.failed.Inc() // and nothing else: what is told of reloads stays
	}
}
