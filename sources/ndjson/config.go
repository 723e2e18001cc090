package ndjson

import "github.com/sluicehq/sluice/sigma/timespan"

// Config bounds what arrives over HTTP.
type Config struct {
	MaxBodyBytes timespan.Bytes `yaml:"max_body_bytes" min:"1048576" help:"Largest inflated body; at least 1 MiB"`
}

// DefaultConfig returns the settings that apply when nothing is configured.
func DefaultConfig() Config { return Config{MaxBodyBytes: DefaultMaxBody} }
