package daemon

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/graph"
)

// features are the rows of the daemon, in order of spawning: receivers
// before their senders. Restoring, spawning, saving, reloading, the status and the end of the
// daemon loop over them.
type features []actors.Feature

// saved are the parts of a checkpoint.
func (all features) saved() (parts []actors.SavedPart) {
	for _, f := range all {
		parts = append(parts, f.Saved...)
	}
	return parts
}

// components are what a reload renews.
func (all features) components() (list []actors.Component) {
	for _, f := range all {
		list = append(list, f.Components...)
	}
	return list
}

// status are the members of the daemon's status.
func (all features) status() (members []actors.Member) {
	for _, f := range all {
		if f.Status != nil {
			members = append(members, f.Status()...)
		}
	}
	return members
}

// close releases what features hold, in reverse order.
func (all features) close() error {
	var errs []error
	for _, f := range slices.Backward(all) {
		if f.Close != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// process is the row of what belongs to the process as a whole.
func (d *Daemon) process() actors.Feature {
	return actors.Feature{Name: "process", Status: func() []actors.Member {
		return []actors.Member{{Name: "uptime_seconds", Value: time.Since(d.begun).Seconds()}}
	}}
}

// ruleSet is the row of the rules with their pipelines. Readiness follows them.
// Unchanged rules are published again: it tells the stages of the reload.
func (d *Daemon) ruleSet() actors.Feature {
	return actors.Feature{
		Name:   "rules",
		Status: func() []actors.Member { return d.serving.Load().counts.Members() },
		Components: []actors.Component{{
			Name: "rules", Paths: d.rules.paths,
			Build: func(ctx context.Context) (func(context.Context) error, error) {
				next, err := d.rules.next(ctx, d.serving.Load())
				switch {
				case errors.Is(err, actors.ErrUnchanged):
					return func(ctx context.Context) error {
						next.commitValues(ctx)
						return d.publish(ctx, d.serving.Load().set.Again())
					}, nil
				case err != nil:
					return nil, err
				}
				return func(ctx context.Context) error {
					err := d.serve(ctx, next)
					if err == nil {
						next.commitValues(ctx)
					}
					return err
				}, nil
			},
			Ended: func(err error) { d.health.failed.Store(err != nil) },
		}},
	}
}

// tls is the row of the API's certificate. Handshakes that follow a reload use what the
// files hold then.
func (d *Daemon) tls() actors.Feature {
	certificates := d.server.Certificates()
	if certificates == nil {
		return actors.Feature{Name: "tls"}
	}
	warn := func(context.Context) error { certificates.Warn(time.Now()); return nil }
	return actors.Feature{Name: "tls", Close: certificates.Close, Components: []actors.Component{{
		Name: "tls", Paths: certificates.Files, Unchanged: warn,
		Build: func(context.Context) (func(context.Context) error, error) {
			publish, err := certificates.Renew()
			if err == nil && publish == nil {
				err = actors.ErrUnchanged
			}
			return func(ctx context.Context) error { publish(); return warn(ctx) }, err
		},
	}}}
}

// serve has the stages serve the next rules.
func (d *Daemon) serve(ctx context.Context, next *generation) error {
	if err := d.publish(ctx, next.set); err != nil {
		return err
	}
	if before := d.serving.Swap(next).set.Engine; before != next.set.Engine {
		before.Retire()
	}
	d.loaded(next)
	return nil
}

// loaded shows the number of the rules that serve now and stores them for the next
// start.
func (d *Daemon) loaded(g *generation) {
	d.series.rules.Loaded(g.counts, len(g.collection.Rejected))
	d.remember(g)
}

// publish hands a set to the stages. It takes as long as a question may.
func (d *Daemon) publish(ctx context.Context, set *graph.RuleSet) error {
	return d.dataflow.Parse.Client().Publish(ctx, set)
}
