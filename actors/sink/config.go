package sink

import (
	"fmt"
	"slices"
)

// Config says where results go and how deliveries are made.
type Config struct {
	Sinks         []string `yaml:"sinks" flag:"output" help:"Sink: stdout, file:///path, unix:///path, nats://host:port/subject, kafka://broker1,broker2/topic or otlp://host:port; repeatable"`
	Webhooks      []string `yaml:"webhooks" flag:"webhook" help:"File or directory of webhooks; repeatable"`
	DLQ           string   `yaml:"dlq" flag:"dlq" help:"Sink for what could not be processed"`
	IncludeEvent  bool     `yaml:"include_event" flag:"include-event" help:"Put the event into each result"`
	Pretty        bool     `yaml:"pretty" flag:"pretty" help:"Indented JSON on stdout"`
	ResultTime    bool     `yaml:"result_time" flag:"result-time" help:"Put the event's time into each result"`
	DrainTimeout  int      `yaml:"drain_timeout" flag:"drain-timeout" min:"0" max:"1000000000" help:"Seconds to deliver what is under way at shutdown"`
	RetryMax      int      `yaml:"retry_max" flag:"sink-retry-max" min:"0" help:"Attempts after the first"`
	BackoffBaseMS int      `yaml:"backoff_base_ms" flag:"sink-backoff-base-ms" min:"0" max:"1000000000000" help:"First wait before a retry, in milliseconds"`
	BackoffMaxMS  int      `yaml:"backoff_max_ms" flag:"sink-backoff-max-ms" min:"0" max:"1000000000000" help:"Longest wait before a retry, in milliseconds"`
	BatchMax      int      `yaml:"batch_max" flag:"sink-batch-max" min:"1" help:"Results of a delivery"`
	BatchFlushMS  int      `yaml:"batch_flush_ms" flag:"sink-batch-flush-ms" min:"0" max:"1000000000000" help:"Longest wait for a full delivery, in milliseconds"`
}

// DefaultConfig returns the settings that apply when nothing is configured.
func DefaultConfig() Config {
	return Config{
		Sinks: []string{"stdout"}, DrainTimeout: 5, RetryMax: 3, BackoffBaseMS: 100, BackoffMaxMS: 5000, BatchMax: 64, BatchFlushMS: 50,
	}
}

// Specs reads the sinks of results, standard output when none is configured. What
// nothing can write to is left out and reported by its number.
func (c Config) Specs(fault func(number int, err error)) []Spec {
	texts := c.Sinks
	if len(texts) == 0 {
		texts = DefaultConfig().Sinks
	}
	var specs []Spec
	for i, text := range texts {
		s, _, err := ParseSpec(text, RoleFindings)
		if err != nil {
			fault(i, err)
			continue
		}
		specs = append(specs, s)
	}
	return specs
}

// NeedsTime reports whether a sink shows the time of events whether or not results
// carry it.
func (c Config) NeedsTime() bool {
	return slices.ContainsFunc(c.Specs(func(int, error) {}), func(s Spec) bool { return s.Format == FormatOCSF })
}

// Validate reports sinks that nothing can write to and two that write to one file.
func (c Config) Validate(fault func(key string, err error)) {
	specs := c.Specs(func(number int, err error) { fault(fmt.Sprintf("sinks[%d]", number), err) })
	if c.DLQ != "" {
		s, _, err := ParseSpec(c.DLQ, RoleDLQ)
		if err != nil {
			fault("dlq", err)
		} else {
			specs = append(specs, s)
		}
	}
	if err := Distinct(specs); err != nil {
		fault("sinks", err)
	}
}
