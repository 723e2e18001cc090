package natsconn

import (
	"errors"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// InputMetrics are the series of all inputs that read from streams. Builds without the
// client library have them, too.
type InputMetrics struct {
	Covered       atomic.Int64
	ReceiveErrors atomic.Int64
	AckFailures   atomic.Int64
}

// NewInputMetrics registers the series.
func NewInputMetrics(reg prometheus.Registerer) (*InputMetrics, error) {
	m := new(InputMetrics)
	counter := func(name, help string, of *atomic.Int64) error {
		return reg.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(of.Load()) }))
	}
	return m, errors.Join(
		counter("nats_covered_redeliveries_total", "Redelivered messages that a restored save covers, acknowledged without evaluation.", &m.Covered),
		counter("nats_receive_errors_total", "Attempts to receive from JetStream that failed: connection, stream or consumer were not there.", &m.ReceiveErrors),
		counter("nats_ack_failures_total", "Acknowledgements that JetStream did not confirm; their messages are delivered again.", &m.AckFailures),
	)
}
