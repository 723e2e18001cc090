package actors

// Config bounds how often an actor may be restarted.
type Config struct {
	MaxRestarts   int `yaml:"max_restarts" min:"0" help:"Restarts of one actor before the daemon gives up"`
	RestartWindow int `yaml:"restart_window" min:"1" max:"1000000000" help:"Seconds in which they are counted"`
}

// DefaultConfig returns the settings that apply when nothing is configured.
func DefaultConfig() Config { return Config{MaxRestarts: 10, RestartWindow: 60} }
