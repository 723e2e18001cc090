package egress

// Config is the part of daemon.engine that is about outbound requests. It is fixed at
// startup.
type Config struct {
	EgressPolicy string `yaml:"egress_policy" flag:"egress-policy" oneof:"default strict permissive" help:"Addresses that requests of webhooks and sources may reach"`
}

// DefaultConfig returns the settings that apply when nothing is configured.
func DefaultConfig() Config { return Config{EgressPolicy: string(Default)} }

// Validate reports an unknown policy.
func (c Config) Validate() error {
	_, err := ParsePolicy(c.EgressPolicy)
	return err
}

// Policy is the configured policy.
func (c Config) Policy() Policy { return Policy(c.EgressPolicy) }
