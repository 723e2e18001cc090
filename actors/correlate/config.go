package correlate

import (
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/timespan"
)

// Config holds the defaults of correlation rules and their bounds.
type Config struct {
	Suppress          string         `yaml:"suppress" flag:"suppress" help:"Silence of a correlation after it fired, such as 10m"`
	Action            string         `yaml:"action" flag:"action" oneof:"alert reset" help:"What happens to a window that fired"`
	NoDetections      bool           `yaml:"no_detections" flag:"no-detections" help:"Only correlations leave, not the detections they consist of"`
	EventMode         string         `yaml:"event_mode" flag:"correlation-event-mode" mode:"lenient" help:"Events in a correlation's result (none, full, refs)"`
	MaxEvents         int            `yaml:"max_events" flag:"max-correlation-events" min:"1" help:"Events in a correlation's result at most"`
	MaxStateEntries   int            `yaml:"max_state_entries" flag:"max-state-entries" min:"1" help:"Groups of all correlations together"`
	MaxStateBytes     timespan.Bytes `yaml:"max_state_bytes" flag:"max-state-bytes" min:"1048576" help:"What these groups may take, in bytes; integer or with KiB, MiB, GiB; at least 1 MiB"`
	MaxGroupEntries   *int           `yaml:"max_group_entries" flag:"max-group-entries" min:"1" help:"Entries of one group; unbounded when unset"`
	TimestampFields   []string       `yaml:"timestamp_fields" flag:"timestamp-field" help:"Field tried first for an event's time; repeatable"`
	TimestampFallback string         `yaml:"timestamp_fallback" flag:"timestamp-fallback" oneof:"wallclock skip" help:"An event without a time: take the clock's, or leave it out of correlations"`
}

// RequireTime reports whether events without a time of their own stay out of
// correlations.
func (c *Config) RequireTime() bool { return c.TimestampFallback == "skip" }

// Limits are the bounds of the state.
func (c *Config) Limits() correlation.Limits {
	return correlation.Limits{Groups: c.MaxStateEntries, Bytes: int(c.MaxStateBytes)}
}

// DefaultConfig returns the settings that apply when nothing is configured.
func DefaultConfig() Config {
	return Config{
		Action: "alert", EventMode: "none", MaxEvents: 10, MaxStateEntries: correlation.DefaultMaxGroups, MaxStateBytes: correlation.DefaultMaxBytes,
		TimestampFallback: "wallclock",
	}
}

// Validate reports a span and an event mode that nothing can read.
func (c Config) Validate(fault func(key string, err error)) {
	if c.Suppress != "" {
		if _, err := timespan.ParseSpan(c.Suppress); err != nil {
			fault("suppress", err)
		}
	}
	if _, err := correlation.ParseEventMode(c.EventMode); err != nil {
		fault("event_mode", err)
	}
}
