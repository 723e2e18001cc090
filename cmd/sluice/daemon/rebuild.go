package daemon

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/cmd/sluice/ruleset"
	"github.com/sluicehq/sluice/sigma/pipeline"
)

// values are where the rules find those of dynamic sources.
type values struct {
	// fetch gets those of each source, afresh. They are current after commit.
	fetch func(context.Context) (all map[string]pipeline.Value, commit func(context.Context), err error)
	now   func() map[string]pipeline.Value // as they are; nobody changes the map
}

// rebuild has the stages serve the values that sources have now. It belongs to the
// reloader: no reload runs meanwhile.
func (d *Daemon) rebuild(ctx context.Context, sources []string) error {
	begin := time.Now()
	next, err := d.rules.rebuild(d.serving.Load(), d.rules.values.now())
	if err != nil {
		return err
	}
	if err := d.serve(context.WithoutCancel(ctx), next); err != nil {
		return err
	}
	d.rules.log.Info("rules rebuilt", append(next.counts.Attrs(), "sources", strings.Join(sources, ", "), "took", time.Since(begin))...)
	return nil
}

// resolve puts the values of sources into the pipelines of a generation: each source that
// is declared is fetched.
func (r *rules) resolve(ctx context.Context, g, serving *generation) error {
	if err := r.sources.Check(g.pipelines); err != nil {
		return configFault(err)
	}
	if r.values == nil {
		g.expanded = g.pipelines
		return nil
	}
	values, commit, err := r.values.fetch(ctx)
	if err != nil {
		return err
	}
	g.commit = commit
	return r.expand(g, serving, values)
}

func (r *rules) expand(g, serving *generation, values map[string]pipeline.Value) (err error) {
	var before *pipeline.Set
	if serving != nil {
		before = serving.expanded
	}
	if g.expanded, g.notes, err = r.sources.Expand(g.pipelines, values, before); err != nil {
		return configFault(err)
	}
	return nil
}

// rebuild makes the next generation of the documents and pipelines that serve and other
// values of sources. It reads no file, and fails on documents that the serving set has not
// rejected already. It returns actors.ErrUnchanged when no pipeline reads what changed.
func (r *rules) rebuild(serving *generation, values map[string]pipeline.Value) (*generation, error) {
	g := &generation{documents: serving.documents, pipelines: serving.pipelines, cached: true} // the cache has the documents, or gets them with those that serve
	if err := r.expand(g, serving, values); err != nil {
		return nil, err
	}
	settings := r.settings
	settings.Roots = nil // nobody looks for files
	if err := r.renew(g, serving, settings); err != nil {
		return nil, err
	}
	if err := r.judge(g, serving); err != nil {
		return nil, err
	}
	for _, n := range g.notes {
		r.log.Warn("pipeline", "note", n)
	}
	return g, nil
}

// renew makes the set of a generation whose documents and pipelines are those that serve.
// What its values do not change is taken over.
func (r *rules) renew(g, serving *generation, s ruleset.Settings) error {
	changed, ok := g.expanded.Changed(serving.expanded)
	if ok && len(changed) == 0 {
		return actors.ErrUnchanged
	}
	if ok {
		g.set, g.collection, ok = ruleset.Renew(serving.set, serving.collection, g.expanded, changed, r.settings.Options)
	}
	if !ok {
		if err := r.make(g, serving, s, func() {}); err != nil {
			return fmt.Errorf("compile rules anew: %w", err)
		}
		return nil
	}
	g.counts, g.details, g.doubts, g.empty, g.refused = serving.counts, serving.details, serving.doubts, serving.empty, serving.refused
	r.last++
	g.set.Generation = r.last
	return nil
}
