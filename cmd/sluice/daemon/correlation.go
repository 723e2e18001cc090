package daemon

import (
	"context"
	"iter"
	"log/slog"
	"slices"

	"github.com/sluicehq/sluice/actors/correlate"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/ruleset"
	"github.com/sluicehq/sluice/http/api"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/load"
)

// fallbackSkip keeps events without a time of their own from correlations.
const fallbackSkip = "skip"

// correlating compiles the correlations of a load.
type correlating struct {
	settings    *config.Correlation
	actionGiven bool
	resultTime  bool
}

// newCorrelating checks the settings.
func newCorrelating(l *config.Loaded) (correlating, error) {
	c := correlating{
		settings: &l.Config.Daemon.Correlation, resultTime: l.Config.Daemon.Output.ResultTime,
		actionGiven: l.Layer("daemon.correlation.action") != config.LayerDefault,
	}
	if _, err := ruleset.Correlation(c.settings, c.actionGiven, load.Defaults{}); err != nil {
		return c, configFaultf("daemon.correlation.%w", err)
	}
	return c, nil
}

func (c *correlating) compile(rules *load.Collection) (*correlation.Program, error) {
	o, err := ruleset.Correlation(c.settings, c.actionGiven, rules.Defaults)
	if err != nil {
		return nil, err
	}
	o.ResultTime = c.resultTime
	return correlation.Compile(rules.Correlations, rules.Rules, o)
}

// reportCorrelations logs what is doubtful about correlations that work.
func reportCorrelations(p *correlation.Program, log *slog.Logger) {
	if n := p.Depth(); n > correlation.MaxLevels {
		log.Warn("correlations are chained too deep, firings beyond are not propagated", "levels", n, "limit", correlation.MaxLevels)
	}
	for _, id := range p.SharedIDs() {
		log.Warn("correlations share an id: only the first keeps its state over reloads and restarts", "correlation", id)
	}
}

// correlations answers questions about the state from a view of it, so that the
// stage is not held up by the size of an answer.
type correlations struct{ stage *correlate.Client }

// List describes the rules in load order.
func (c correlations) List(ctx context.Context) ([]correlation.Entry, error) {
	v, err := c.stage.Export(ctx)
	if err != nil {
		return nil, err
	}
	return v.Entries(correlation.Filter{}), nil
}

// State describes the rules and the groups that f lets through.
func (c correlations) State(ctx context.Context, f api.CorrelationFilter) (rules []correlation.Entry, groups iter.Seq[correlation.GroupEntry], count int, err error) {
	v, err := c.stage.Export(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	filter := correlation.Filter{Offset: f.Offset, Limit: f.Limit, NoWindow: f.NoWindow}
	if f.ID != nil {
		if *f.ID == "" {
			return nil, slices.Values[[]correlation.GroupEntry](nil), 0, nil // nothing is named so
		}
		filter.ID = *f.ID
	}
	if f.Group != nil {
		filter.Group = *f.Group
	}
	groups, count = v.Each(filter)
	return v.Entries(filter), groups, count, nil
}
