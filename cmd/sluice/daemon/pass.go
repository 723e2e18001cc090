package daemon

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sluicehq/sluice/sigma/pipeline"
)

// publishTimeout bounds the wait for parse to take a new rule set.
const publishTimeout = 30 * time.Second

// pass rebuilds the rules and swaps them in. The rules that served go on when it
// fails, and readiness says so until a later pass succeeds.
func (d *Daemon) pass(ctx context.Context) error {
	d.line.outputs.reopen()
	if d.watcher != nil {
		d.watcher.sync()
	}
	serving := d.serving.Load()
	next, err := d.rules.next(ctx, serving)
	switch {
	case errors.Is(err, errUnchanged):
		d.health.failed.Store(false)
		return nil
	case errors.Is(err, context.Canceled):
		return err
	case err != nil:
		d.health.failed.Store(true)
		return err
	}
	// The publish is not abandoned half way: parse has the set or has not.
	publish, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishTimeout)
	defer cancel()
	if err := d.line.publisher.Publish(publish, next.set); err != nil {
		d.health.failed.Store(true)
		return err
	}
	d.serving.Store(next)
	d.remember(next)
	c := next.collection
	d.loaded.Loaded(len(c.Rules), len(c.Correlations), len(c.Rejected))
	d.health.failed.Store(false)
	return nil
}

func builtinPipeline(name string) bool { return slices.Contains(pipeline.Builtins[:], name) }
