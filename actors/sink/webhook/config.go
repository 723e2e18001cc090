package webhook

import (
	"time"

	"github.com/sluicehq/sluice/graph/scope"
	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/internal/egress"
	"github.com/sluicehq/sluice/internal/signing"
	"github.com/sluicehq/sluice/sigma/timespan"
)

// Config is one entry of a file of webhooks.
type Config struct {
	ID        string            `yaml:"id"`
	Kind      string            `yaml:"kind"`
	URL       string            `yaml:"url"`
	Method    string            `yaml:"method"`
	Headers   *document.Node    `yaml:"headers"` // names to templates; their order is kept
	Body      *string           `yaml:"body"`    // nil for requests without a body
	Timeout   timespan.Duration `yaml:"timeout"`
	Retry     RetryConfig       `yaml:"retry"`
	RateLimit *RateConfig       `yaml:"rate_limit"`
	Scope     scope.Config      `yaml:"scope"`
	QueueSize int               `yaml:"queue_size"`
	TLS       egress.TLS        `yaml:"tls"`
	Signing   *signing.Config   `yaml:"signing"`
}

// RetryConfig says how often and how patiently a webhook tries.
type RetryConfig struct {
	Attempts   int               `yaml:"attempts"` // the first included
	Backoff    timespan.Duration `yaml:"backoff"`
	MaxBackoff timespan.Duration `yaml:"max_backoff"`
}

// RateConfig bounds the attempts of a webhook. Both keys are required.
type RateConfig struct {
	Requests *int               `yaml:"requests"`
	Per      *timespan.Duration `yaml:"per"`
}

// DefaultConfig returns the settings of a webhook that states none.
func DefaultConfig() Config {
	return Config{
		Method: "POST", Timeout: timespan.Duration(10 * time.Second), QueueSize: 1024,
		Retry: RetryConfig{Attempts: 3, Backoff: timespan.Duration(time.Second), MaxBackoff: timespan.Duration(30 * time.Second)},
	}
}

// maxQueue is the largest queue.
const maxQueue = 1_000_000
