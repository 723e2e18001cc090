package correlate

import (
	"fmt"
	"slices"

	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/timespan"
)

// Compile compiles the correlations of a load. actionGiven tells a configured action
// from the default. The doubts say what is amiss with correlations that work.
func (c *Config) Compile(rules *load.Collection, actionGiven, resultTime bool) (p *correlation.Program, doubts []string, err error) {
	o, err := c.options(actionGiven, rules.Defaults)
	if err != nil {
		return nil, nil, fmt.Errorf("correlation: %w", err)
	}
	o.ResultTime = resultTime
	if p, err = correlation.Compile(rules.Correlations, rules.Rules, o); err != nil {
		return nil, nil, err
	}
	if n := p.Depth(); n > correlation.MaxLevels {
		doubts = append(doubts, fmt.Sprintf("correlations refer to each other over %d levels; firings are propagated over %d", n, correlation.MaxLevels))
	}
	for _, id := range p.SharedIDs() {
		doubts = append(doubts, fmt.Sprintf("several correlations are named '%s': only the first keeps its state over reloads and restarts", id))
	}
	return p, doubts, nil
}

// options are for correlations that state none of their own: what the configuration
// says, else what the detection rules ask for.
func (c *Config) options(actionGiven bool, d load.Defaults) (correlation.Options, error) {
	o := correlation.Options{Action: correlation.Action(c.Action), MaxEvents: c.MaxEvents, NoDetections: c.NoDetections}
	if !actionGiven && d.Action != "" {
		o.Action = correlation.Action(d.Action)
	}
	switch {
	case c.Suppress != "":
		span, err := timespan.ParseSpan(c.Suppress)
		if err != nil {
			return o, fmt.Errorf("suppress: %w", err)
		}
		o.Suppress = span.Seconds()
	case d.Suppress != nil:
		o.Suppress = d.Suppress.Seconds()
	}
	if c.MaxGroupEntries != nil {
		o.MaxGroupEntries = *c.MaxGroupEntries
	}
	var err error
	if o.EventMode, err = correlation.ParseEventMode(c.EventMode); err != nil {
		return o, fmt.Errorf("event_mode: %w", err)
	}
	return o, nil
}

// TimeFields are the fields that are tried for the time of an event before the
// default ones: those that rules name, unless they are tried anyway, then the
// configured ones.
func (c *Config) TimeFields(d load.Defaults) []string {
	tried := slices.Concat(c.TimestampFields, engine.DefaultTimestampFields())
	var fields []string
	for _, f := range d.TimestampFields {
		if !slices.Contains(tried, f) {
			fields = append(fields, f)
		}
	}
	return append(fields, c.TimestampFields...)
}
