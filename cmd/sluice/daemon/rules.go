package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/ruleset"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/http/api"
	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/pipeline"
)

// generation is one loaded rule set with what operators may ask about it.
type generation struct {
	set         *graph.RuleSet
	collection  *load.Collection
	notes       []string // about pipelines
	details     []string // likewise, of less interest
	doubts      []string // about correlations
	inputs      []input  // every file it was made of
	fingerprint [32]byte // of those
	cached      bool     // its rules came from the rule cache
	stale       bool     // the cache has them under an older header
}

// rules builds generations from the configuration.
type rules struct {
	cfg      *config.Daemon
	log      *slog.Logger
	settings ruleset.Settings
	cache    *ruleCache // nil without a state database
	last     uint64     // generation number
}

func newRules(l *config.Loaded, log *slog.Logger) *rules {
	return &rules{cfg: &l.Config.Daemon, log: log, settings: l.DaemonRules()}
}

// build loads and compiles. With serving it returns actors.ErrUnchanged when every file
// is as it was.
func (r *rules) build(ctx context.Context, serving *generation) (*generation, error) {
	g, err := r.load(ctx, serving)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := r.compile(g); err != nil {
		return nil, err
	}
	r.last++
	g.set.Generation = r.last
	return g, nil
}

// compile makes the set of a generation.
func (r *rules) compile(g *generation) error {
	built, err := ruleset.Compile(&ruleset.Rules{Collection: g.collection, Notes: g.notes, Details: g.details}, r.settings, r.log)
	debug.FreeOSMemory() // loading needs several times what it leaves behind
	if err != nil {
		return &Fault{Code: exitRules, Err: fmt.Errorf("compile rules: %w", err)}
	}
	g.set, g.doubts = built.Set, built.Doubts
	return nil
}

// load reads rules, those of the first set from the cache when it has them.
func (r *rules) load(ctx context.Context, serving *generation) (*generation, error) {
	names, err := r.inputNames(ctx)
	if err != nil {
		return nil, err
	}
	if serving == nil && r.cache != nil {
		if c, ok := r.cache.read(ctx, names, r.settings.Options); ok {
			return &generation{
				collection: c.rules.Collection, notes: c.rules.Notes, details: c.rules.Details,
				inputs: c.inputs, fingerprint: fingerprint(c.inputs), cached: true, stale: c.stale,
			}, nil
		}
	}
	inputs, _, err := survey(ctx, names, nil, time.Now())
	if err != nil {
		return nil, err
	}
	print := fingerprint(inputs)
	if serving != nil && print == serving.fingerprint {
		return nil, actors.ErrUnchanged
	}
	return r.loadFiles(ctx, inputs, print)
}

// loadFiles reads rules from their files, which were surveyed before.
func (r *rules) loadFiles(ctx context.Context, inputs []input, print [32]byte) (*generation, error) {
	loaded, err := ruleset.Load(ctx, r.settings.Options)
	switch {
	case errors.Is(err, ruleset.ErrPipeline):
		return nil, configFault(err)
	case err != nil:
		return nil, &Fault{Code: exitRules, Err: err}
	}
	return &generation{collection: loaded.Collection, notes: loaded.Notes, details: loaded.Details, inputs: inputs, fingerprint: print}, nil
}

// remember stores a set that serves for the next start.
func (r *rules) remember(g *generation) {
	if r.cache == nil || g.cached && !g.stale {
		return
	}
	if err := r.cache.write(g, r.settings.Options); err != nil {
		r.log.Warn("rules not stored for the next start", "err", err)
	}
}

