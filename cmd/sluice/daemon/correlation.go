package daemon

import (
	"log/slog"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/ruleset"
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
