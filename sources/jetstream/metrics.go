package jetstream

import (
	"errors"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the series of all sources of this kind.
type Metrics struct {
	covered       atomic.Int64
	receiveErrors atomic.Int64
	ackFailures   atomic.Int64
}

// NewMetrics registers the series.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	m := new(Metrics)
	counter := func(name, help string, of *atomic.Int64) error {
		return reg.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(of.Load()) }))
	}
	return m, errors.Join(
		counter("nats_covered_redeliveries_total", "Redelivered messages that a restored save covers, acknowledged without evaluation.", &m.covered),
		counter("nats_receive_errors_total", "Attempts to receive from JetStream that failed: connection, stream or consumer were not there.", &m.receiveErrors),
		counter("nats_ack_failures_total", "Acknowledgements that JetStream did not confirm; their messages are delivered again.", &m.ackFailures),
	)
}
