package audit

import (
	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/sigma/timespan"
)

// Config is the section daemon.api.audit.
type Config struct {
	Enabled      *bool             `yaml:"enabled" help:"Keep a record of changes; on by default with a state database"` // nil: on when there is a state database
	MaxEntries   int               `yaml:"max_entries" min:"0" help:"Newest entries kept"`
	MaxAge       timespan.Duration `yaml:"max_age" help:"Age at which entries are dropped"`
	MaxBodyBytes timespan.Bytes    `yaml:"max_body_bytes" min:"0" help:"Largest body of an audited route"`
	Sink         string            `yaml:"sink" help:"Sink that gets every audit record"`
}

// DefaultConfig returns the settings that apply when nothing is configured.
func DefaultConfig() Config {
	return Config{MaxEntries: 10_000, MaxAge: 30 * timespan.Day, MaxBodyBytes: 64 * timespan.KiB}
}

// On reports whether changes are recorded, by a daemon with or without a state database.
func (c Config) On(database bool) bool { return database && (c.Enabled == nil || *c.Enabled) }

// Spec reads the spec of the sink: nil when none is configured. Warnings are about
// parameters that are ignored.
func (c Config) Spec() (spec *sink.Spec, warnings []string, err error) {
	if c.Sink == "" {
		return nil, nil, nil
	}
	s, warnings, err := sink.ParseSpec(c.Sink, sink.RoleAudit)
	if err != nil {
		return nil, nil, err
	}
	return &s, warnings, nil
}

// Validate reports a sink that nothing can write to.
func (c Config) Validate(fault func(key string, err error)) {
	if _, _, err := c.Spec(); err != nil {
		fault("sink", err)
	}
}
