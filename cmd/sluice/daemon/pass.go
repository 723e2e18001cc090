package daemon

import (
	"context"
	"errors"
	"slices"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/pipeline"
)

// pass rebuilds the rules and swaps them in. The rules that served go on when it
// fails, and readiness says so until a later pass succeeds.
func (d *Daemon) pass(ctx context.Context) error {
	d.outputs.reopen()
	if d.watcher != nil {
		d.watcher.sync()
	}
	err := d.renew(ctx)
	if !errors.Is(err, context.Canceled) {
		d.health.failed.Store(err != nil)
	}
	return err
}

// renew has the stages serve what the files say now. Rules that nobody changed are
// published once more all the same: it tells the stages of the reload.
func (d *Daemon) renew(ctx context.Context) error {
	serving := d.serving.Load()
	next, err := d.rules.next(ctx, serving)
	switch {
	case errors.Is(err, errUnchanged):
		return d.publish(ctx, serving.set.Again())
	case err != nil:
		return err
	}
	if err := d.publish(ctx, next.set); err != nil {
		return err
	}
	d.serving.Store(next)
	serving.set.Engine.Retire()
	d.remember(next)
	c := next.collection
	d.loaded.Loaded(len(c.Rules), len(c.Correlations), len(c.Rejected))
	return nil
}

// publish hands a set to the stages, for as long as a question may take. It is not
// abandoned half way: parse has the set or has not.
func (d *Daemon) publish(ctx context.Context, set *graph.RuleSet) error {
	return d.dataflow.Parse.Client().Publish(context.WithoutCancel(ctx), set)
}

func builtinPipeline(name string) bool { return slices.Contains(pipeline.Builtins[:], name) }
