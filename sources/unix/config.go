package unix

// Config bounds what arrives over a unix socket.
type Config struct {
	MaxConnections int `yaml:"max_connections" min:"1" help:"Connections to a unix socket at once"`
}

// DefaultConfig returns the settings that apply when nothing is configured.
func DefaultConfig() Config { return Config{MaxConnections: 1024} }
