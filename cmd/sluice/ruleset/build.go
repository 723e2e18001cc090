package ruleset

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/result"
)

// Built is a rule set with all that its load had to say.
type Built struct {
	*Rules
	Set *graph.RuleSet // without a generation number
	// Doubts say what is amiss with correlations without making them unusable.
	Doubts []string
}

// Build loads and compiles the rules that the settings name. The error is fatal:
// one of Load, or settings that do not parse. Log is told of panics in work that
// the rule set does beside judging.
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

// Compile compiles loaded rules. The error names a setting that does not parse,
// or a rule that the checks of the loader should have rejected.
func Compile(rules *Rules, s Settings, log *slog.Logger) (*Built, error) {
	detail, err := result.ParseDetail(s.MatchDetail)
	if err != nil {
		return nil, err
	}
	correlations, err := Correlation(s.Correlation, s.ActionGiven, rules.Defaults)
	if err != nil {
		return nil, fmt.Errorf("correlation: %w", err)
	}
	correlations.ResultTime = s.ResultTime
	program, err := correlation.Compile(rules.Correlations, rules.Rules, correlations)
	if err != nil {
		return nil, err
	}
	set, err := engine.Compile(rules.Rules, engine.Options{
		MatchDetail: detail, IncludeEvent: s.IncludeEvent, ResultTime: s.ResultTime, Routing: Routing(s.Routing),
		TimestampFields: TimestampFields(s.Correlation, rules.Defaults), Fields: program.Spec().Fields,
		Background: s.Background, OnPanic: onPanic(log),
	})
	if err != nil {
		return nil, err
	}
	return &Built{
		Rules: rules, Doubts: doubts(program),
		Set: &graph.RuleSet{Engine: set, Correlation: program, Rejected: len(rules.Rejected)},
	}, nil
}

func doubts(p *correlation.Program) []string {
	var out []string
	if n := p.Depth(); n > correlation.MaxLevels {
		out = append(out, fmt.Sprintf("correlations refer to each other over %d levels; firings are propagated over %d", n, correlation.MaxLevels))
	}
	for _, id := range p.SharedIDs() {
		out = append(out, fmt.Sprintf("several correlations are named '%s': only the first keeps its state over reloads and restarts", id))
	}
	return out
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
	return fmt.Errorf("%w: %d documents rejected, %s", errCompiling, len(r.Rejected), reason)
}

var errCompiling = errors.New("Error compiling rules") //nolint:staticcheck // users find the text in scripts

// gcPercent suits loading: most of what it allocates lives on.
const gcPercent = 400

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
