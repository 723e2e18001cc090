package parse

import (
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/sigma/timespan"
)

// Sources are the inputs of a daemon.
type Sources []string

// Plain is a single source as text, and several as a list: as files write them.
func (s Sources) Plain() any {
	if len(s) == 1 {
		return s[0]
	}
	return []string(s)
}

// Config says where events come from and how a line becomes an event. The sections
// of inputs stand in the rooms of the inputs.
type Config struct {
	Sources             Sources `yaml:"source" flag:"input" mode:"one" help:"Where events come from: stdin, http, nats://host:port/subject, kafka://broker1,broker2/topic, unix:///path or syslog+udp://host:port (or +tcp, +tls); repeatable, each with its own ?format=NAME"`
	Format              string  `yaml:"format" flag:"input-format" oneof:"auto json syslog plain logfmt cef" help:"Form of a line"`
	format.SyslogConfig `yaml:",inline"`
	BufferSize          int            `yaml:"buffer_size" flag:"buffer-size" min:"1" max:"1000000" help:"Capacity of a mailbox, in units"`
	BufferBytes         timespan.Bytes `yaml:"buffer_bytes" flag:"buffer-bytes" min:"1048576" help:"Bound of each queue, in bytes; integer or with KiB, MiB, GiB; at least 1 MiB. Lanes between stages have an eighth"`
	BatchSize           int            `yaml:"batch_size" flag:"batch-size" min:"1" help:"Lines of a batch; at most what the mailbox of parse holds"`
	format.FilterConfig `yaml:",inline"`
}

// DefaultConfig returns the settings that apply when nothing is configured.
func DefaultConfig() Config {
	return Config{
		Sources: Sources{"stdin"}, Format: "auto", SyslogConfig: format.DefaultSyslog(),
		BufferSize: 10_000, BufferBytes: 64 * timespan.MiB, BatchSize: 128,
	}
}
