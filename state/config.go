package state

import "errors"

// Config says what survives a restart, and where.
type Config struct {
	DB           string `yaml:"db" flag:"state-db" help:"Directory of the state database"`
	SaveInterval int    `yaml:"save_interval" flag:"state-save-interval" min:"1" max:"1000000000" help:"Seconds between saves"`
	Clear        bool   `yaml:"-" flag:"clear-state" help:"Restore nothing"`
	Keep         bool   `yaml:"-" flag:"keep-state" help:"Restore everything, whatever is replayed"`
}

// DefaultConfig returns the settings that apply when nothing is configured.
func DefaultConfig() Config { return Config{SaveInterval: 30} }

// Validate reports wishes that exclude each other.
func (c Config) Validate(fault func(key string, err error)) {
	if c.Clear && c.Keep {
		fault("--clear-state", errors.New("excludes --keep-state"))
	}
}
