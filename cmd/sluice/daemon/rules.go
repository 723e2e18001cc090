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
	"sync"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/rulecache"
	"github.com/sluicehq/sluice/cmd/sluice/ruleset"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/catalog"
	"github.com/sluicehq/sluice/http/api"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/pipeline"
)

// generation is one loaded rule set with what operators may ask about it.
type generation struct {
	set        *graph.RuleSet
	counts     ruleset.Counts
	collection *load.Collection // without the rules, which the set has in a form of its own
	documents  *load.Documents  // it was made of
	pipelines  *pipeline.Set    // as they were read
	expanded   *pipeline.Set    // with the values of sources, which the rules went through
	notes      []string         // about pipelines
	details    []string         // likewise, of less interest
	doubts     []string         // about rules that work
	empty      string           // why there is no rule; "" when there is one
	refused    error            // why the daemon may not start with it
	cached     bool             // its documents came from the rule cache
	stale      bool             // the cache has them under an older header

	commit func(context.Context) // makes the values of sources current; nil without such
}

// rules builds generations from the configuration.
type rules struct {
	cfg      *config.Daemon
	log      *slog.Logger
	settings ruleset.Settings
	cache    *rulecache.Cache // nil without a state database
	last     uint64           // generation number
	failing  *load.Collection // of the pass before, if rejected documents made it fail
	look     func()           // called before files are looked at again; nil for nothing
	sources  ruleset.Sources
	values   *values // nil when no source is declared
}

// commitValues makes the values current that the generation was made with, once.
func (g *generation) commitValues(ctx context.Context) {
	if g.commit != nil {
		g.commit(ctx)
		g.commit = nil // the round is no longer needed
	}
}

func newRules(l *config.Loaded, log *slog.Logger) *rules {
	return &rules{cfg: &l.Config.Daemon, log: log, settings: l.DaemonRules()}
}

// rereadings is how many times a pass reads again what changed while it was read.
const rereadings = 5

