package accept

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the series of all inputs that accept connections.
type Metrics struct {
	open    *prometheus.GaugeVec
	refused *prometheus.CounterVec
}

// Counters are those of one input.
type Counters struct {
	open    prometheus.Gauge
	refused prometheus.Counter
}

// NewMetrics registers the series, or finds those of an input that is there already.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{}
	var openErr, refusedErr error
	m.open, openErr = Shared(reg, prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "input_connections", Help: "Connections that send events, by input.",
	}, []string{"input"}))
	m.refused, refusedErr = Shared(reg, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "input_connections_refused_total", Help: "Connections closed at once because an input had as many as it may have.",
	}, []string{"input"}))
	return m, errors.Join(openErr, refusedErr)
}

// Of returns the counters of an input, at zero.
func (m *Metrics) Of(input string) *Counters {
	return &Counters{m.open.WithLabelValues(input), m.refused.WithLabelValues(input)}
}

// Shared registers c, or returns what is registered already under its names.
func Shared[C prometheus.Collector](reg prometheus.Registerer, c C) (C, error) {
	err := reg.Register(c)
	var known prometheus.AlreadyRegisteredError
	if errors.As(err, &known) {
		if there, ok := known.ExistingCollector.(C); ok {
			return there, nil
		}
	}
	return c, err
}
