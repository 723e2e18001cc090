package daemon

import (
	"context"
	"slices"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/pipeline"
)

// rulesComponent is the reloadable component of rules and pipelines. Readiness
// follows it. Unchanged rules are published again: it tells the stages of the reload.
func (d *Daemon) rulesComponent() actors.Component {
	return actors.Component{
		Name: "rules", Paths: d.watched,
		Build: func(ctx context.Context) (func(context.Context) error, error) {
			next, err := d.rules.next(ctx, d.serving.Load())
			return func(ctx context.Context) error { return d.serve(ctx, next) }, err
		},
		Unchanged: func(ctx context.Context) error { return d.publish(ctx, d.serving.Load().set.Again()) },
		Ended:     func(err error) { d.health.failed.Store(err != nil) },
	}
}

// watched lists the files and directories that rules and pipelines come from.
func (d *Daemon) watched() []string {
	paths := slices.Clone(d.cfg.Rules)
	for _, p := range d.cfg.Pipelines {
		if !slices.Contains(pipeline.Builtins[:], p) {
			paths = append(paths, p)
		}
	}
	return paths
}

// serve has the stages serve the next rules.
func (d *Daemon) serve(ctx context.Context, next *generation) error {
	if err := d.publish(ctx, next.set); err != nil {
		return err
	}
	d.serving.Swap(next).set.Engine.Retire()
	d.loaded(next)
	return nil
}

// loaded stores rules that serve now for the next start, and shows their number.
func (d *Daemon) loaded(g *generation) {
	d.remember(g)
	d.rules.metrics.Loaded(g.detections, g.correlations, len(g.collection.Rejected))
}

// publish hands a set to the stages, for as long as a question may take.
func (d *Daemon) publish(ctx context.Context, set *graph.RuleSet) error {
	return d.dataflow.Parse.Client().Publish(ctx, set)
}