// build reads and compiles. With serving, only files that changed are read again,
// and it returns actors.ErrUnchanged when there are none, with a generation that has
// nothing but values to commit. Before anything is made of
// the files they are looked at again: a rule set consists of what was on the disk at
// one time. Files that keep changing fail the pass.
func (r *rules) build(ctx context.Context, serving *generation) (*generation, error) {
	g, err := r.read(ctx, serving)
	if err != nil {
		return nil, err
	}
	for n := 0; ; n++ {
		changed, err := r.changed(ctx, g)
		if err != nil {
			return nil, err
		}
		if changed == "" {
			break
		}
		if n == rereadings {
			return nil, &Fault{Code: exitRules, Err: fmt.Errorf("read rules: %s changed while it was read, as files did %d times before; end what writes to them, or have it rename whole files into place", changed, n)}
		}
		g.documents.Seal()
		if g, err = r.read(ctx, g); err != nil {
			return nil, err
		}
	}
	if err := r.resolve(ctx, g, serving); err != nil {
		return nil, err
	}
	if serving != nil && g.documents.Same(serving.documents) && g.pipelines.Same(serving.pipelines) {
		err := r.renew(g, serving, r.settings)
		if err != nil && !errors.Is(err, actors.ErrUnchanged) {
			return nil, err
		}
		return g, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := r.compile(g, serving); err != nil {
		return nil, err
	}
	return g, nil
}

// read reads the files, of which those are taken over from known that have not
// changed.
func (r *rules) read(ctx context.Context, known *generation) (*generation, error) {
	g := &generation{}
	var err error
	if g.pipelines, err = ruleset.Pipelines(r.cfg.Pipelines); err != nil {
		return nil, configFault(err)
	}
	found, err := load.Find(ctx, r.cfg.Rules)
	if err != nil {
		return nil, &Fault{Code: exitRules, Err: err}
	}
	var before *load.Documents
	if known != nil {
		before = known.documents
	} else if r.cache != nil {
		g.documents, g.stale = r.cache.Read(ctx, found, &r.settings.Options)
		g.cached = g.documents != nil
	}
	if g.cached {
		return g, nil
	}
	if g.documents, err = ruleset.Read(ctx, found, r.settings.Options, before); err != nil {
		return nil, &Fault{Code: exitRules, Err: err}
	}
	return g, nil
}

// changed looks at the files again that g was read from. It names one that is not
// what it was, or a root below which there are others; "" is none.
func (r *rules) changed(ctx context.Context, g *generation) (string, error) {
	if r.look != nil {
		r.look()
	}
	found, err := load.Find(ctx, r.cfg.Rules)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	files := g.documents.Files()
	if err != nil || len(found) != len(files) {
		return strings.Join(r.cfg.Rules, ", "), nil // reading tells what is the matter
	}
	now, _, err := load.Survey(ctx, found, files, time.Now())
	if err != nil {
		return "", err
	}
	for i := range now {
		if !now[i].Same(&files[i]) {
			return now[i].Path, nil
		}
	}
	if pipelines, err := ruleset.Pipelines(r.cfg.Pipelines); err != nil || !pipelines.Same(g.pipelines) {
		return strings.Join(r.cfg.Pipelines, ", "), nil
	}
	return "", nil
}

// catalog is that of the generation's set; nil of none.
func (g *generation) catalog() *catalog.Catalog {
	if g == nil {
		return nil
	}
	return g.set.Catalog
}

// compile makes the set of a generation from its documents and pipelines. Hits of the
// rules that serve go on.
func (r *rules) compile(g, serving *generation) error {
	defer debug.FreeOSMemory() // loading needs several times what it leaves behind
	var sealing sync.WaitGroup
	defer sealing.Wait()
	return r.make(g, serving, r.settings, func() { sealing.Go(g.documents.Seal) })
}

// make does so. Transformed is called when the documents may be sealed.
func (r *rules) make(g, serving *generation, s ruleset.Settings, transformed func()) error {
	loaded, err := ruleset.Transform(g.documents, g.expanded, r.settings.Options)
	if err != nil {
		return &Fault{Code: exitRules, Err: err}
	}
	transformed()
	built, err := ruleset.Compile(loaded, s, r.log)
	if err != nil {
		return &Fault{Code: exitRules, Err: fmt.Errorf("compile rules: %w", err)}
	}
	g.set, g.counts = built.Set, built.Counts()
	g.refused = built.Acceptable(r.cfg.Engine.StrictRules)
	g.set.Catalog = built.Catalog(serving.catalog())
	g.collection = built.WithoutRules()
	g.notes, g.details, g.doubts = append(g.notes, built.Notes...), built.Details, built.Doubts
	if !built.Usable() {
		g.empty = built.Nothing()
	}
	r.last++
	g.set.Generation = r.last
	return nil
}

// remember stores a set that serves for the next start.
func (r *rules) remember(g *generation) {
	if r.cache == nil || g.cached && !g.stale {
		return
	}
	if err := r.cache.Write(rulecache.Entry{Generation: g.set.Generation, Documents: g.documents, Cached: g.cached}, &r.settings.Options); err != nil {
		r.log.Warn("rules not stored for the next start", "err", err)
	}
}

// report logs what a load had to say.
func (r *rules) report(g *generation) {
	c := g.collection
	for _, p := range c.Problems() {
		r.log.Error("rule document rejected", problemAttrs(r.placed(p))...)
	}
	for _, n := range g.notes {
		r.log.Warn("pipeline", "note", n)
	}
	for _, n := range g.details {
		r.log.Debug("pipeline", "note", n)
	}
	for _, w := range c.Warnings {
		r.log.Warn("rule document", problemAttrs(r.placed(w))...)
	}
	for _, d := range g.doubts {
		r.log.Warn("rules", "note", d)
	}
	if c.Excluded > 0 {
		r.log.Info("rule documents excluded", "count", c.Excluded)
	}
	if g.empty != "" {
		r.log.Warn(g.empty)
	}
	r.log.Info("rules loaded", append(g.counts.Attrs(), "rejected", len(c.Rejected), "path", strings.Join(r.cfg.Rules, ", "))...)
}

// placed names the file of a problem by a path that can be opened.
func (r *rules) placed(p ast.Problem) ast.Problem { return ruleset.Placed(r.cfg.Rules, p) }

func problemAttrs(p ast.Problem) []any {
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
	defer ruleset.RelaxGC()()
	g, err := r.build(ctx, nil)
	if err != nil {
		return nil, err
	}
	if g.refused != nil {
		for _, p := range g.collection.Problems() {
			fmt.Fprintf(errs, "sluice: %s\n", r.placed(p))
		}
		return nil, &Fault{Code: exitRules, Err: g.refused}
	}
	r.report(g)
	return g, nil
}

// next builds the set of a reload. It fails on documents that the serving set
// has not rejected already. As build it returns a generation with actors.ErrUnchanged.
func (r *rules) next(ctx context.Context, serving *generation) (*generation, error) {
	g, err := r.build(ctx, serving)
	var unusable *pipeline.LoadError
	switch {
	case errors.As(err, &unusable):
		return nil, fmt.Errorf("Error reloading pipeline %w", unusable)
	case errors.Is(err, actors.ErrUnchanged):
		return g, err
	case err != nil:
		return nil, err
	}
	if err := r.judge(g, serving); err != nil {
		return nil, err
	}
	r.report(g)
	return g, nil
}

// judge returns an error when a document is newly rejected.
func (r *rules) judge(g, serving *generation) error {
	fresh := g.collection.NewlyRejected(serving.collection)
	if len(fresh) == 0 {
		r.failing = nil
		return nil
	}
	r.reject(g, fresh)
	first := r.placed(fresh[0].Problems[0])
	if len(fresh) == 1 {
		return fmt.Errorf("a rule document is newly rejected: %w", first)
	}
	return fmt.Errorf("%d rule documents are newly rejected, the first is %w", len(fresh), first)
}

// reject tells why a pass fails, but of what the pass before has told nothing again.
func (r *rules) reject(g *generation, fresh []load.Rejected) {
	if r.failing != nil {
		fresh = g.collection.NewlyRejected(r.failing)
	}
	r.failing = g.collection
	for _, d := range fresh {
		for _, p := range d.Problems {
			r.log.Error("rule document rejected", problemAttrs(r.placed(p))...)
		}
	}
}

// summary is what GET /api/v1/rules shows.
func (g *generation) summary(paths []string) api.RuleReport {
	c := g.collection
	out := api.RuleReport{
		Counts: g.counts.Members(), Paths: paths, Rejected: []api.RejectedDocument{}, Excluded: c.Excluded,
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