// report logs what a load had to say.
func (r *rules) report(g *generation) {
	c := g.collection
	for _, p := range c.Problems() {
		r.log.Error("rule document rejected", problemAttrs(p)...)
	}
	for _, n := range g.notes {
		r.log.Warn("pipeline", "note", n)
	}
	for _, n := range g.details {
		r.log.Debug("pipeline", "note", n)
	}
	for _, w := range c.Warnings {
		r.log.Warn("rule document", problemAttrs(w)...)
	}
	for _, d := range g.doubts {
		r.log.Warn("correlations", "note", d)
	}
	if c.Excluded > 0 {
		r.log.Info("rule documents excluded", "count", c.Excluded)
	}
	if len(c.Rules)+len(c.Correlations) == 0 {
		r.log.Warn("no rule is loaded", "path", strings.Join(r.cfg.Rules, ", "))
	}
	r.log.Info("rules loaded", "detection_rules", len(c.Rules), "correlation_rules", len(c.Correlations),
		"rejected", len(c.Rejected), "path", strings.Join(r.cfg.Rules, ", "))
}

func problemAttrs(p sigma.Problem) []any {
	var attrs []any
	if p.File != "" { // a warning may concern no document, such as an exclusion of nothing
		attrs = append(attrs, "file", p.File, "document", p.Document)
	}
	if p.Stage != "" { // of a rejection; a warning has none
		attrs = append(attrs, "stage", string(p.Stage))
	}
	attrs = append(attrs, "reason", p.Reason)
	if p.Line > 0 {
		attrs = append(attrs, "line", p.Line)
	}
	if p.Title != "" {
		attrs = append(attrs, "title", p.Title)
	}
	if p.ID != "" {
		attrs = append(attrs, "id", p.ID)
	}
	return attrs
}

// first builds the set the daemon starts with. What keeps it from starting is
// written to errs, every problem on a line.
func (r *rules) first(ctx context.Context, errs io.Writer) (*generation, error) {
	g, err := r.build(ctx, nil)
	if err != nil {
		return nil, err
	}
	c := g.collection
	if err := (&ruleset.Rules{Collection: c}).Acceptable(r.cfg.Engine.StrictRules); err != nil {
		for _, p := range c.Problems() {
			fmt.Fprintf(errs, "sluice: %s\n", p)
		}
		return nil, &Fault{Code: exitRules, Err: err}
	}
	r.report(g)
	return g, nil
}

// next builds the set of a reload. It fails on documents that the serving set
// has not rejected already.
func (r *rules) next(ctx context.Context, serving *generation) (*generation, error) {
	g, err := r.build(ctx, serving)
	var unusable *pipeline.LoadError
	switch {
	case errors.As(err, &unusable):
		return nil, fmt.Errorf("Error reloading pipeline %w", unusable)
	case err != nil:
		return nil, err
	}
	if fresh := g.collection.NewlyRejected(serving.collection); len(fresh) > 0 {
		for _, d := range fresh {
			for _, p := range d.Problems {
				r.log.Error("rule document rejected", problemAttrs(p)...)
			}
		}
		return nil, fmt.Errorf("%d rule documents are newly rejected, the first is %w", len(fresh), fresh[0].Problems[0])
	}
	r.report(g)
	return g, nil
}

// counts says how many rules serve.
func (g *generation) counts() []actors.Member {
	return []actors.Member{
		{Name: "detection_rules", Value: len(g.collection.Rules)}, {Name: "correlation_rules", Value: len(g.collection.Correlations)},
	}
}

// summary is what GET /api/v1/rules shows.
func (g *generation) summary(paths []string) api.RuleReport {
	c := g.collection
	out := api.RuleReport{
		Counts: g.counts(), Paths: paths, Rejected: []api.RejectedDocument{}, Excluded: c.Excluded,
	}
	for _, d := range c.Rejected {
		out.Rejected = append(out.Rejected, api.RejectedDocument{
			File: d.File, Document: d.Document, Title: d.Title, ID: d.ID, Problems: d.Problems,
		})
	}
	return out
}

// paths lists the files and directories that rules and pipelines come from.
func (r *rules) paths() []string {
	paths := slices.Clone(r.cfg.Rules)
	for _, p := range r.cfg.Pipelines {
		if !slices.Contains(pipeline.Builtins[:], p) {
			paths = append(paths, p)
		}
	}
	return paths
}
