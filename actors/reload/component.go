package reload

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/sluicehq/sluice/actors"
)

// renew makes a component serve what its inputs are now.
func renew(ctx context.Context, c *actors.Component) error {
	publish, err := c.Build(ctx)
	switch {
	case errors.Is(err, actors.ErrUnchanged) && c.Unchanged == nil:
		return nil
	case errors.Is(err, actors.ErrUnchanged):
		publish = c.Unchanged
	case err != nil:
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return publish(context.WithoutCancel(ctx)) // it is not abandoned half way
}

// renewAll renews every component. A component that fails keeps its previous
// version and does not keep the others from being renewed. The end of ctx abandons
// what is not published.
func (r *Reloader) renewAll(ctx context.Context) (failed failures, abandoned bool) {
	list := r.all()
	for i := range list {
		c := &list[i]
		err := r.guarded("reload", func() error { return renew(ctx, c) }, "component", c.Name)
		if err != nil && ctx.Err() != nil {
			return nil, true
		}
		if c.Ended != nil {
			c.Ended(err)
		}
		if err != nil {
			r.o.Log.Error("reload failed, the previous version stays", "component", c.Name, "err", err)
			failed = append(failed, failure{c.Name, err})
		}
	}
	return failed, false
}

// guarded turns a panic of work into a failure, and logs where it was.
func (r *Reloader) guarded(work string, run func() error, attrs ...any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.o.Log.Error(work+" panicked", append(attrs, "panic", p, "stack", string(debug.Stack()))...)
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return run()
}

// paths are the paths of all components.
func (r *Reloader) paths() []string {
	var all []string
	for _, c := range r.all() {
		if c.Paths != nil {
			all = append(all, c.Paths()...)
		}
	}
	return all
}

func (r *Reloader) all() []actors.Component {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.components
}
