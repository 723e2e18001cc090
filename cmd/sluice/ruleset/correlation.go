package ruleset

import (
	"fmt"
	"slices"

	"github.com/sluicehq/sluice/actors/correlate"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/timespan"
)

// Correlation gives the settings of correlations that state none of their own:
// what the configuration says, else what the detection rules ask for.
// actionGiven tells a configured action from the default.
func Correlation(c *correlate.Config, actionGiven bool, d load.Defaults) (correlation.Options, error) {
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

// TimestampFields gives the fields that are asked for the time of an event before
// the default ones: those that rules name, unless they are asked anyway, then the
// configured ones.
func TimestampFields(c *correlate.Config, d load.Defaults) []string {
	asked := slices.Concat(c.TimestampFields, engine.DefaultTimestampFields())
	var fields []string
	for _, f := range d.TimestampFields {
		if !slices.Contains(asked, f) {
			fields = append(fields, f)
		}
	}
	return append(fields, c.TimestampFields...)
}
