package daemon

import (
	"context"
	"fmt"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/cmd/sluice/ruleset"
	"github.com/sluicehq/sluice/sigma/pipeline"
)

// resolve puts the values of sources into the pipelines of a generation: each source that
// is declared is fetched.
func (r *rules) resolve(ctx context.Context, g, serving *generation) error {
	if err := r.sources.Check(g.pipelines); err != nil {
		return configFault(err)
	}
	if r.fetch == nil {
		g.expanded = g.pipelines
		return nil
	}
	values, err := r.fetch(ctx)
	if err != nil {
		return err
	}
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
