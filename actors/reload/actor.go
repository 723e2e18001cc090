package reload

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/internal/watch"
)

const (
	// Name is the actor's name.
	Name = "reload"

	debounce = 500 * time.Millisecond
	capacity = 64 // triggers
)

// Trigger asks for a pass and says why.
type Trigger struct {
	Origin Origin
	Reason string
}

// Options describe the actor.
type Options struct {
	Components []actors.Component // in the order in which a pass renews them
	Metrics    *Metrics
	Log        *slog.Logger
	Rebuild    Rebuild // nil when Changed is never called
	// Capacity of the mailbox, 0 for the default.
	Capacity int
}

// Reloader is the actor and the way to trigger it.
type Reloader struct {
	actors.Stage[Trigger]
	o    Options
	pool *mailbox.Pool

	mu         sync.Mutex // guards the rest
	components []actors.Component
	pending    []Trigger // that no pass has taken yet
	taken      []Trigger // by the pass under way
	changed    []string  // sources of which no rebuild has taken the values yet
	history    history
	watcher    *watch.Watcher // nil without Watch
}

// history is what the record shows of the passes so far.
type history struct {
	passes, failed int64
	last           time.Time
	err            string
	outcome        *Outcome // nil before the first
}

// New builds the actor.
func New(o Options) *Reloader {
	if o.Capacity == 0 {
		o.Capacity = capacity
	}
	r := &Reloader{o: o, components: o.Components, Stage: actors.NewStage(actors.StageOptions{Capacity: o.Capacity}, actors.Shape[Trigger]{
		Name: Name, Kind: actors.KindControl, Join: o.Capacity,
	})}
	r.pool = mailbox.NewPool(r.Cell(), 1)
	return r
}

// Produce makes an instance of the actor.
func (r *Reloader) Produce(actors.RestartState) actor.Actor { return shell{r} }

// Feature is the row of the reloads.
func (r *Reloader) Feature() actors.Feature {
	return actors.Feature{Name: Name, Actors: []actors.Actor{r}, Status: r.status}
}

// Use makes list the components, before the actor is spawned. Those that were watched
// before are among them.
func (r *Reloader) Use(list []actors.Component) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.components = list
}

// Watch makes changes of the components' paths triggers, until Close. Those that come
// before the actor is spawned are its first. Without Watch only Trigger asks for a
// reload.
func (r *Reloader) Watch() error {
	w, err := watch.New(r.paths, func(_ []string, reason string) { r.Trigger(File, reason) }, r.o.Log)
	r.mu.Lock()
	r.watcher = w
	r.mu.Unlock()
	return err
}

// Close ends the watching.
func (r *Reloader) Close() {
	if w := r.watching(); w != nil {
		w.Close()
	}
}

func (r *Reloader) watching() *watch.Watcher {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.watcher
}

// Trigger asks for a pass; reason says why. It never waits: with a full mailbox a
// pass is due anyway. When it returns, the status shows that a reload is pending.
func (r *Reloader) Trigger(from Origin, reason string) {
	t := Trigger{Origin: from, Reason: reason}
	r.mu.Lock()
	if len(r.pending) < capacity {
		r.pending = append(r.pending, t)
	}
	r.mu.Unlock()
	r.Lane().TryPut([]Trigger{t})
}

// Request asks for a pass on behalf of a client of the API.
func (r *Reloader) Request() { r.Trigger(API, "request") }

// Loaded says that what the start loads is loaded: until a reload ends, this counts
// as one that succeeded.
func (r *Reloader) Loaded() { r.o.Metrics.succeeded(time.Now()) }

// Detail is what the actor's record shows beside the common members.
type Detail struct {
	Passes    int64      `json:"passes"`
	Failed    int64      `json:"failed"`
	LastPass  *time.Time `json:"last_pass,omitempty"`
	LastError string     `json:"last_error,omitempty"`
}

func (r *Reloader) detail() Detail {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := Detail{Passes: r.history.passes, Failed: r.history.failed, LastError: r.history.err}
	if !r.history.last.IsZero() {
		at := r.history.last.UTC().Truncate(time.Second)
		d.LastPass = &at
	}
	return d
}

type shell struct{ *Reloader }

// Receive starts a pass or a rebuild unless an earlier one has taken the triggers along.
func (s shell) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *mailbox.Run[Trigger]:
		m.Take()
		if s.due() || s.rebuilds() {
			s.pool.Start(1, func(ctx context.Context, _ int) any { s.work(ctx); return nil })
		}
	case actors.Detail:
		c.Respond(s.detail())
	}
}

func (r *Reloader) due() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.pending) > 0
}

// take returns the triggers of the pass that begins. A pass that begins again after a
// panic keeps those that it had.
func (r *Reloader) take() []Trigger {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken, r.pending = append(r.taken, r.pending...), nil
	return r.taken
}

// end notes how the pass ended that began at begin. The series tell of it when it is noted.
func (r *Reloader) end(begin, now time.Time, failed failures) {
	r.note(begin, now, failed)
	if len(failed) > 0 {
		r.o.Metrics.didFail()
	} else {
		r.o.Metrics.succeeded(now)
	}
}

func (r *Reloader) note(begin, now time.Time, failed failures) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := &r.history
	h.passes++
	h.last, h.err = begin, failed.text()
	if len(failed) > 0 {
		h.failed++
	}
	h.outcome = &Outcome{
		OK: len(failed) == 0, At: now.UTC().Truncate(time.Second), Trigger: r.taken[0].Origin, Error: failed.summary(),
	}
	r.taken = nil
}

// pass waits for the triggers that belong together and carries one pass out.
func (r *Reloader) pass(ctx context.Context) {
	wait := time.NewTimer(debounce)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
		return
	}
	triggers := r.take()
	r.o.Metrics.passes.Inc()
	begin := time.Now()
	r.o.Log.Info("reload started", "reason", triggers[0].Reason, "triggers", len(triggers))
	w := r.watching()
	if w != nil {
		w.Update()
	}
	failed, abandoned := r.renewAll(ctx)
	if w != nil {
		w.UpdatePaths()
	}
	if abandoned { // it stays pending: it has no outcome
		r.o.Log.Info("reload abandoned: the daemon is ending")
		return
	}
	r.end(begin, time.Now(), failed)
	if len(failed) == 0 {
		r.o.Log.Info("reload finished", "took", time.Since(begin))
	}
}
