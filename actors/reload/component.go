package reload

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/sluicehq/sluice/actors"
)

// component is a component and the digest of the version of it that serves.
type component struct {
	actors.Component
	serving actors.Digest
}

// renew makes a component serve what its inputs are now.
func (c *component) renew(ctx context.Context) error {
	var digest actors.Digest
	if c.Digest != nil {
		var err error
		if digest, err = c.Digest(ctx); err != nil {
			return err
		}
		if digest == c.serving {
			if c.Unchanged == nil {
				return nil
			}
			return c.Unchanged(context.WithoutCancel(ctx))
		}
	}
	publish, err := c.Build(ctx)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := publish(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	c.serving = digest
	return nil
}

// renewAll renews every component. A component that fails keeps its previous
// version and does not keep the others from being renewed. The end of ctx abandons
// what is not published.
func (r *Reloader) renewAll(ctx context.Context) error {
	var errs []error
	for i := range r.components {
		c := &r.components[i]
		err := r.isolate(ctx, c)
		if err != nil && ctx.Err() != nil {
			return err
		}
		if c.Ended != nil {
			c.Ended(err)
		}
		if err != nil {
			r.o.Log.Error("reload failed, the previous version stays", "component", c.Name, "err", err)
			errs = append(errs, fmt.Errorf("%s: %w", c.Name, err))
		}
	}
	return errors.Join(errs...)
}

// isolate turns a panic into a failure of the component.
func (r *Reloader) isolate(ctx context.Context, c *component) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.o.Log.Error("reload panicked", "component", c.Name, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return c.renew(ctx)
}

// paths are the paths of all components.
func (r *Reloader) paths() []string {
	var all []string
	for i := range r.components {
		if list := r.components[i].Paths; list != nil {
			all = append(all, list()...)
		}
	}
	return all
}
