package parse

import (
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/sigma/timespan"
)

// Config says where events come from and how a line becomes an event.
type Config struct {
	Source              string `yaml:"source" flag:"input" help:"Where events come from: stdin, http, nats://host:port/subject, unix:///path"`
	Format              string `yaml:"format" flag:"input-format" oneof:"auto json syslog plain logfmt cef" help:"Form of a line"`
	format.SyslogConfig `yaml:",inline"`
	BufferSize          int            `yaml:"buffer_size" flag:"buffer-size" min:"1" max:"1000000" help:"Capacity of a mailbox, in units"`
	BufferBytes         timespan.Bytes `yaml:"buffer_bytes" flag:"buffer-bytes" min:"1048576" help:"Bound of each queue, in bytes; integer or with KiB, MiB, GiB; at least 1 MiB. Lanes between stages have an eighth"`
	BatchSize           int            `yaml:"batch_size" flag:"batch-size" min:"1" help:"Lines of a batch; at most what the mailbox of parse holds"`
	HTTP                HTTP           `yaml:"http"`
	Unix                Unix           `yaml:"unix"`
	format.FilterConfig `yaml:",inline"`
}

// HTTP bounds what arrives over HTTP.
type HTTP struct {
	MaxBodyBytes timespan.Bytes `yaml:"max_body_bytes" min:"1048576" help:"Largest inflated body; at least 1 MiB"`
}

// Unix bounds what arrives over a unix socket.
type Unix struct {
	MaxConnections int `yaml:"max_connections" min:"1" help:"Connections to the unix socket"`
}

// DefaultConfig returns the settings that apply when nothing is configured.
func DefaultConfig() Config {
	return Config{
		Source: "stdin", Format: "auto", SyslogConfig: format.DefaultSyslog(),
		BufferSize: 10_000, BufferBytes: 64 * timespan.MiB, BatchSize: 128,
		HTTP: HTTP{MaxBodyBytes: 20 * timespan.MiB}, Unix: Unix{MaxConnections: 1024},
	}
}
