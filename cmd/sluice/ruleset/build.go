package ruleset

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/correlate"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/catalog"
	"github.com/sluicehq/sluice/internal/plural"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/result"
)

// Settings are what the configuration says about rules: which are loaded and how
// they are compiled.
type Settings struct {
	Options
	MatchDetail  string
	IncludeEvent bool
	ResultTime   bool
	EventTime    bool // results know the time of their event
	Routing      *LogsourceRouting
	Correlation  *correlate.Config
	ActionGiven  bool              // Correlation.Action was chosen and is not the default
	Background   func(work func()) // as in engine.Options
}

// Built is a rule set with all that its load had to say.
type Built struct {
	*Rules
	Set *graph.RuleSet // without a generation number
	// Doubts say what is amiss with correlations, and with the log source of events,
	// without making them unusable.
	Doubts []string
}

// Build loads and compiles the rules that the settings name. The error is fatal:
// one of Load, or settings that do not parse. Log is told of panics in work that
// the rule set does beside evaluating.
func Build(ctx context.Context, s Settings, log *slog.Logger) (*Built, error) {
	defer RelaxGC()()
	rules, err := Load(ctx, s.Options)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return Compile(rules, s, log)
}

// Compile compiles loaded rules. Those that no evaluator can be made of are among the
// rejected ones of the outcome. The error names a setting that does not parse.
func Compile(rules *Rules, s Settings, log *slog.Logger) (*Built, error) {
	detail, err := result.ParseDetail(s.MatchDetail)
	if err != nil {
		return nil, err
	}
	built := &Built{}
	collection, err := rules.Compiled(func(c *load.Collection) error {
		program, doubts, err := s.Correlation.Compile(c, s.ActionGiven, s.ResultTime)
		if err != nil {
			return err
		}
		set, err := engine.Compile(c.Rules, engine.Options{
			MatchDetail: detail, IncludeEvent: s.IncludeEvent, ResultTime: s.ResultTime, EventTime: s.EventTime, Routing: Routing(s.Routing),
			TimestampFields: s.Correlation.TimeFields(c.Defaults), Fields: program.Spec().Fields,
			Background: s.Background, OnPanic: onPanic(log),
		})
		built.Doubts, built.Set = slices.Concat(doubts, unknownProduct(set, s.Routing), passedOver(s.Roots)), &graph.RuleSet{Engine: set, Correlation: program, Rejected: len(c.Rejected)}
		return err
	})
	if err != nil {
		return nil, err
	}
	built.Rules = &Rules{Collection: collection, Roots: rules.Roots, Files: rules.Files, Notes: rules.Notes, Details: rules.Details}
	return built, nil
}

// Catalog lists the rules. Hits of those in the catalog of the set before, which may be
// nil, go on.
func (b *Built) Catalog(before *catalog.Catalog) *catalog.Catalog {
	place := func(file string) string { return Place(b.Roots, file) }
	return catalog.New(b.Collection.Rules, b.Correlations, place, before)
}

// onPanic logs what an engine has to say of work that failed beside the evaluation.
func onPanic(log *slog.Logger) func(value any, stack []byte) {
	return func(value any, stack []byte) {
		log.Error("preparing for a busy log source panicked, events are evaluated without", "panic", value, "stack", string(stack))
	}
}

// kinds are the kinds of rules, under the names that operators know.
var kinds = [...]struct{ name, help string }{
	{"detection_rules", "Detection rules of the serving rule set."},
	{"correlation_rules", "Correlation rules of the serving rule set."},
}

// Counts are the numbers of rules by kind.
type Counts [len(kinds)]int

// Counts counts the rules.
func (r *Rules) Counts() Counts { return Counts{len(r.Rules), len(r.Correlations)} }

// Members are the counts under their names.
func (c Counts) Members() []actors.Member {
	members := make([]actors.Member, len(c))
	for i, n := range c {
		members[i] = actors.Member{Name: kinds[i].name, Value: n}
	}
	return members
}

// Attrs are the counts as attributes of a log line.
func (c Counts) Attrs() []any {
	var attrs []any
	for _, m := range c.Members() {
		attrs = append(attrs, m.Name, m.Value)
	}
	return attrs
}

// Acceptable returns an error when a program may not start with the rules:
// documents are rejected and none is usable, or strict allows no rejection.
func (r *Rules) Acceptable(strict bool) error {
	if len(r.Rejected) == 0 || !strict && r.Usable() {
		return nil
	}
	reason := "none usable"
	if strict {
		reason = "and --strict-rules allows none"
	}
	return fmt.Errorf("%w: %s rejected, %s", errCompiling, plural.Of(len(r.Rejected), "document"), reason)
}

var errCompiling = errors.New("Error compiling rules") //nolint:staticcheck // users find the text in scripts

// gcPercent suits loading: most of what it allocates lives on.
const gcPercent = 800

// RelaxGC makes garbage collections rarer until the function returned is called.
// It is for the load of a process that starts: beside a large heap, memory would
// grow by as many times its size.
func RelaxGC() (restore func()) {
	before := debug.SetGCPercent(gcPercent)
	if before < 0 || before > gcPercent {
		debug.SetGCPercent(before)
	}
	return func() { debug.SetGCPercent(before) }
}
